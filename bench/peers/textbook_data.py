"""Fills the textbook's tables with the measured data, by COPY; knows nothing of the textbook's service."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import asyncpg
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from bench.data import article_number, product
from bench.peers.textbook_tables import Action, Base, Product, ProductData

_DIALECT: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped
_STARTED = datetime(2026, 1, 1)  # noqa: DTZ001 - naive, as the textbook keeps it
_PRODUCT = (
    "id",
    "article_number",
    "list_id",
    "user_id",
    "user_name",
    "files",
    "is_unlisted",
    "is_deleted",
    "is_archived",
    "inserted_at",
    "updated_at",
)
_DATA = tuple(column.name for column in ProductData.__table__.columns)
_ACTION = ("id", "product_id", "user_id", "category", "changes", "at")


def fill(url: str, *, rows: int) -> None:
    """Create the tables, fill them, and tell the sequences where to go on."""
    asyncio.run(_fill(url, rows))


def stamp(n: int) -> datetime:
    """Return when the n-th product was last changed: a second apart, so that no two are alike."""
    return _STARTED + timedelta(seconds=n)


async def _fill(url: str, rows: int) -> None:
    connection = await asyncpg.connect(url)
    try:
        for table in Base.metadata.sorted_tables:
            await connection.execute(str(CreateTable(table).compile(dialect=_DIALECT)))
        products = [
            (
                n,
                article_number(n),
                1,
                1,
                1,
                "[]",
                False,
                False,
                False,
                stamp(n),
                stamp(n),
            )
            for n in range(1, rows + 1)
        ]
        entries = [_entry(n) for n in range(1, rows + 1)]
        actions = [(n, n, 1, "created", "{}", stamp(n)) for n in range(1, rows + 1)]
        copies: list[tuple[type[Base], list[Any], tuple[str, ...]]] = [
            (Product, products, _PRODUCT),
            (ProductData, entries, _DATA),
            (Action, actions, _ACTION),
        ]
        for mapped, records, columns in copies:
            name = mapped.__tablename__
            await connection.copy_records_to_table(name, records=records, columns=columns)
            await connection.execute(f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), {rows})")
        for table in Base.metadata.sorted_tables:
            for index in table.indexes:
                await connection.execute(str(CreateIndex(index).compile(dialect=_DIALECT)))
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()


def _entry(n: int) -> tuple[object, ...]:
    given = {"id": n, "product_id": n, "eccn_comment": "", "status": "", **product(n)}
    return tuple(given[name] for name in _DATA)
