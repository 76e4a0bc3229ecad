"""Products: article master data, its changes, and how they are read."""
