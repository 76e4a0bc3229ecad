"""Bringing a schema up to date: one history of migrations for both engines, run by Alembic.

Imported only where a migration may be due: Alembic weighs a fifth of an idle process.
"""

import asyncio
from pathlib import Path

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from stammdaten.refusals import Unavailable
from stammdaten.settings import Settings, SettingsError
from stammdaten.store.postgresql import translated
from stammdaten.store.schema import SchemaOutdated
from stammdaten.store.sqlite import connect, database_file, prepare_home

_MIGRATIONS = Path(__file__).parent / "migrations"
# Any number that other users of the same database do not take for a lock of theirs.
_MIGRATION_LOCK = 7_827_637_771


async def migrate(settings: Settings) -> None:
    """Bring the schema up to date, in one transaction; several at once wait for each other.

    :raises Unavailable: if the database is away, or does not let us.
    :raises SchemaOutdated: if it is of a newer version.
    :raises SettingsError: if the URL cannot be read.
    """
    try:
        if settings.database_url is None:
            # In a thread: Alembic knows nothing of event loops.
            await asyncio.to_thread(_migrate_sqlite, settings.home)
        else:
            await _migrate_postgresql(settings.database_url)
    except CommandError as error:
        raise SchemaOutdated(f"The database is of a newer version of this service: {error}") from error
    except DBAPIError as error:
        # Its own text repeats the statement; what the database said is enough.
        raise Unavailable(f"The schema could not be brought up to date: {error.orig}") from error
    except ValueError as error:
        raise SettingsError("STAMMDATEN_DATABASE_URL cannot be read as a libpq URL") from error
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise translated(error) from error


def _migrate_sqlite(home: Path) -> None:
    prepare_home(home)
    engine = create_engine("sqlite://", creator=lambda: connect(database_file(home)), poolclass=NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        _upgrade(connection)
        connection.exec_driver_sql("COMMIT")


async def _migrate_postgresql(url: str) -> None:
    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=lambda: asyncpg.connect(url), poolclass=NullPool
    )
    async with engine.begin() as connection:
        await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        await connection.run_sync(_upgrade)
    await engine.dispose()


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
