"""`stammdaten migrate`, `check`, `backup`, `restore`: the database as a whole."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from stammdaten.checking import check_store
from stammdaten.cli.running import bring_up_to_date, check_file, say, with_store
from stammdaten.refusals import NotAllowed
from stammdaten.settings import read_settings
from stammdaten.store.backup import back_up_sqlite, restore_sqlite


def migrate() -> None:
    """Bring the schema up to date."""
    asyncio.run(bring_up_to_date())


def check() -> None:
    """Compare documents with columns, totals with rows, the clocks with the wall; exit 1 if anything differs."""
    found = 0
    for line in with_store(check_store):
        found += 1
        say(line)
    if found:
        raise typer.Exit(1)
    say("everything agrees")


def backup(file: Annotated[Path, typer.Argument(help="Where to; must not exist.", readable=False)]) -> None:
    """Write a consistent copy of the embedded database while it is served."""
    _check_embedded("Use pg_dump, or a base backup with archived WAL (docs/operations.md).")
    back_up_sqlite(read_settings().home, file)


def restore(
    file: Annotated[Path, typer.Argument(help="A copy that `stammdaten backup` wrote.", readable=False)],
) -> None:
    """Put a backup in the place of the embedded database, which must not be served meanwhile."""
    _check_embedded("Use pg_restore (docs/operations.md).")
    check_file(file)
    restore_sqlite(file, read_settings().home)


def _check_embedded(instead: str) -> None:
    if read_settings().database_url is not None:
        raise NotAllowed(f"This command is for the embedded database. {instead}")
