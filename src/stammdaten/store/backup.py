"""Copies of the embedded database: taken while it is in use, put back while it is not; SQLite keeps them whole."""

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from stammdaten.disk import sync
from stammdaten.refusals import AlreadyExists, Malformed, Unavailable
from stammdaten.store.holding import hold_alone
from stammdaten.store.schema import HEAD
from stammdaten.store.sqlite import connect, database_file


def back_up_sqlite(home: Path, file: Path) -> None:
    """Write a copy of the database as it is at one moment; on disk when this returns.

    :raises AlreadyExists: if the file exists.
    :raises Unavailable: if there is no database, or the copy cannot be written.
    """
    if file.exists():
        raise _exists(file)
    if not database_file(home).exists():
        raise Unavailable(f"There is no embedded database in {home}.")
    unfinished = file.with_name(f"{file.name}.{secrets.token_hex(4)}.unfinished")
    try:
        # SQLite would not say why it cannot.
        unfinished.touch(exist_ok=False)
        with closing(connect(database_file(home))) as source, closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
            # A copy is one file: what is in the log of a WAL database would be left behind.
            copy.execute("PRAGMA journal_mode = DELETE")
        sync(unfinished)
        # Renaming overwrites: the name must be taken first, by one alone, and somebody may have it by now.
        file.touch(exist_ok=False)
        unfinished.replace(file)
        sync(file.parent)
    except FileExistsError as error:
        raise _exists(file) from error
    except OSError as error:
        raise Unavailable(f"The backup could not be written: {file}: {error.strerror}.") from error
    except sqlite3.Error as error:
        raise Unavailable(f"The backup could not be written: {file}: {error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _exists(file: Path) -> AlreadyExists:
    return AlreadyExists(f"{file} exists already; a backup overwrites nothing.")


def restore_sqlite(file: Path, home: Path) -> None:
    """Overwrite the database with a backup, in one transaction.

    :raises Malformed: if the file is no sound backup of this service.
    :raises Unavailable: if the database is in use, or cannot be written.
    """
    home.mkdir(parents=True, exist_ok=True)
    held = hold_alone(home)
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as source:
            _check_sound(source, file)
            with closing(connect(database_file(home))) as target:
                source.backup(target)
    except (sqlite3.Error, OSError) as error:
        raise Unavailable(f"The backup could not be put back: {error}") from error
    finally:
        os.close(held)


def _check_sound(source: sqlite3.Connection, file: Path) -> None:
    try:
        damage = source.execute("PRAGMA integrity_check").fetchone()[0]
        found = source.execute("SELECT version_num FROM alembic_version").fetchone()[0]
    except (sqlite3.DatabaseError, TypeError) as error:
        raise Malformed(f"{file} is no backup of this service: {error}") from error
    if damage != "ok":
        raise Malformed(f"{file} is damaged: {damage}")
    if found > HEAD:
        raise Malformed(f"{file} is at revision {found}, newer than this version of the service knows.")
