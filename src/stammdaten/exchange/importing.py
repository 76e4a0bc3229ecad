"""Importing a file: asked for once, done by a job in small transactions, each of which says how far it came.

Invariant: a transaction that stores rows also stores the line it came to, its counts, and how long the report is by
then. So an import that died goes on behind that line, with the report cut to what belongs to it.
"""

import asyncio
import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import select

from stammdaten.auth.callers import Caller
from stammdaten.clock import utc_now, utc_stamp
from stammdaten.exchange.columns import BY_FIELD, BY_NAME, KEY, safe
from stammdaten.exchange.queries import changes_nothing, standing_products
from stammdaten.exchange.reading import Opened, open_csv
from stammdaten.exchange.rows import REPORT_HEADER, Cells, Reader, Remark, Row
from stammdaten.exchange.tables import imports
from stammdaten.http.fields import CONTROL
from stammdaten.jobs.queue import ask_within
from stammdaten.jobs.running import Handler, Job
from stammdaten.lists.queries import live_lists
from stammdaten.products.operations import import_products
from stammdaten.refusals import Invalid, Malformed, NotFound, Refusal
from stammdaten.store import Read, Statement, Store, Write, number, the_instance

IMPORT = "import a file"
# Small enough to hold up no writer, and no reader of the same process, for long.
_AT_ONCE = 500


class Import(NamedTuple):
    """An import, in the order of the table's columns."""

    id: int
    slug: str
    file_name: str
    user_id: int
    user_name: str
    is_dry_run: bool
    state: str = "waiting"
    line: int = 0
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


_IMPORT = Statement(
    select(*(imports.c[name] for name in Import._fields)).where(
        the_instance(imports), imports.c.id == number("import_id")
    )
)


class _DryRun(Exception):  # noqa: N818 - carries what would have been done out of a transaction that is undone
    def __init__(self, outcomes: Sequence[str | Refusal]) -> None:
        super().__init__()
        self.outcomes = outcomes


async def import_by_id(read: Read, import_id: int) -> Import | None:
    """Return an import of the instance."""
    found = await read.row(_IMPORT, import_id=import_id)
    return None if found is None else Import(*found)


def kept_file(home: Path, instance_id: int, import_id: int) -> Path:
    """Return where the file of an import is kept until it is done."""
    return home / "imports" / str(instance_id) / f"{import_id}.csv"


def report_file(home: Path, instance_id: int, import_id: int) -> Path:
    """Return where the report of an import is written."""
    return home / "imports" / str(instance_id) / f"{import_id}.report.csv"


async def order_import(  # noqa: PLR0913 - what an import is
    store: Store, caller: Caller, *, slug: str, file: Path, file_name: str, is_dry_run: bool, home: Path
) -> int:
    """Take a complete file over and ask for its import; return the import's id.

    :raises NotFound: if there is no such list.
    """
    async with store.reading(caller.instance_id) as read:
        if slug not in await live_lists(read):
            raise NotFound("There is no product list of this slug.")

    async def order(write: Write) -> int:
        now = write.now_utc
        row = Import(write.next_id(), slug, file_name, caller.user_id, caller.user_name, is_dry_run, created_at=now)
        # In its place before the job is there: a crash between leaves a file too many, not a job without one.
        _take(file, kept_file(home, write.instance_id, row.id))
        await write.insert(imports, [row])
        await ask_within(
            write,
            kind=IMPORT,
            key=f"{write.instance_id}:{row.id}",
            now=now,
            owner=write.instance_id,
            payload={"import_id": row.id, "prefix": caller.prefix},
        )
        return row.id

    return await store.writing(caller.instance_id, order)


