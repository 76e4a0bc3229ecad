"""Measures the exchange of files: what an import costs, and what readers of the interface notice of it."""
