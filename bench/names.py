"""What the measured things are called, in the tables and in the targets."""

TEXTBOOK = "textbook, PostgreSQL"
ON_POSTGRES = "stammdaten, PostgreSQL"
ON_SQLITE = "stammdaten, SQLite"
ONE_COMMIT = "stammdaten, SQLite, one commit a request"
FLOOR_POSTGRES = "floor: the statement, PostgreSQL"
FLOOR_SQLITE = "floor: the statement, SQLite"
FLOOR_HTTP = "floor: a constant answer"

PAGE, FIND, UPDATE, GROWTH, PAGING, FOOTPRINT = (
    "page",
    "find",
    "update",
    "growth",
    "paging",
    "footprint",
)
PARTS = (PAGE, FIND, UPDATE, GROWTH, PAGING, FOOTPRINT)


def at_size(name: str, rows: int) -> str:
    """Name a variant of the growth test."""
    return f"{name}, {rows:,} products"
