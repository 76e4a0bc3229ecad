"""All tables in one place, for migrations and for the test that compares the two."""

from stammdaten.auth import tables as auth
from stammdaten.classification import tables as classification
from stammdaten.contacts import tables as contacts
from stammdaten.exchange import tables as exchange
from stammdaten.history import tables as history
from stammdaten.jobs import tables as jobs
from stammdaten.lists import tables as lists
from stammdaten.products import tables as products
from stammdaten.screening import tables as screening
from stammdaten.store.tables import metadata

__all__ = [
    "auth",
    "classification",
    "contacts",
    "exchange",
    "history",
    "jobs",
    "lists",
    "metadata",
    "products",
    "screening",
]
