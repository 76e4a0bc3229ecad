"""The two doors to the data: `Read` and `Write`; knows neither engine nor table but the clock's.

A function that takes a `Read` cannot write: `Write` has the methods for that, and mypy tells them apart.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import Table, select, update

from stammdaten.clock import german_stamp, tick, utc_stamp
from stammdaten.store.statements import Statement, number, text, the_instance
from stammdaten.store.tables import clocks

# A row of either driver: unpacked and indexed by position.
Row = Sequence[Any]


class Conflict(Exception):  # noqa: N818 - an answer of the database, not an error
    """A unique index refused a row."""


class NoSuchTable(Exception):  # noqa: N818 - an answer of the database, not an error
    """The schema was not created yet."""


class Connection(Protocol):
    """What an engine gives for one transaction, or for one read outside any."""

    async def fetch(self, statement: Statement, values: dict[str, Any]) -> list[Row]:
        """Run a statement and return its rows."""

    async def insert(self, table: Table, instance_id: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows of one instance: their values without `instance_id`, in the table's order.

        :raises Conflict: if a unique index refuses one.
        """

    async def update(self, table: Table, instance_id: int, rows: Iterable[tuple[Any, ...]]) -> None:
        """Overwrite rows of one instance, found by `id`: the same values in the same order as for `insert`."""

    async def lock_clock(self, instance_id: int) -> tuple[Row, datetime] | None:
        """Wait for the instance's clock row and lock it; return it with the wall clock, or None if there is none."""


class Read:
    """Read what belongs to one instance; with `instance_id` 0, which no instance has, what all share."""

    def __init__(self, connection: Connection, instance_id: int) -> None:
        self._connection = connection
        self.instance_id = instance_id

    async def rows(self, statement: Statement, **values: object) -> list[Row]:
        """Return all rows of a statement, filtered to this instance."""
        values["instance_id"] = self.instance_id
        return await self._connection.fetch(statement, values)

    async def row(self, statement: Statement, **values: object) -> Row | None:
        """Return the first row, or None."""
        rows = await self.rows(statement, **values)
        return rows[0] if rows else None


class WriteShared(Read):
    """Change what no instance owns: accounts, users, tokens, jobs, official lists; one transaction, no clock."""

    async def run(self, statement: Statement, **values: object) -> list[Row]:
        """Run a statement that changes rows; return what it returns.

        :raises Conflict: if a unique index refuses a row.
        """
        return await self.rows(statement, **values)

    async def insert(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert rows given as values in the table's order, without `instance_id`; none is nothing to do.

        :raises Conflict: if a unique index refuses one.
        """
        if rows:
            await self._connection.insert(table, self.instance_id, rows)


class Write(WriteShared):
    """Change what belongs to one instance, in one transaction, after its clock row was locked.

    Stamps and ids are in commit order because of that lock (see `tables.clocks`).
    """

    def __init__(self, connection: Connection, instance_id: int, clock: Row, wall: datetime) -> None:
        super().__init__(connection, instance_id)
        self.now = wall
        self.now_utc = utc_stamp(wall)
        self._german = german_stamp(wall)
        self.last_product_stamp: str = clock[0]
        self._contact_stamp: str = clock[1]
        self._last_id, self._contacts, self._archived = clock[2:]
        self._clock = tuple(clock)

    def product_stamp(self) -> str:
        """Take the next stamp of products and lists: naive German time, later than every earlier one."""
        self.last_product_stamp = tick(self.last_product_stamp, self._german)
        return self.last_product_stamp

    def contact_stamp(self) -> str:
        """Take the next stamp of contacts: UTC, later than every earlier one."""
        self._contact_stamp = tick(self._contact_stamp, self.now_utc)
        return self._contact_stamp

    def next_id(self) -> int:
        """Take the next id of the instance."""
        self._last_id += 1
        return int(self._last_id)

    def count_contacts(self, *, current: int, archived: int) -> None:
        """Add to the totals of current and archived contacts."""
        self._contacts += current
        self._archived += archived

    async def update(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Overwrite rows, found by `id`: values in the table's order, without `instance_id`."""
        if rows:
            await self._connection.update(table, self.instance_id, rows)

    async def keep_clock(self) -> None:
        """Write the clock back, if anything was taken from it; the store calls this before it commits."""
        clock = (self.last_product_stamp, self._contact_stamp, self._last_id, self._contacts, self._archived)
        if clock != self._clock:
            names = ("product_stamp", "contact_stamp", "last_id", "contacts", "archived_contacts")
            await self.run(_KEEP_CLOCK, **{f"new_{name}": value for name, value in zip(names, clock, strict=True)})


CLOCK_COLUMNS = (
    clocks.c.product_stamp,
    clocks.c.contact_stamp,
    clocks.c.last_id,
    clocks.c.contacts,
    clocks.c.archived_contacts,
)
READ_CLOCK = Statement(select(*CLOCK_COLUMNS).where(the_instance(clocks)))
_KEEP_CLOCK = Statement(
    update(clocks)
    .where(the_instance(clocks))
    .values(
        product_stamp=text("new_product_stamp"),
        contact_stamp=text("new_contact_stamp"),
        last_id=number("new_last_id"),
        contacts=number("new_contacts"),
        archived_contacts=number("new_archived_contacts"),
    )
)
