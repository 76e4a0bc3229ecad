"""What happened, to whom, by whom: actions on products and history records of contacts."""
