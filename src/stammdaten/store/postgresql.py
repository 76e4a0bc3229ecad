"""The server engine: PostgreSQL 15 and later through asyncpg, with connections for each door."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from time import perf_counter
from typing import Any, TypeVar, cast

import asyncpg
from prometheus_client import Histogram
from sqlalchemy import DateTime, Table, func, select

from stammdaten.refusals import OutcomeUnknown, Unavailable
from stammdaten.settings import SettingsError
from stammdaten.store.doors import CLOCK_COLUMNS, Conflict, Connection, NoSuchTable, Row
from stammdaten.store.measuring import READ_SECONDS, WRITE_SECONDS
from stammdaten.store.statements import Statement, insert_sql, the_instance, update_sql
from stammdaten.store.tables import clocks

T = TypeVar("T")

# Eight: with sixteen, reads cost a fifth more on two cores and were no faster.
_READERS = 8
# A batch holds one instance's lock; four instances can commit at once, each with many requests in its batch.
_WRITERS = 4
_CONNECT_SECONDS = 5
_STATEMENT_SECONDS = 20
# From so many rows on, COPY costs less than arrays, half of it in the driver.
_COPIED_FROM = 30
_SERVER_SETTINGS = {
    "application_name": "stammdaten",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "15s",
    "statement_timeout": f"{_STATEMENT_SECONDS}s",
    # Compiling a plan, or starting workers for it, costs more than any of our statements takes.
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}
# Classes of SQLSTATE that time or the operator mends: connection, transaction order, resources, intervention, system.
_AWAY_CLASSES = {"08", "40", "53", "57", "58"}
_AWAY_STATES = {"55P03", "25P03", "25006"}
_AWAY_TEXT = "The database is not available at the moment; please try again."

# The wall clock is the database's, so that workers on several machines agree; read when the lock is held.
_LOCK_CLOCK = Statement(
    select(*CLOCK_COLUMNS, func.clock_timestamp(type_=DateTime(timezone=True)))
    .where(the_instance(clocks))
    .with_for_update()
)


class PostgresConnection(Connection):
    """One connection, inside a transaction or outside any."""

    def __init__(self, raw: Any, seconds: Histogram) -> None:
        self.raw = raw
        self._seconds = seconds

    async def fetch(self, statement: Statement, values: dict[str, Any]) -> list[Row]:
        compiled = statement.compiled("postgresql")
        return await self._fetch(compiled.sql, compiled.arguments(values))

    async def insert(self, table: Table, instance_id: int, rows: Sequence[tuple[Any, ...]]) -> None:
        if len(rows) < _COPIED_FROM:
            await self._fetch(insert_sql(table, "postgresql"), [instance_id, *zip(*rows, strict=True)])
            return
        records = ((instance_id, *row) for row in rows)
        columns = table.columns.keys()
        await self._ask(lambda: self.raw.copy_records_to_table(table.name, records=records, columns=columns))

    async def update(self, table: Table, instance_id: int, rows: Iterable[tuple[Any, ...]]) -> None:
        await self._fetch(update_sql(table, "postgresql"), [instance_id, *zip(*rows, strict=True)])

    async def lock_clock(self, instance_id: int) -> tuple[Row, datetime] | None:
        rows = await self.fetch(_LOCK_CLOCK, {"instance_id": instance_id})
        return (tuple(rows[0])[:-1], rows[0][-1]) if rows else None

    async def _fetch(self, sql: str, arguments: list[Any]) -> list[Row]:
        return cast("list[Row]", await self._ask(lambda: self.raw.fetch(sql, *arguments)))

    async def _ask(self, question: Callable[[], Awaitable[Any]]) -> Any:
        started = perf_counter()
        try:
            return await question()
        except Exception as error:
            raise translated(error, self.raw) from error
        finally:
            self._seconds.observe(perf_counter() - started)


class _Connections:
    """Connections to lend, at most so many; one that broke is replaced when it is next wanted.

    Not asyncpg's pool: that wraps each loan and return in a task and a time-out, which cost a find more than all the
    rest of it together.
    """

    def __init__(self, url: str, most: int) -> None:
        self._url = url
        self._free = asyncio.Semaphore(most)
        self._idle: list[Any] = []

    async def take(self) -> Any:
        """Lend a connection.

        :raises Unavailable: if none comes free or can be opened within 5 seconds.
        """
        if self._free.locked():
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await self._free.acquire()
            except TimeoutError as error:
                raise translated(error) from error
        else:
            await self._free.acquire()
        while self._idle:
            raw = self._idle.pop()
            if not raw.is_closed():
                return raw
        try:
            return await asyncpg.connect(
                self._url,
                timeout=_CONNECT_SECONDS,
                command_timeout=_STATEMENT_SECONDS,
                server_settings=_SERVER_SETTINGS,
            )
        except BaseException as error:
            self._free.release()
            if isinstance(error, Exception):
                raise translated(error) from error
            raise

    def give_back(self, raw: Any) -> None:
        """Take a lent connection back; one that is broken, or still in a transaction, is dropped."""
        if not raw.is_closed():
            if raw.is_in_transaction():
                raw.terminate()
            else:
                self._idle.append(raw)
        self._free.release()

    def close(self) -> None:
        """Close what is idle, which is all by now."""
        while self._idle:
            self._idle.pop().terminate()


class PostgresEngine:
    """Connections to one server, some for each door."""

    name = "postgresql"

    def __init__(self, url: str) -> None:
        self._readers = _Connections(url, _READERS)
        self._writers = _Connections(url, _WRITERS)

    @classmethod
    async def open(cls, url: str) -> "PostgresEngine":
        """Connect to the server of a libpq URL.

        :raises Unavailable: if it cannot be reached.
        :raises SettingsError: if the URL cannot be read.
        """
        engine = cls(url)
        try:
            engine._readers.give_back(await engine._readers.take())
        except ValueError as error:
            # The text itself is not repeated: it may hold a password.
            raise SettingsError("STAMMDATEN_DATABASE_URL cannot be read as a libpq URL") from error
        return engine

    async def take(self, *, slow: bool) -> Connection:
        """Lend a connection for reading, which waits in no thread here: slow or not is all one."""
        del slow
        return PostgresConnection(await self._readers.take(), READ_SECONDS)

    async def give_back(self, connection: Connection) -> None:
        """Take a lent connection back."""
        self._readers.give_back(cast("PostgresConnection", connection).raw)

    async def transact(self, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in one transaction: committed when it returns, rolled back when it raises.

        :raises Unavailable: if the server is away, or another transaction holds the lock for 10 seconds.
        :raises OutcomeUnknown: if the connection was lost during the commit.
        """
        raw = await self._writers.take()
        try:
            return await _transact(raw, work)
        finally:
            self._writers.give_back(raw)

    async def close(self) -> None:
        """Close all connections, idle by now."""
        self._readers.close()
        self._writers.close()