def _take(file: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    file.replace(place)


def importing(home: Path) -> Handler:
    """Return the job that imports a file."""

    async def handle(store: Store, job: Job) -> str:
        instance_id, import_id = job.claimed.instance_id, job.claimed.payload["import_id"]
        async with store.reading(instance_id) as read:
            found = await import_by_id(read, import_id)
            lists = await live_lists(read)
        if found is None or found.state in ("done", "failed"):
            return "nothing to do"
        caller = Caller(instance_id, job.claimed.payload["prefix"], found.user_id, found.user_name, frozenset())
        work = _Importing(store, job, caller, found, home)
        await work.run(lists.get(found.slug, 0))
        return summary(work.standing)

    return handle


def summary(standing: Import) -> str:
    """Say what came of an import, in one line."""
    said = (
        f"{standing.created} created, {standing.updated} updated, {standing.unchanged} unchanged, "
        f"{standing.refused} refused, {standing.warnings} warnings, up to line {standing.line}"
    )
    if standing.is_dry_run:
        said = f"dry run, nothing stored: {said}"
    return f"{said}; {standing.error}" if standing.error else said


class _Importing:
    """An import while it is done."""

    def __init__(self, store: Store, job: Job, caller: Caller, standing: Import, home: Path) -> None:
        self._store = store
        self._job = job
        self._caller = caller
        self.standing = standing
        self._file = kept_file(home, caller.instance_id, standing.id)
        self._report = report_file(home, caller.instance_id, standing.id)

    async def run(self, list_id: int) -> None:
        """Import what is left of the file."""
        self._cut_report()
        try:
            opened = await asyncio.to_thread(open_csv, self._file)
            self.standing = self.standing._replace(state="running", encoding=opened.encoding)
            await self._import(opened, list_id)
        except Malformed as broken:
            # What stands before the broken place was imported, and the report and the counts say so.
            await self._end("failed", error=str(broken))
        else:
            await self._end("done")
        self._file.unlink(missing_ok=True)

    async def _import(self, opened: Opened, list_id: int) -> None:
        reader = Reader(opened.columns, caller=self._caller, list_id=list_id)
        batches = _batches(opened, reader, after=self.standing.line)
        # Reading is pure CPU: in a thread, so that a serving process answers meanwhile.
        while batch := await asyncio.to_thread(next, batches, None):
            rows = await self._rows(reader, batch, list_id)
            if any(row.product is not None for row in rows.values()):
                await self._store_rows(batch, rows)
            else:
                # Nothing is stored, not even where the import stands: done again, these rows change nothing again.
                self.standing = self._counted(batch, rows, ())

    async def _rows(self, reader: Reader, batch: list[Cells], list_id: int) -> dict[int, Row]:
        """Check the rows that are not as the products stand already; by line."""
        numbers = [cells.article_number for cells in batch if not CONTROL.search(cells.article_number)]
        async with self._store.reading(self._caller.instance_id, slow=True) as read:
            standing = await standing_products(read, numbers)
        # A number that comes twice is looked at each time: what the first row makes of it is not to be seen here.
        times = Counter(numbers)
        return {
            cells.line: reader.checked(cells)
            for cells in batch
            if cells.is_refused
            or times[cells.article_number] > 1
            or not changes_nothing(cells, standing.get(cells.article_number), list_id=list_id)
        }

    async def _store_rows(self, batch: list[Cells], rows: dict[int, Row]) -> None:
        products = [row.product for row in rows.values() if row.product is not None]

        async def store_rows(write: Write) -> Import:
            outcomes = await import_products(write, products)
            if self.standing.is_dry_run:
                raise _DryRun(outcomes)
            after = self._counted(batch, rows, outcomes)
            await write.update(imports, [after])
            return after

        try:
            self.standing = await self._store.writing(self._caller.instance_id, store_rows)
        except _DryRun as dry:
            self.standing = self._counted(batch, rows, dry.outcomes)

    def _counted(self, batch: list[Cells], rows: dict[int, Row], outcomes: Sequence[str | Refusal]) -> Import:
        """Count what became of rows, and write the report; whoever takes over cuts off what was not stored."""
        done = iter(outcomes)
        remarks: list[Remark] = []
        counts = {"created": 0, "updated": 0, "unchanged": 0, "refused": 0}
        for cells in batch:
            remarks += cells.remarks
            row = rows.get(cells.line)
            outcome = "unchanged" if row is None else None if row.product is None else next(done)
            if isinstance(outcome, Refusal):
                remarks.append(_refused(cells.line, cells.article_number, outcome))
            counts[outcome if isinstance(outcome, str) else "refused"] += 1
        length = self._write_report(remarks)
        standing = self.standing
        warnings = sum(not remark.is_refusal for remark in remarks)
        return standing._replace(
            line=batch[-1].line,
            report_bytes=length,
            warnings=standing.warnings + warnings,
            **{name: getattr(standing, name) + count for name, count in counts.items()},
        )

    def _cut_report(self) -> None:
        self._report.parent.mkdir(parents=True, exist_ok=True)
        with self._report.open("ab") as report:
            report.truncate(self.standing.report_bytes)
        if not self.standing.report_bytes:
            self.standing = self.standing._replace(report_bytes=self._append([REPORT_HEADER]))

    def _write_report(self, remarks: list[Remark]) -> int:
        rows = [
            (str(remark.line), safe(remark.article_number), remark.column, safe(remark.what), remark.allowed)
            for remark in remarks
        ]
        return self._append(rows) if rows else self.standing.report_bytes

    def _append(self, rows: Sequence[Sequence[str]]) -> int:
        text = io.StringIO()
        csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
        with self._report.open("r+b") as report:
            # A batch that is tried again writes over what it wrote before.
            report.seek(self.standing.report_bytes)
            report.truncate()
            report.write(text.getvalue().encode())
            return report.tell()

    async def _end(self, state: str, *, error: str = "") -> None:
        ended = self.standing._replace(state=state, error=error, finished_at=utc_stamp(utc_now()))

        async def write_end(write: Write) -> None:
            await write.update(imports, [ended])

        await self._store.writing(self._caller.instance_id, write_end)
        self.standing = ended


def _batches(opened: Opened, reader: Reader, *, after: int) -> Iterator[list[Cells]]:
    """Read rows some at a time; what stands before a broken line comes before the refusal."""
    rows = opened.rows(after=after)
    batch: list[Cells] = []
    try:
        for line, cells in rows:
            batch.append(reader.cells(line, cells))
            if len(batch) == _AT_ONCE:
                yield batch
                batch = []
    except Malformed:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _refused(line: int, article_number: str, refusal: Refusal) -> Remark:
    if isinstance(refusal, Invalid):
        fault = refusal.faults[0]
        return Remark(line, article_number, BY_FIELD[fault.path].name, fault.sentence, BY_FIELD[fault.path].allowed)
    return Remark(line, article_number, KEY, str(refusal), BY_NAME[KEY].allowed)
