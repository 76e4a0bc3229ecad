"""The store: SQLite or PostgreSQL behind two doors, reading and writing; rooms above know neither engine."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from stammdaten.clock import is_ahead
from stammdaten.settings import Settings
from stammdaten.store.batches import LARGEST_BATCH, Batches, Operation
from stammdaten.store.doors import Conflict, Connection, Read, Row, Write, WriteShared
from stammdaten.store.measuring import ClockWatch
from stammdaten.store.postgresql import PostgresEngine
from stammdaten.store.sqlite import SqliteEngine, database_file, prepare_home
from stammdaten.store.statements import Statement, any_of, flag, number, text, the_instance

__all__ = [
    "SHARED",
    "Conflict",
    "Read",
    "Row",
    "Statement",
    "Store",
    "Write",
    "WriteShared",
    "any_of",
    "flag",
    "number",
    "open_store",
    "text",
    "the_instance",
]

T = TypeVar("T")
# No instance has this id: a statement on an instance's table finds through a shared door only what is kept under it.
SHARED = 0


class Engine(Protocol):
    """What SQLite and PostgreSQL have in common."""

    name: str

    async def take(self, *, slow: bool) -> Connection:
        """Lend a connection for reading."""

    async def give_back(self, connection: Connection) -> None:
        """Take it back."""

    async def transact(self, work: Callable[[Connection], Any]) -> Any:
        """Run work in one transaction."""

    async def close(self) -> None:
        """Let go of the database."""


class _Reading:
    """An open reading door: `async with store.reading(instance_id) as read`."""

    __slots__ = ("_connection", "_engine", "_instance_id", "_slow")

    def __init__(self, engine: Engine, instance_id: int, *, slow: bool) -> None:
        self._engine = engine
        self._instance_id = instance_id
        self._slow = slow

    async def __aenter__(self) -> Read:
        self._connection = await self._engine.take(slow=self._slow)
        return Read(self._connection, self._instance_id)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._engine.give_back(self._connection)


class Store:
    """The doors to one database."""

    def __init__(self, engine: Engine, *, largest_batch: int = LARGEST_BATCH) -> None:
        self.engine = engine
        self._clock_watch = ClockWatch()
        self._batches = Batches(self.writing, largest_batch)

    def reading(self, instance_id: int, *, slow: bool = False) -> _Reading:
        """Open the reading door of an instance; `slow` for searches, counts and deep pages.

        :raises Unavailable: if the database is away.
        """
        return _Reading(self.engine, instance_id, slow=slow)

    def reading_shared(self) -> _Reading:
        """Open the reading door to what all instances share."""
        return _Reading(self.engine, SHARED, slow=False)

    async def submit(self, instance_id: int, operation: Operation, row: Any) -> Any:
        """Apply an operation to one row, in a transaction shared with whatever else arrives; return its outcome.

        :raises Refusal: if the operation refuses the row, or the database is away.
        """
        return await self._batches.submit(instance_id, operation, row)

    async def writing(self, instance_id: int, work: Callable[[Write], Awaitable[T]]) -> T:
        """Run work in a transaction of its own, after the instance's clock row was locked; commit when it returns.

        :raises LookupError: if there is no such instance.
        """

        async def locked(connection: Connection) -> T:
            # The lock comes first, in a statement of its own: together with a read, PostgreSQL would show
            # the rows as they were before the wait, and an update between them would be lost.
            found = await connection.lock_clock(instance_id)
            if found is None:
                raise LookupError(instance_id)
            clock, wall = found
            write = Write(connection, instance_id, clock, wall)
            if is_ahead(write.last_product_stamp, wall):
                self._clock_watch.warn(instance_id, write.last_product_stamp)
            outcome = await work(write)
            await write.keep_clock()
            return outcome

        result: T = await self.engine.transact(locked)
        return result

    async def writing_shared(self, work: Callable[[WriteShared], Awaitable[T]]) -> T:
        """Run work on what all instances share, in a transaction of its own."""

        async def run(connection: Connection) -> T:
            return await work(WriteShared(connection, SHARED))

        result: T = await self.engine.transact(run)
        return result

    async def close(self) -> None:
        """Finish what was submitted and let go of the database."""
        await self._batches.finish()
        await self.engine.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_store(settings: Settings) -> Store:
    """Open the database that the settings name.

    :raises Unavailable: if it cannot be reached.
    """
    if settings.database_url is not None:
        return Store(await PostgresEngine.open(settings.database_url))
    prepare_home(settings.home)
    return Store(SqliteEngine(database_file(settings.home)))