async def _transact(raw: Any, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> T:
    try:
        await raw.execute("BEGIN")
    except Exception as error:
        raise translated(error, raw) from error
    try:
        result = await work(PostgresConnection(raw, WRITE_SECONDS))
    except BaseException:
        # What cannot be rolled back is a broken connection, which the server rolls back itself.
        with suppress(Exception):
            await raw.execute("ROLLBACK")
        raise
    try:
        await raw.execute("COMMIT")
    except Exception as error:
        raise OutcomeUnknown(
            "The database went away while it stored the change, which may or may not stand."
        ) from error
    return result


def translated(error: Exception, raw: Any = None) -> Exception:
    """Turn an error of the driver into what the rooms above know, or leave it as the mistake of ours that it is."""
    if raw is not None and isinstance(error, TimeoutError | asyncpg.InternalClientError):
        # The server may still be at it, or has just said goodbye: nobody else shall wait for that.
        raw.terminate()
    if isinstance(error, asyncpg.UniqueViolationError):
        return Conflict(str(error))
    if isinstance(error, asyncpg.UndefinedTableError):
        return NoSuchTable(str(error))
    if isinstance(error.__cause__, UnicodeEncodeError):
        return error.__cause__
    return Unavailable(_AWAY_TEXT) if _is_away(error, raw) else error


def _is_away(error: Exception, raw: Any) -> bool:
    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, OSError | TimeoutError) or state[:2] in _AWAY_CLASSES or state in _AWAY_STATES:
        return True
    # Without a connection the server refused us (password, database, certificate); with a closed one it left.
    lost = asyncpg.PostgresError | asyncpg.InterfaceError | asyncpg.InternalClientError
    return isinstance(error, lost) and (raw is None or raw.is_closed())
