"""The embedded engine: SQLite in one file, one writer thread, short reads in the event loop."""

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any, TypeVar, cast

from prometheus_client import Histogram
from sqlalchemy import Table

from stammdaten.clock import utc_now
from stammdaten.refusals import OutcomeUnknown, Unavailable
from stammdaten.store.doors import READ_CLOCK, Conflict, Connection, NoSuchTable, Row
from stammdaten.store.holding import hold
from stammdaten.store.measuring import READ_SECONDS, WRITE_SECONDS
from stammdaten.store.statements import Statement, insert_sql, update_sql
from stammdaten.threads import to_its_end

T = TypeVar("T")

_BUSY_SECONDS = 10
_RETRY_SECONDS = 0.001
_SLOW_READERS = 2
# What the operator or time can mend; any other error of SQLite is a mistake of ours and stays one.
_AWAY = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
}

# The drivers hand booleans out alike: SQLite keeps 0 and 1.
sqlite3.register_converter("BOOLEAN", lambda stored: stored != b"0")


def database_file(home: Path) -> Path:
    """Return where the embedded database lives."""
    return home / "stammdaten.sqlite3"


def prepare_home(home: Path) -> None:
    """Make the folder that the embedded database lives in.

    :raises Unavailable: if it cannot be made.
    """
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"STAMMDATEN_HOME cannot be used: {error}") from error


def connect(file: Path) -> sqlite3.Connection:
    """Open the database with the settings that every connection of the service needs.

    :raises Unavailable: if the file cannot be opened, or is no database.
    """
    try:
        return _connect(file)
    except sqlite3.Error as error:
        raise Unavailable(f"{file} cannot be opened: {error}") from error


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        file,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        detect_types=sqlite3.PARSE_DECLTYPES,
    )
    try:
        # busy_timeout first: switching to WAL needs the lock that another process may hold for a moment.
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA journal_mode = WAL")
        # FULL syncs the log at each commit: what was acknowledged survives a power cut.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -32768")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class SqliteConnection(Connection):
    """Async by name only: nothing in here waits, so that one thread can run a whole operation to its end."""

    def __init__(self, connection: sqlite3.Connection, seconds: Histogram = READ_SECONDS) -> None:
        self.raw = connection
        self._seconds = seconds

    async def fetch(self, statement: Statement, values: dict[str, Any]) -> list[Row]:
        compiled = statement.compiled("sqlite")
        arguments = [json.dumps(value) if isinstance(value, list) else value for value in compiled.arguments(values)]
        started = perf_counter()
        try:
            return cast("list[Row]", self.raw.execute(compiled.sql, arguments).fetchall())
        except sqlite3.Error as error:
            raise _translated(error) from error
        finally:
            self._seconds.observe(perf_counter() - started)

    async def insert(self, table: Table, instance_id: int, rows: Sequence[tuple[Any, ...]]) -> None:
        self._run_many(insert_sql(table, "sqlite"), instance_id, rows)

    async def update(self, table: Table, instance_id: int, rows: Iterable[tuple[Any, ...]]) -> None:
        self._run_many(update_sql(table, "sqlite"), instance_id, rows)

    async def lock_clock(self, instance_id: int) -> tuple[Row, datetime] | None:
        # BEGIN IMMEDIATE holds the lock already: SQLite has one writer at a time.
        rows = await self.fetch(READ_CLOCK, {"instance_id": instance_id})
        return (rows[0], utc_now()) if rows else None

    def _run_many(self, sql: str, instance_id: int, rows: Iterable[tuple[Any, ...]]) -> None:
        started = perf_counter()
        try:
            self.raw.executemany(sql, ((instance_id, *row) for row in rows))
        except sqlite3.Error as error:
            raise _translated(error) from error
        finally:
            self._seconds.observe(perf_counter() - started)


