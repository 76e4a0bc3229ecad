"""The very statements that the service runs: its queries, run on a connection that only writes them down."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from stammdaten.products.queries import (
    ProductFilter,
    Standing,
    product_by_article_number,
    updated_products,
)
from stammdaten.store import Read, Row, Statement

# Stands where the random value goes.
WANTED = "\N{WHITE SQUARE}"


@dataclass(frozen=True)
class Asked:
    """A statement as one engine gets it, and its arguments; the one to vary is WANTED."""

    sql: str
    arguments: tuple[Any, ...]

    def with_wanted(self, value: str) -> list[Any]:
        """Return the arguments with a value in the place of WANTED."""
        return [value if argument == WANTED else argument for argument in self.arguments]


class _Recording:
    """A connection for reading that writes down what it is asked."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self.asked: list[Asked] = []

    async def fetch(self, statement: Statement, values: dict[str, Any]) -> list[Row]:
        compiled = statement.compiled(self._engine)
        self.asked.append(Asked(compiled.sql, tuple(compiled.arguments(values))))
        return []


def page_statement(engine: str, *, instance_id: int) -> Asked:
    """Return the statement of GET products, first page after a timestamp."""
    wanted = ProductFilter(timestamp=WANTED, standing=Standing.LIVE, list_id=None, page=1)
    return _recorded(engine, instance_id, lambda read: updated_products(read, wanted))


def find_statement(engine: str, *, instance_id: int) -> Asked:
    """Return the statement of POST products/find."""
    return _recorded(
        engine,
        instance_id,
        lambda read: product_by_article_number(read, WANTED, deleted=False),
    )


def _recorded(engine: str, instance_id: int, query: Callable[[Read], Awaitable[Any]]) -> Asked:
    connection = _Recording(engine)

    async def run() -> None:
        await query(Read(connection, instance_id))  # type: ignore[arg-type]  # only what a query uses of it

    asyncio.run(run())
    (asked,) = connection.asked
    return asked
