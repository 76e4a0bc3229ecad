"""`stammdaten import` and `stammdaten export`: article master data in files."""

import asyncio
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from stammdaten.auth.callers import Caller
from stammdaten.cli.running import OPERATOR, Prefix, in_instance, say
from stammdaten.clock import german_timestamp
from stammdaten.exchange.exporting import export_name, exported
from stammdaten.exchange.importing import (
    IMPORT,
    Import,
    import_by_id,
    importing,
    order_import,
    report_file,
    summary,
)
from stammdaten.jobs.running import Worker
from stammdaten.lists.queries import live_lists
from stammdaten.refusals import Fault, Invalid, NotAllowed, NotFound
from stammdaten.settings import read_settings
from stammdaten.store import Store

_LOOK_SECONDS = 0.2


def import_(
    prefix: Prefix,
    slug: Annotated[str, typer.Option("--list", help="The slug of the product list.")],
    file: Annotated[Path, typer.Argument(help="CSV: UTF-8 or Windows-1252, semicolons, a header.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report, but store nothing.")] = False,  # noqa: FBT002
) -> None:
    """Import articles from a file; prints what came of it and where the report is. Exit code 1 if rows were refused."""
    if not file.is_file():
        raise NotFound(f"There is no file {file}.")
    home = read_settings().home

    async def run(store: Store, instance_id: int) -> tuple[Import, Path]:
        caller = Caller(instance_id, prefix, 0, OPERATOR, frozenset())
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix="import-") as folder:
            copy = Path(shutil.copy(file, folder))
            import_id = await order_import(
                store, caller, slug=slug, file=copy, file_name=file.name, is_dry_run=dry_run, home=home
            )
        return await _follow(store, instance_id, import_id, home), report_file(home, instance_id, import_id)

    ended, report = in_instance(prefix, run)
    say(summary(ended))
    say(report)
    if ended.error or ended.refused:
        raise NotAllowed(ended.error or f"{ended.refused} rows were refused.")


async def _follow(store: Store, instance_id: int, import_id: int, home: Path) -> Import:
    """Do the import, or look on while a serving process does it."""
    working = asyncio.create_task(_work(Worker(store, {IMPORT: importing(home)}, ())))
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
            task = shown.add_task("importing", total=None)
            while True:
                async with store.reading(instance_id) as read:
                    found = await import_by_id(read, import_id)
                assert found is not None  # noqa: S101 - ordered above, and nothing removes imports
                shown.update(task, description=summary(found))
                if found.state in ("done", "failed"):
                    return found
                await asyncio.sleep(_LOOK_SECONDS)
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working


async def _work(worker: Worker) -> None:
    while True:
        if not await worker.work_once():
            await asyncio.sleep(_LOOK_SECONDS)


def export(
    prefix: Prefix,
    slug: Annotated[str | None, typer.Option("--list", help="One list alone, by its slug.")] = None,
    since: Annotated[str | None, typer.Option(help="Only what changed after this German time.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path(),
) -> None:
    """Write each list as a CSV file; prints their paths."""
    try:
        stamp = german_timestamp(since) if since else ""
    except ValueError as error:
        raise Invalid([Fault("since", "must be ISO 8601, e.g. 2026-11-21T08:30:00")]) from error

    async def run(store: Store, instance_id: int) -> None:
        async with store.reading(instance_id) as read:
            lists = await live_lists(read)
        if slug is not None and slug not in lists:
            raise NotFound("There is no product list of this slug.")
        out.mkdir(parents=True, exist_ok=True)
        for name, list_id in lists.items():
            if slug in (None, name):
                file = out / export_name(name)
                with file.open("wb") as written:
                    async for part in exported(store, instance_id, list_id=list_id, since=stamp):
                        written.write(part)
                say(file)

    in_instance(prefix, run)
