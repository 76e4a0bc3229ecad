"""`stammdaten import` and `stammdaten export`: article master data in files."""

import asyncio
import json
import secrets
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

from stammdaten.auth.callers import Caller
from stammdaten.cli.running import OPERATOR, Prefix, check_file, in_instance, say
from stammdaten.exchange.exporting import CSV, EXPORT, WORKBOOK, Wanted, exports_folder, order_export
from stammdaten.exchange.orders import (
    BY_COMMAND,
    IMPORT,
    Given,
    Import,
    check_list,
    import_by_id,
    imports_folder,
    order_import,
    report_file,
    summary,
)
from stammdaten.exchange.working import dedicated_worker
from stammdaten.http.fields import german_time
from stammdaten.jobs.queue import job_by_key
from stammdaten.jobs.running import Worker
from stammdaten.refusals import NotAllowed, NotFound, TooLarge, Unavailable
from stammdaten.settings import read_settings
from stammdaten.store import Store

T = TypeVar("T")

_LOOK_SECONDS = 0.2
_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it


def import_(
    prefix: Prefix,
    slug: Annotated[str, typer.Option("--list", help="The slug of the product list.")],
    file: Annotated[
        Path, typer.Argument(help="CSV (UTF-8 or Windows-1252, semicolons) or .xlsx, with a header.", readable=False)
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report, but store nothing.")] = False,  # noqa: FBT002
) -> None:
    """Import articles from a file; prints what came of it and where the report is. Exit code 1 if rows were refused."""
    check_file(file)
    home = read_settings().home
    goes_on = "If the file was taken over, its import goes on: see `stammdaten job list`."

    async def run(store: Store, instance_id: int) -> tuple[Import, Path]:
        nonlocal goes_on
        caller = Caller(instance_id, prefix, 0, OPERATOR, frozenset())
        ordered = await _taken_over(store, caller, Given(file, slug, file.name, BY_COMMAND, dry_run), home=home)
        report = report_file(home, instance_id, ordered.id)
        goes_on = f"Import {ordered.id} goes on wherever the service is served; its report will be {report}."
        return await _import_over(store, instance_id, ordered.id), report

    try:
        ended, report = in_instance(prefix, run)
    except KeyboardInterrupt:
        sys.stderr.write(f"Interrupted. {goes_on}\n")
        raise typer.Exit(_INTERRUPTED) from None
    # Why it broke off stands on standard error alone.
    say(summary(ended._replace(error="")))
    say(report)
    if ended.error or ended.refused:
        raise NotAllowed(ended.error or f"Rows were refused: {ended.refused}; the report says why.")


async def _taken_over(store: Store, caller: Caller, given: Given, *, home: Path) -> Import:
    """Order the import of a copy of a file, which stays what and where it is."""
    await check_list(store, caller.instance_id, given.slug)
    kept = imports_folder(home, caller.instance_id)
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept, prefix=".upload-") as folder:
        copy = Path(shutil.copyfile(given.file, Path(folder) / "given"))
        return await order_import(store, caller, given._replace(file=copy), home=home)


async def _import_over(store: Store, instance_id: int, import_id: int) -> Import:
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        task = shown.add_task("lines", total=None)

        async def look() -> Import | None:
            async with store.reading(instance_id) as read:
                found = await import_by_id(read, import_id)
            if found is None:
                raise NotFound("The import has been removed.")
            shown.update(task, completed=found.line, total=found.lines or None)
            return found if found.is_over else None

        return await _worked_off(store, IMPORT, look)


async def _worked_off(store: Store, kind: str, look: Callable[[], Awaitable[T | None]]) -> T:
    """Do jobs of a kind, or look on while a serving process does them, until a look finds what it waits for."""
    worker = dedicated_worker(store, read_settings().home, kind)
    working = asyncio.create_task(_work(worker))
    try:
        while True:
            found = await look()
            if found is not None:
                return found
            if working.done():
                working.result()
                # Only now, that it was not this one: whoever has what they wait for takes no other job.
                working = asyncio.create_task(_work(worker))
            await asyncio.wait([working], timeout=_LOOK_SECONDS)
    finally:
        working.cancel()
        # Not awaited itself: however it ends, it must not take the place of what was found.
        await asyncio.wait([working])


async def _work(worker: Worker) -> None:
    """Do a job; if there is none, wait a little."""
    # Whoever looks on tells that the database is away; it may be back by the next look.
    with suppress(Unavailable):
        if await worker.work_once():
            return
    await asyncio.sleep(_LOOK_SECONDS)


def export(
    prefix: Prefix,
    slug: Annotated[str, typer.Option("--list", help="One list alone, by its slug.")] = "",
    since: Annotated[
        str | None, typer.Option(help="Only what changed after this German time, e.g. 2026-11-21T09:30.")
    ] = None,
    xlsx: Annotated[bool, typer.Option("--xlsx", help="Excel workbooks instead of CSV.")] = False,  # noqa: FBT002
    out: Annotated[Path, typer.Option(help="The folder to write to.", readable=False)] = Path(),
) -> None:
    """Write each list as a file; prints their paths."""
    stamp = german_time("since", since) if since else ""
    try:
        out.mkdir(parents=True, exist_ok=True)
        # Whether it can be written to; an export may take minutes.
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise NotAllowed(f"{out} cannot be used as a folder: {error.strerror}.") from error

    async def run(store: Store, instance_id: int) -> list[Path]:
        if slug:
            await check_list(store, instance_id, slug)
        key = await order_export(store, instance_id, Wanted(slug, stamp, WORKBOOK if xlsx else CSV))

        async def look() -> str | None:
            async with store.reading_shared() as read:
                state, report = await job_by_key(read, kind=EXPORT, key=key) or ("failed", "The export was removed.")
            if state == "failed":
                raise NotAllowed(report)
            return report if state == "done" else None

        report = json.loads(await _worked_off(store, EXPORT, look))
        if "refused" in report:
            raise TooLarge(report["refused"])
        folder = exports_folder(read_settings().home, key)
        try:
            return [_moved(folder / name, out) for name in report["files"]]
        finally:
            # Not only empty: a process that was killed at it may have left a part.
            shutil.rmtree(folder)

    for file in in_instance(prefix, run):
        say(file)


def _moved(file: Path, out: Path) -> Path:
    """Move a file into a folder, maybe of another disk, whole or not at all and over nothing that is there."""
    part = out / f".{file.name}.{secrets.token_hex(4)}.part"
    try:
        shutil.move(file, part, copy_function=shutil.copyfile)
        return part.replace(_taken(out / file.name))
    finally:
        part.unlink(missing_ok=True)


def _taken(file: Path) -> Path:
    """Take the name, or one with a number where there is such a file: two exports may fall into one minute."""
    numbered = (file.with_name(f"{file.stem}.{number}{file.suffix}") for number in count(2))
    return next(path for path in chain([file], numbered) if _is_new(path))


def _is_new(file: Path) -> bool:
    # Made, not looked for: between a look and renaming, which overwrites, somebody else might.
    with suppress(FileExistsError):
        file.touch(exist_ok=False)
        return True
    return False
