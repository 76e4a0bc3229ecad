"""stammdaten: product master data and compliance contacts for foreign trade."""
