"""The demo account: invented goods and partners, made through the same operations as the interface's."""
