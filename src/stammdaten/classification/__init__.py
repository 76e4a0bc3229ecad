"""The classification record of a product: tariff number, status, validity."""