class _ThreadedConnection(SqliteConnection):
    """Reads in a thread, for what would hold up the event loop: searches, counts, deep pages."""

    def __init__(self, connection: sqlite3.Connection, threads: ThreadPoolExecutor) -> None:
        super().__init__(connection)
        self._threads = threads

    async def fetch(self, statement: Statement, values: dict[str, Any]) -> list[Row]:
        loop = asyncio.get_running_loop()
        # Whoever borrows the connection next must find no thread at work on it.
        return await to_its_end(loop.run_in_executor(self._threads, _run_to_end, super().fetch(statement, values)))


class SqliteEngine:
    """Connections to one file: one for short reads, one writer, a few for slow reads."""

    name = "sqlite"

    def __init__(self, file: Path) -> None:
        self._held = hold(file.parent)
        try:
            self._short = SqliteConnection(connect(file))
        except Unavailable:
            os.close(self._held)
            raise
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._writing = SqliteConnection(connect(file), WRITE_SECONDS)
        self._writing.raw.execute("PRAGMA busy_timeout = 0")  # `_begin` waits itself, and nothing else has to
        self._readers = ThreadPoolExecutor(_SLOW_READERS, thread_name_prefix="reader")
        self._idle: asyncio.Queue[Connection] = asyncio.Queue()
        self._opened = [self._short, self._writing]
        for _ in range(_SLOW_READERS):
            connection = _ThreadedConnection(connect(file), self._readers)
            self._opened.append(connection)
            self._idle.put_nowait(connection)

    async def take(self, *, slow: bool) -> Connection:
        """Lend a connection for reading: in the event loop, where a page costs 70 µs, or `slow` in a thread."""
        return await self._idle.get() if slow else self._short

    async def give_back(self, connection: Connection) -> None:
        """Take a lent connection back."""
        if connection is not self._short:
            self._idle.put_nowait(connection)

    async def transact(self, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> T:
        """Run `work` in the writer thread, in one transaction: committed when it returns, rolled back when it raises.

        :raises Unavailable: if the file cannot be written, or another process holds it for 10 seconds.
        :raises OutcomeUnknown: if the commit failed.
        """
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._transact, work)

    def _transact(self, work: Callable[[Connection], Coroutine[Any, Any, T]]) -> T:
        raw = self._writing.raw
        _begin(raw)
        try:
            result = _run_to_end(work(self._writing))
        except BaseException:
            _roll_back(raw)
            raise
        try:
            raw.execute("COMMIT")
        except sqlite3.Error as error:
            _roll_back(raw)
            raise OutcomeUnknown(
                "The database failed while it stored the change, which may or may not stand."
            ) from error
        return result

    async def close(self) -> None:
        """Finish what is under way and close the file."""
        self._writer.shutdown()
        self._readers.shutdown()
        for connection in self._opened:
            connection.raw.close()
        os.close(self._held)


def _run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    work.close()
    raise TypeError("an operation waited for something other than the store")


def _begin(raw: sqlite3.Connection) -> None:
    deadline = monotonic() + _BUSY_SECONDS
    while True:
        try:
            # IMMEDIATE: a transaction that reads and then writes fails when another wrote in between.
            raw.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise _translated(error) from error
            # Left to SQLite, the waits grow to a tenth of a second: between the transactions of an import, another
            # process would rarely find the moment when nobody holds the lock.
            sleep(_RETRY_SECONDS)
        else:
            return


def _roll_back(raw: sqlite3.Connection) -> None:
    # A full disk or a failed write may have rolled the transaction back already.
    if raw.in_transaction:
        raw.execute("ROLLBACK")


def _translated(error: sqlite3.Error) -> Exception:
    if isinstance(error, sqlite3.IntegrityError):
        return Conflict(str(error))
    if "no such table" in str(error):
        return NoSuchTable(str(error))
    # The low byte is the kind of error, the rest its details.
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _AWAY:
        return Unavailable("The database is not available at the moment; please try again.")
    return error
