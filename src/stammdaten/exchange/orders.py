"""Imports that were asked for: the order, where its file and its report are kept, and how it stands."""

import asyncio
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select

from stammdaten.auth.callers import Caller
from stammdaten.disk import sync
from stammdaten.exchange.tables import imports
from stammdaten.jobs.queue import ask_within
from stammdaten.lists.queries import live_lists
from stammdaten.refusals import NotFound
from stammdaten.store import Read, Statement, Store, Write, number, the_instance

IMPORT = "import a file"
# Where a file came from.
BY_COMMAND, BY_HTTP, BY_SFTP = "command", "http", "sftp"


class Import(NamedTuple):
    """An import, in the order of the table's columns."""

    id: int
    slug: str
    file_name: str
    origin: str
    user_id: int
    user_name: str
    is_dry_run: bool
    state: str = "waiting"
    line: int = 0
    lines: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: int = 0
    warnings: int = 0
    report_bytes: int = 0
    encoding: str = ""
    error: str = ""
    created_at: str = ""
    finished_at: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will become of it."""
        return self.state in ("done", "failed")


class Given(NamedTuple):
    """A complete file to import: for which list, how it was called and where it came from."""

    file: Path
    slug: str
    file_name: str
    origin: str
    is_dry_run: bool = False


_IMPORT = Statement(
    select(*(imports.c[name] for name in Import._fields)).where(
        the_instance(imports), imports.c.id == number("import_id")
    )
)


async def import_by_id(read: Read, import_id: int) -> Import | None:
    """Return an import of the instance."""
    found = await read.row(_IMPORT, import_id=import_id)
    return None if found is None else Import(*found)


def imports_folder(home: Path, instance_id: int) -> Path:
    """Return where an instance's files are kept until they are imported, and their reports."""
    return home / "imports" / str(instance_id)


def kept_file(home: Path, instance_id: int, import_id: int) -> Path:
    """Return where the file of an import is kept until it is done."""
    return imports_folder(home, instance_id) / f"{import_id}.given"


def report_file(home: Path, instance_id: int, import_id: int) -> Path:
    """Return where the report of an import is written."""
    return imports_folder(home, instance_id) / f"{import_id}.report.csv"


async def check_list(store: Store, instance_id: int, slug: str) -> None:
    """Refuse a list that nothing can be imported into.

    :raises NotFound: if the instance has no such list.
    """
    async with store.reading(instance_id) as read:
        if slug not in await live_lists(read):
            raise NotFound("There is no product list of this slug.")


async def order_import(store: Store, caller: Caller, given: Given, *, home: Path) -> Import:
    """Take a file over, which must be on the same disk as `home`, and ask for its import.

    The file is on the disk for good when this returns, and so is the order.

    :raises NotFound: if there is no such list.
    """
    await check_list(store, caller.instance_id, given.slug)
    await asyncio.to_thread(sync, given.file)

    async def order(write: Write) -> Import:
        now = write.now_utc
        ordered = Import(
            write.next_id(),
            given.slug,
            given.file_name,
            given.origin,
            caller.user_id,
            caller.user_name,
            given.is_dry_run,
            created_at=now,
        )
        await write.insert(imports, [ordered])
        await ask_within(
            write,
            kind=IMPORT,
            key=f"{write.instance_id}:{ordered.id}",
            now=now,
            owner=write.instance_id,
            payload={"import_id": ordered.id, "prefix": caller.prefix},
        )
        # Last: what is undone before leaves no file too many.
        _keep(given.file, kept_file(home, write.instance_id, ordered.id))
        return ordered

    ordered = await store.writing(caller.instance_id, order)
    given.file.unlink(missing_ok=True)
    return ordered


def _keep(file: Path, place: Path) -> None:
    # A second name, not a new one: a transaction that comes to nothing must leave the file where it was.
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.hardlink_to(file)
    sync(place.parent)


def summary(standing: Import) -> str:
    """Say what came of an import, in one line."""
    warnings = "1 warning" if standing.warnings == 1 else f"{standing.warnings} warnings"
    said = (
        f"{standing.created} created, {standing.updated} updated, {standing.unchanged} unchanged, "
        f"{standing.refused} refused, {warnings}, up to line {standing.line}"
    )
    if standing.is_dry_run:
        said = f"dry run, nothing stored: {said}"
    return f"{said}; {standing.error}" if standing.error else said
