"""`stammdaten sanctions`: lists in, their state, what an instance wants of its checks, and the record of checks."""

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from stammdaten.cli.running import (
    OPERATOR,
    Prefix,
    check_file,
    in_instance,
    instance_id_of,
    noun,
    number_of,
    say,
    with_store,
    write_in,
)
from stammdaten.clock import utc_now, utc_timestamp
from stammdaten.refusals import Fault, Invalid, NotAllowed
from stammdaten.screening.audit import audit_rows
from stammdaten.screening.loading import load_list
from stammdaten.screening.queries import ListVersion, current_versions, rules
from stammdaten.screening.ruling import set_rules
from stammdaten.screening.shapes import BLOCK_LIST
from stammdaten.screening.sources import SOURCES
from stammdaten.screening.staging import Loaded
from stammdaten.screening.updating import FAILURES, check_sources, limits_of, update_list
from stammdaten.settings import read_settings
from stammdaten.store import SHARED, Store

app = noun("Sanctions lists and screening.")

SourceName = Annotated[str, typer.Argument(help=f"One of {', '.join(SOURCES)}.")]
AnyPrefix = Annotated[str | None, typer.Option("--prefix", help="The instance whose block list it is.")]


@app.command()
def load(
    source: SourceName,
    path: Annotated[str, typer.Argument(help="A file, OFAC's folder of files, or an address.")],
    prefix: AnyPrefix = None,
    may_shrink: Annotated[  # noqa: FBT002 - an option
        bool, typer.Option("--may-shrink", help="Also if the list lost over a fifth of its entries.")
    ] = False,
) -> None:
    """Bring a list into force, whole or not at all; then every contact is held against what is new."""
    _check_source(source, prefix)
    is_address = path.startswith(("http://", "https://"))
    if is_address and prefix is not None:
        # What is downloaded is official, and of all instances.
        raise NotAllowed("A block list is loaded from a file.")

    async def run(store: Store) -> Loaded:
        instance_id = SHARED if prefix is None else await instance_id_of(store, prefix)
        with _progress() as progress:
            if is_address:
                return await update_list(
                    store,
                    source,
                    (path,),
                    limits=limits_of(read_settings()),
                    may_shrink=may_shrink,
                    progress=progress.bytes(source),
                )
            return await load_list(
                store,
                instance_id=instance_id,
                source=source,
                path=Path(path),
                may_shrink=may_shrink,
                progress=progress.entries(source),
            )

    if not is_address:
        check_file(Path(path), may_be_folder=True)
    try:
        loaded = with_store(run)
    except FAILURES as failure:
        raise NotAllowed(f"{source} was not loaded: {failure}") from failure
    _show(loaded)


@app.command()
def update() -> None:
    """Bring all configured lists up to date; those that have not changed are not downloaded again."""
    settings = read_settings()
    check_sources(settings)
    if not settings.sanctions:
        raise NotAllowed("STAMMDATEN_SANCTIONS names no list.")
    failed = []

    async def run(store: Store) -> None:
        for source, urls in settings.sanctions.items():
            try:
                with _progress() as progress:
                    loaded = await update_list(
                        store, source, urls, limits=limits_of(settings), progress=progress.bytes(source)
                    )
            except FAILURES as failure:
                failed.append(source)
                sys.stderr.write(f"{source} was not updated: {failure}\n")
            else:
                _show(loaded)

    with_store(run)
    if failed:
        raise NotAllowed(f"Not updated: {', '.join(failed)}.")


@app.command()
def status(prefix: AnyPrefix = None) -> None:
    """Show the lists in force: source, version date, entries, hash, days since it was last brought up to date."""

    async def read_all(store: Store) -> list[ListVersion]:
        instance_id = SHARED if prefix is None else await instance_id_of(store, prefix)
        async with store.reading(instance_id) as read:
            return await current_versions(read)

    now = utc_now()
    for version in with_store(read_all):
        days = (now - datetime.fromisoformat(version.checked_at)).total_seconds() / 86400
        date = version.list_date or "-"
        say("\t".join([version.source, date, str(version.entries), version.file_hash, f"{days:.1f}"]))


