"""Importing a file: a job in small transactions, each of which says how far it came.

Invariant: a transaction that stores rows also stores the line it came to, its counts, and how long the report is by
then. So an import that died goes on behind that line, with the report cut to what belongs to it.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

from stammdaten.auth.callers import Caller
from stammdaten.clock import utc_now, utc_stamp
from stammdaten.exchange.orders import BY_SFTP, Import, import_by_id, kept_file, report_file, summary
from stammdaten.exchange.queries import changes_nothing, standing_products
from stammdaten.exchange.reading import WINDOWS, Opened, open_file
from stammdaten.exchange.reporting import write_report
from stammdaten.exchange.rows import Cells, Reader, Remark, Row, refused
from stammdaten.exchange.sftp.folders import done, failed, put_away_with_report, space
from stammdaten.exchange.tables import imports
from stammdaten.exchange.unpacking import Unreadable
from stammdaten.http.fields import CONTROL
from stammdaten.jobs.queue import ClaimLost
from stammdaten.jobs.running import GaveWay, Handler, Job
from stammdaten.lists.queries import live_lists
from stammdaten.products.operations import ProductImport, import_products
from stammdaten.refusals import Refusal, Unavailable
from stammdaten.store import Store, Write

# Small enough to hold up no other writer for long.
_AT_ONCE = 500
_MOST_ATTEMPTS = 5
# Batches that change nothing write nothing, but for how far the import is, every so many.
_SAID_EVERY = 20
# How long an import may go on while others wait: all slots may be taken by large ones.
_TURN_SECONDS = 60


class _DryRun(Exception):  # noqa: N818 - carries what would have been done out of a transaction that is undone
    def __init__(self, outcomes: Sequence[str | Refusal]) -> None:
        super().__init__()
        self.outcomes = outcomes


def importing(home: Path) -> Handler:
    """Return the job that imports a file."""

    async def handle(store: Store, job: Job) -> str:
        instance_id, import_id = job.claimed.instance_id, job.claimed.payload["import_id"]
        async with store.reading(instance_id) as read:
            found = await import_by_id(read, import_id)
            lists = await live_lists(read)
        if found is None:
            return "there is no such import"
        caller = Caller(instance_id, job.claimed.payload["prefix"], found.user_id, found.user_name, frozenset())
        work = _Importing(store, job, caller, found, home)
        if not found.is_over:
            await work.attempt(lists.get(found.slug, 0))
        try:
            work.put_away()
        except OSError as error:
            tried = job.claimed.progress.get("put_away", 0) + 1
            if tried < _MOST_ATTEMPTS:
                await job.keep({"line": work.standing.line, "put_away": tried})
                raise
            # The next file must not wait for a folder for ever.
            return f"{summary(work.standing)}; the file cannot be put away: {error}"
        return summary(work.standing)

    return handle


class _Importing:
    """An import while it is done, and how it stands."""

    def __init__(self, store: Store, job: Job, caller: Caller, standing: Import, home: Path) -> None:
        self._db = store
        self._job = job
        self._progress: dict[str, int] = job.claimed.progress
        self._caller = caller
        self.standing = standing
        self._space = space(home, caller.prefix)
        self._file = kept_file(home, caller.instance_id, standing.id)
        self._report = report_file(home, caller.instance_id, standing.id)

    async def attempt(self, list_id: int) -> None:
        """Import, or say that it is given up: the job room would leave the import as if it were running.

        Attempts count that begin behind the same line, be it that they fail or that the process dies of the file; those
        that get further do not, nor those that the database, a full disk, other jobs or somebody ends.
        """
        line = self.standing.line
        attempts = self._progress["attempts"] if self._progress.get("behind") == line else 0
        if attempts == _MOST_ATTEMPTS:
            await self._give_up("each attempt ended without a word")
            return
        await self._keep(behind=line, attempts=attempts + 1, line=line)
        try:
            await self._run(list_id)
        except ClaimLost:
            raise
        except (Unavailable, GaveWay, asyncio.CancelledError):
            with suppress(Exception):  # if it cannot be said, that is an attempt
                await self._keep(attempts=attempts)
            raise
        except Exception as error:
            if attempts + 1 < _MOST_ATTEMPTS:
                raise
            await self._give_up(f"an error ({type(error).__name__})")

    async def _keep(self, **progress: int) -> None:
        self._progress = self._progress | progress
        await self._job.keep(self._progress)

    async def _run(self, list_id: int) -> None:
        """Import what is left of the file.

        :raises ClaimLost: if another worker is at it.
        :raises GaveWay: if others have waited for their turn.
        """
        try:
            opened = await asyncio.to_thread(self._opened)
            await self._begin(opened)
            await self._import(opened, list_id)
        except Unreadable as broken:
            # What stands before the broken place was imported, and the report and the counts say so.
            await self._end("failed", error=str(broken), line=broken.line)
        else:
            await self._end("done")

    def _opened(self) -> Opened:
        if self._file.parent.is_dir() and not self._file.exists():
            # As after a restore of an older database. It will not come back, and the next file need not wait.
            raise Unreadable("The file is not where it was kept; send it again.")
        return open_file(self._file)

    async def _begin(self, opened: Opened) -> None:
        begun = self.standing._replace(state="running", encoding=opened.encoding, lines=opened.line_count)
        if opened.encoding != WINDOWS or begun.line:
            await self._say(begun)
            return
        remark = Remark(1, "", "", f"the file is read as {WINDOWS}, since it is no UTF-8", "UTF-8", is_refusal=False)
        await self._say(begun._replace(line=1, warnings=1), [remark])

    async def _end(self, state: str, *, error: str = "", line: int = 0) -> None:
        """Say that the import is over, in its report too if there is an error: who sent it may see nothing else."""
        allowed = "a file that can be read; nothing of it was imported"
        if self.standing.is_dry_run:
            allowed = "a file that can be read; a dry run stores nothing"
        elif self.standing.line > 1:
            allowed = f"the rows up to line {self.standing.line} are done, and change nothing when they are sent again"
        remarks = [Remark(line, "", "", error, allowed)] if error else []
        await self._say(self.standing._replace(state=state, error=error, finished_at=utc_stamp(utc_now())), remarks)

    async def _give_up(self, why: str) -> None:
        """Say that the import is over, and why it came no further."""
        line = self.standing.line
        error = f"Given up after {_MOST_ATTEMPTS} attempts behind line {line}: {why}."
        await self._end("failed", error=error, line=line + 1)

    def put_away(self) -> None:
        """Take the file from where it waited: back to who put it there by SFTP, or remove it."""
        standing = self.standing
        if standing.origin == BY_SFTP:
            is_done = standing.state == "done" and not standing.refused
            put_away_with_report(
                (done if is_done else failed)(self._space),
                file=self._file,
                file_name=standing.file_name,
                number=standing.id,
                report=self._report,
            )
        self._file.unlink(missing_ok=True)

    async def _import(self, opened: Opened, list_id: int) -> None:
        reader = Reader(opened.columns, caller=self._caller, list_id=list_id)
        batches = _batches(opened, reader, after=self.standing.line)
        begun, unsaid, turn_ends = self.standing.line, 0, monotonic() + _TURN_SECONDS
        # Whether it pays to look at what stands before the transaction, where it is looked at anyway: while at least
        # half of the rows change nothing. A file tends to be of one kind.
        looks_first = True
        # Reading is pure CPU: in a thread, so that the claim on the job is kept alive meanwhile.
        while batch := await asyncio.to_thread(next, batches, None):
            before = self.standing
            if monotonic() > turn_ends and before.line > begun:
                await self._say(before)
                await self._job.give_way()
            rows = await self._rows(reader, batch, list_id, looks_first=looks_first)
            products = [row.product for row in rows.values() if row.product is not None]
            if products and not before.is_dry_run:
                await self._store(batch, rows, products)
                unsaid = 0
            else:
                # Done again, these rows change nothing again.
                standing, remarks = self._counted(batch, rows, await self._tried(products) if products else ())
                unsaid += 1
                if remarks or unsaid == _SAID_EVERY:
                    await self._say(standing, remarks)
                    unsaid = 0
                else:
                    self.standing = standing
            looks_first = (self.standing.unchanged - before.unchanged) * 2 >= len(batch)

    async def _rows(self, reader: Reader, batch: list[Cells], list_id: int, *, looks_first: bool) -> dict[int, Row]:
        """Check the rows, if it looks first only those that are not as the products stand already; by line."""
        if not looks_first:
            return {cells.line: reader.checked(cells) for cells in batch}
        numbers = [cells.article_number for cells in batch if not CONTROL.search(cells.article_number)]
        async with self._db.reading(self._caller.instance_id, slow=True) as read:
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

    async def _store(self, batch: list[Cells], rows: dict[int, Row], products: list[ProductImport]) -> None:
        async def store(write: Write) -> Import:
            outcomes = await import_products(write, products)
            return await self._write_standing(write, *self._counted(batch, rows, outcomes))

        await self._writing(store)

    async def _tried(self, products: list[ProductImport]) -> Sequence[str | Refusal]:
        async def undone(write: Write) -> None:
            raise _DryRun(await import_products(write, products))

        try:
            await self._db.writing(self._caller.instance_id, undone)
        except _DryRun as dry:
            return dry.outcomes
        raise AssertionError("a dry run is never stored")

    async def _say(self, standing: Import, remarks: Sequence[Remark] = ()) -> None:
        await self._writing(lambda write: self._write_standing(write, standing, remarks))

    async def _writing(self, work: Callable[[Write], Awaitable[Import]]) -> None:
        self.standing = await self._db.writing(self._caller.instance_id, work)
        self._progress = self._progress | {"line": self.standing.line}

    async def _write_standing(self, write: Write, standing: Import, remarks: Sequence[Remark]) -> Import:
        # First: where another worker took this one for dead, the report is no longer this one's to write.
        await self._job.keep_within(write, self._progress | {"line": standing.line})
        try:
            length = write_report(self._report, remarks, after=standing.report_bytes)
        except OSError as error:
            raise Unavailable(f"The report of an import cannot be written: {error.strerror}.") from error
        after = standing._replace(report_bytes=length)
        await write.update(imports, [after])
        return after

    def _counted(
        self, batch: list[Cells], rows: dict[int, Row], outcomes: Sequence[str | Refusal]
    ) -> tuple[Import, list[Remark]]:
        """Count what became of rows, and say what is wrong with them."""
        stored = iter(outcomes)
        remarks: list[Remark] = []
        counts = {"created": 0, "updated": 0, "unchanged": 0, "refused": 0}
        for cells in batch:
            row = rows.get(cells.line)
            remarks += cells.remarks if row is None else row.remarks
            if row is None:
                outcome = "unchanged"
            elif row.product is None:
                outcome = "refused"
            elif isinstance(found := next(stored), Refusal):
                remarks.append(refused(cells.line, cells.article_number, found))
                outcome = "refused"
            else:
                outcome = found
            counts[outcome] += 1
        standing = self.standing
        warnings = sum(not remark.is_refusal for remark in remarks)
        after = {name: getattr(standing, name) + count for name, count in counts.items()}
        return standing._replace(line=batch[-1].line, warnings=standing.warnings + warnings, **after), remarks


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
    except Unreadable:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
