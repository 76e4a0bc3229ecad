"""A list update through the whole service: a list loaded, and held against an address book, on either engine."""

import asyncio
import csv
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time

import psutil
from sqlalchemy import delete, update

from bench.postgres import postgres
from bench.screening.lists import Listed, read_lists
from bench.screening.results import Result, at_most, note
from bench.screening.speed import address_book
from stammdaten.app import jobs
from stammdaten.auth.callers import Caller
from stammdaten.auth.operations import create_account
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.contacts.operations import ContactChange, create_contacts
from stammdaten.contacts.shapes import Given
from stammdaten.contacts.tables import contacts
from stammdaten.jobs.queue import newest_jobs
from stammdaten.jobs.running import Worker
from stammdaten.jobs.tables import jobs as jobs_table
from stammdaten.screening.current import Screening
from stammdaten.screening.entries import read_entry
from stammdaten.screening.loading import load_list
from stammdaten.settings import Settings
from stammdaten.store import SHARED, Statement, Store, open_store, the_instance
from stammdaten.store.migrating import migrate

_CONTACTS = 100_000
_CHANGED = 500
_AT_ONCE = 500
_LINES = 1_000_000
_MIB = 1024  # kibibytes

_HEADER = ("id", "schema", "name", "aliases", "countries")
# As if each had been checked and found to be nobody: a first check of all is not what is measured.
_CHECKED = Statement(
    update(contacts)
    .where(the_instance(contacts))
    .values(status="green", sanctions_check="clear", last_sanction_checked_at="2026-01-01T00:00:00.000000Z")
)
_FORGET_JOBS = Statement(delete(jobs_table))


@dataclass
class _Database:
    settings: Settings
    server: psutil.Process | None = None

    def seconds(self) -> float:
        """Return the CPU time so far, of this process and of the database's."""
        if self.server is None:
            return process_time()
        times = [process.cpu_times() for process in [self.server, *self.server.children()]]
        return process_time() + sum(
            time.user + time.system + time.children_user + time.children_system for time in times
        )


def monitoring(data: Path) -> list[Result]:
    """Measure an update of a list with an address book behind it, on both engines."""
    listed = read_lists(data)
    results = []
    for engine in ("SQLite", "PostgreSQL"):
        with (
            tempfile.TemporaryDirectory(prefix="stammdaten-bench-") as folder,
            _database(engine, Path(folder)) as database,
        ):
            results += asyncio.run(_update(database, Path(folder), data, listed, engine))
    return results


def loading() -> list[Result]:
    """Measure the load of a list of a million lines, and of its next version."""
    with tempfile.TemporaryDirectory(prefix="stammdaten-bench-") as folder:
        path = Path(folder, "million.csv")
        settings = Settings(home=Path(folder))
        seconds = []
        for gone in (0, 400):
            _write(path, ((f"X-{number}", f"Name Nr{number} Xy{number % 977}") for number in range(gone, _LINES)))
            began = process_time()
            asyncio.run(_load(settings, path))
            seconds.append(process_time() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB
    return [
        note(f"{_LINES:,} lines, new", f"{seconds[0]:.1f} s"),
        note("the next version, 400 lines less", f"{seconds[1]:.1f} s"),
        note("memory of the whole process", f"{memory:.0f} MiB"),
    ]


@contextmanager
def _database(engine: str, folder: Path) -> Iterator[_Database]:
    if engine == "SQLite":
        yield _Database(Settings(home=folder / "home"))
        return
    with postgres(folder) as server:
        settings = Settings(home=folder / "home", database_url=server.create("monitoring"))
        yield _Database(settings, psutil.Process(server.pid))


async def _load(settings: Settings, path: Path) -> None:
    await migrate(settings)
    async with await open_store(settings) as store:
        await load_list(store, instance_id=SHARED, source="opensanctions", path=path)


async def _update(database: _Database, folder: Path, data: Path, listed: Listed, engine: str) -> list[Result]:
    await migrate(database.settings)
    entries = [read_entry(document) for _, document in listed]
    lines = [(f"L-{place}", entry.names[0].text) for place, entry in enumerate(entries) if entry.names]
    path = folder / "list.csv"
    async with await open_store(database.settings) as store:
        instance_id = await _account(store)
        _write(path, iter(lines[_CHANGED:]))
        await load_list(store, instance_id=SHARED, source="opensanctions", path=path)
        await _fill(store, instance_id, data)
        _write(path, iter(lines))
        await load_list(store, instance_id=SHARED, source="opensanctions", path=path)
        screening = Screening(store)
        await screening.bring_up_to_date()
        began = database.seconds()
        while await Worker(store, jobs(screening), ()).work_once():
            pass
        spent = database.seconds() - began
        async with store.reading_shared() as read:
            report = (await newest_jobs(read, most=1))[0][6]
    return [
        at_most(f"{_CONTACTS:,} contacts, {_CHANGED} new entries, {engine}", spent, 10, "s"),
        note("  which found", report.partition("; ")[2]),
    ]


async def _account(store: Store) -> int:
    await store.writing_shared(lambda write: create_account(write, name="Bench", prefix="bench"))
    async with store.reading_shared() as read:
        found = await instance_by_prefix(read, "bench")
    assert found is not None
    return found[0]


async def _fill(store: Store, instance_id: int, data: Path) -> None:
    caller = Caller(instance_id, "bench", 1, "bench", frozenset())
    rows = [
        ContactChange(
            caller,
            Given(
                contact_uid=f"K-{number}",
                values={
                    "first_name": party.first_name,
                    "last_name": party.last_name,
                    "country_or_region": party.country,
                },
                notes=[],
            ),
        )
        for number, party in enumerate(address_book(data, _CONTACTS))
    ]
    for begin in range(0, len(rows), _AT_ONCE):
        some = rows[begin : begin + _AT_ONCE]
        await store.writing(instance_id, partial(create_contacts, rows=some))
    await store.writing(instance_id, lambda write: write.run(_CHECKED))
    await store.writing_shared(lambda write: write.run(_FORGET_JOBS))


def _write(path: Path, lines: Iterator[tuple[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_HEADER)
        writer.writerows((entry_id, "LegalEntity", name, "", "") for entry_id, name in lines)