@app.command()
def settings(  # noqa: PLR0913, PLR0917 - what can be set
    prefix: Prefix,
    threshold: Annotated[float | None, typer.Option(help="Score from which a match is shown.")] = None,
    certain: Annotated[float | None, typer.Option(help="Score from which a match makes a contact red.")] = None,
    most_age_days: Annotated[int | None, typer.Option(help="Days a list may be old.")] = None,
    rescreen_days: Annotated[int | None, typer.Option(help="Days after which a contact is checked again.")] = None,
    sources: Annotated[str | None, typer.Option(help="Lists to use, with commas between; empty for all.")] = None,
) -> None:
    """Show what an instance wants of its checks, or change it; a change has all contacts checked again."""
    given: dict[str, Any] = {
        "threshold": threshold,
        "certain": certain,
        "most_age_days": most_age_days,
        "rescreen_days": rescreen_days,
        "sources": None if sources is None else tuple(name.strip() for name in sources.split(",") if name.strip()),
    }
    given = {name: value for name, value in given.items() if value is not None}

    async def show(store: Store, instance_id: int) -> Any:
        async with store.reading(instance_id) as read:
            return await rules(read)

    if given:
        wanted = write_in(prefix, lambda write: set_rules(write, set_by=OPERATOR, **given))
    else:
        wanted = in_instance(prefix, show)
    say(
        json.dumps(
            {
                name: getattr(wanted, name)
                for name in ("threshold", "certain", "most_age_days", "rescreen_days", "sources")
            }
        )
    )


@app.command()
def checks(
    prefix: Prefix,
    since: Annotated[str, typer.Option(help="From this moment on, ISO 8601.")] = "1970-01-01",
) -> None:
    """Print the record of all checks and decisions as CSV, for the customs audit."""
    try:
        moment = utc_timestamp(since)
    except ValueError as error:
        raise Invalid([Fault("since", "must be ISO 8601, e.g. 2026-11-21T08:30:00Z")]) from error

    async def run(store: Store, instance_id: int) -> None:
        writer = csv.writer(sys.stdout, delimiter=";", lineterminator="\n")
        async for row in audit_rows(store, instance_id, since=moment):
            writer.writerow(row)

    in_instance(prefix, run)


class _Bars:
    """Progress on standard error, for who looks on."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown

    def bytes(self, source: str) -> Any:
        task = self._shown.add_task(source, total=None)
        return lambda done, total: self._shown.update(task, completed=done, total=total)

    def entries(self, source: str) -> Any:
        task = self._shown.add_task(f"{source}: entries", total=None)
        return lambda done: self._shown.update(task, completed=done)


@contextmanager
def _progress() -> Iterator[_Bars]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        yield _Bars(shown)


def _check_source(source: str, prefix: str | None) -> None:
    if source not in SOURCES:
        raise NotAllowed(f"There is no list {source!r}; it must be one of {', '.join(SOURCES)}.")
    if (source == BLOCK_LIST) != (prefix is not None):
        raise NotAllowed("A block list is of one instance and needs --prefix; official lists are shared and take none.")


def _show(loaded: Loaded) -> None:
    entries = number_of(loaded.entries, "entry", "entries")
    if not loaded.is_new:
        say(f"{loaded.source}\tunchanged\t{entries}")
        return
    say(
        f"{loaded.source}\t{loaded.list_date or 'undated'}\t{entries}\t"
        f"{loaded.added} added, {loaded.changed} changed, {loaded.removed} removed"
    )
    if loaded.older_than:
        sys.stderr.write(f"{loaded.source}: the list that was in force was newer, of {loaded.older_than}\n")
    for part, times in sorted(loaded.unknown.items(), key=lambda item: -item[1])[:20]:
        sys.stderr.write(f"{loaded.source}: not understood, {number_of(times, 'time', 'times')}: {part}\n")
