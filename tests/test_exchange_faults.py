"""Imports and exports when something breaks or races: killed processes, workers that are late, databases that go away.

Three promises are tested: what an import says of a line stands, and is said once; files for an instance are done in the
order they were asked for; and whatever happens, an import ends and the next file gets its turn.
"""

import asyncio
import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from stammdaten.auth import operations as auth
from stammdaten.auth.callers import Caller
from stammdaten.auth.logins import create_login, password_hash, remove_login
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.clock import german_stamp, utc_now, utc_stamp
from stammdaten.exchange.daily import EXPORT_DAILY
from stammdaten.exchange.exporting import Wanted, exports_folder, order_export
from stammdaten.exchange.orders import BY_COMMAND, BY_SFTP, Given, Import, kept_file, order_import, report_file
from stammdaten.exchange.sftp.folders import done, failed, make_space, outgoing, space
from stammdaten.exchange.working import exchange_worker
from stammdaten.jobs.queue import ask
from stammdaten.lists.operations import create_list, delete_list
from stammdaten.settings import Settings
from stammdaten.store import Store, Write, open_store
from tests.processes import PATIENCE, STAMMDATEN, Served, environment, halting, wait_until
from tests.test_commands import execute
from tests.test_faults import PREFIX, disagreements, make_account, only_postgresql, rows_of
from tests.test_screening_faults import go_on, kill

SLUG = "spare-parts"
HEADER = "article_number;description1;country_of_origin_made_in\n"
# Three batches come, and then more: where processes stand still (see `halting`), they are at the third.
ROWS = 4_000
TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
WORKER = [sys.executable, "-m", "stammdaten.exchange", str(os.getpid())]
# Looks for jobs until it is killed, so that several are at it all the time.
RESTLESS = """
import asyncio
from stammdaten.exchange.working import exchange_worker
from stammdaten.settings import read_settings
from stammdaten.store import open_store

async def work():
    settings = read_settings()
    async with await open_store(settings) as store:
        worker = exchange_worker(store, settings.home)
        while True:
            if not await worker.work_once():
                await asyncio.sleep(0.01)

asyncio.run(work())
"""


def text_of(rows: int, name: str = "Bolt") -> str:
    """Return a file of articles; of each hundred one is refused, and one has a country that there is not."""
    lines = [f"A-{row};{'' if row % 100 == 7 else name};{'ZZ' if row % 100 == 8 else ''}\n" for row in range(rows)]
    return HEADER + "".join(lines)


async def instance_id(store: Store, prefix: str = PREFIX) -> int:
    """Return the id of an instance."""
    async with store.reading_shared() as read:
        found = await instance_by_prefix(read, prefix)
    assert found is not None
    return found[0]


def ordered(
    settings: Settings,
    text: str,
    *,
    prefix: str = PREFIX,
    is_dry_run: bool = False,
    origin: str = BY_COMMAND,
    name: str = "articles.csv",
) -> Import:
    """Ask for the import of a file."""
    file = settings.home / f"given-{time.monotonic_ns()}"
    file.write_text(text)

    async def order() -> Import:
        async with await open_store(settings) as store:
            caller = Caller(await instance_id(store, prefix), prefix, 1, "anna", frozenset())
            given = Given(file, SLUG, name, origin, is_dry_run)
            return await order_import(store, caller, given, home=settings.home)

    return asyncio.run(order())


def standing(settings: Settings, import_id: int) -> Import:
    """Return how an import stands."""
    (row,) = rows_of(settings, f"SELECT {', '.join(Import._fields)} FROM imports WHERE id = {import_id}")
    return Import(*row)


def newest(settings: Settings) -> Import | None:
    """Return the import that was asked for last."""
    rows = rows_of(settings, f"SELECT {', '.join(Import._fields)} FROM imports ORDER BY id DESC LIMIT 1")
    return Import(*rows[0]) if rows else None


def owner(settings: Settings, prefix: str = PREFIX) -> int:
    """Return the id of an instance, read past the service."""
    return int(rows_of(settings, f"SELECT id FROM instances WHERE prefix = '{prefix}'")[0][0])


def report_of(settings: Settings, import_id: int) -> list[tuple[int, str]]:
    """Return line and column of each line of an import's report."""
    with report_file(settings.home, owner(settings), import_id).open(newline="") as report:
        return [(int(line["line"]), line["column"]) for line in csv.DictReader(report, delimiter=";")]


def articles(settings: Settings) -> dict[str, str]:
    """Return the designations of all products by number."""
    found = rows_of(settings, "SELECT article_number, designation FROM products")
    assert len({number for number, _ in found}) == len(found)
    return dict(found)


def started(settings: Settings, *words: str, halt: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a process that works off what is due, but stands still where and while `halt` says so."""
    environ = environment(settings) | halting(halt)
    return subprocess.Popen(words or WORKER, env=environ, stderr=subprocess.DEVNULL)


def work(settings: Settings) -> None:
    """Work off what is due, in a process of its own."""
    assert started(settings).wait(PATIENCE) == 0


def work_here(settings: Settings) -> None:
    """Work off what is due, in this process, as often as tests need that."""

    async def work_off() -> None:
        async with await open_store(settings) as store:
            worker = exchange_worker(store, settings.home)
            while await worker.work_once():
                pass

    asyncio.run(work_off())


def now_due(settings: Settings) -> None:
    """Move what waits for another attempt to now."""
    execute(settings, "UPDATE jobs SET due_at = '2001-01-01T00:00:00.000000Z' WHERE state = 'waiting'")


def wait_for_line(settings: Settings, line: int) -> None:
    """Wait until the import that was asked for last has come so far."""
    wait_until(lambda: (found := newest(settings)) is not None and found.line > line)


def wait_within_batch(settings: Settings, line: int) -> None:
    """Wait until the batch behind that line is all but stored: its remarks are in the report, and nobody knows yet."""
    wait_for_line(settings, line - 1)
    found = newest(settings)
    assert found is not None
    report = report_file(settings.home, owner(settings), found.id)
    wait_until(lambda: report.stat().st_size > found.report_bytes)


def check_complete(settings: Settings, import_id: int, *, rows: int = ROWS) -> None:
    """Check that each row was done once, and was told of once if something was wrong with it."""
    ended = standing(settings, import_id)
    refused, warned = range(7, rows, 100), range(8, rows, 100)
    assert (ended.state, ended.error, ended.line) == ("done", "", rows + 1)
    assert ended.created + ended.updated + ended.unchanged + ended.refused == rows
    assert (ended.refused, ended.warnings) == (len(refused), len(warned))
    assert articles(settings).keys() == {f"A-{row}" for row in range(rows) if row % 100 != 7}
    wrong = [(row + 2, "description1") for row in refused] + [(row + 2, "country_of_origin_made_in") for row in warned]
    assert report_of(settings, import_id) == sorted(wrong)
    assert rows_of(settings, "SELECT state FROM jobs WHERE state <> 'done'") == []
    assert disagreements(settings) == []


def has_ended(process: psutil.Process) -> bool:
    """Whether a process does nothing any more."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# ------------------------------------------------------------------------------------ the process ends


class TestKilledImport:
    """The process that imports is killed, or told to stop, and another one goes on."""

    @pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
    @pytest.mark.parametrize("way", ["worker", "command"])
    def test_goes_on_behind_the_last_line(
        self, fresh: Settings, tmp_path: Path, way: str, sent: signal.Signals
    ) -> None:
        """Killed in a transaction that is all but over; stopped between two."""
        make_account(fresh)
        file = tmp_path / "articles.csv"
        file.write_text(text_of(ROWS))
        by_command = [STAMMDATEN, "import", "--prefix", PREFIX, "--list", SLUG, str(file)]

        if way == "worker":
            ordered(fresh, text_of(ROWS))
        halt = tmp_path / ("report" if sent == signal.SIGKILL else "import")
        process = started(fresh, *(by_command if way == "command" else WORKER), halt=halt)
        wait_for_line(fresh, 1_000)
        if sent == signal.SIGKILL:
            wait_within_batch(fresh, 1_001)
        process.send_signal(sent)
        process.wait(PATIENCE)
        at_kill = newest(fresh)
        assert at_kill is not None
        assert (at_kill.line, at_kill.created, len(articles(fresh))) == (1_001, 990, 990)
        # Only the process of a server, told to stop, can still let go of its job; the other claims have to run out.
        is_let_go = (way, sent) == ("worker", signal.SIGTERM)
        work(fresh)
        assert standing(fresh, at_kill.id).is_over == is_let_go
        go_on(fresh)
        work(fresh)

        check_complete(fresh, at_kill.id)
        assert standing(fresh, at_kill.id).created == len(articles(fresh))
        assert not kept_file(fresh.home, owner(fresh), at_kill.id).exists()

    def test_is_ended_with_the_serving_process(self, fresh: Settings, tmp_path: Path) -> None:
        make_account(fresh)

        with Served(fresh, halt=tmp_path / "import") as served:
            import_id = ordered(fresh, text_of(ROWS)).id
            wait_for_line(fresh, 1_000)
            children = psutil.Process(served.process.pid).children(recursive=True)
            served.process.terminate()
            assert served.process.wait(PATIENCE) == 0, served.log.read_text()

        assert children
        assert all(has_ended(child) for child in children)
        assert standing(fresh, import_id).line == 1_001
        go_on(fresh)
        with Served(fresh):
            wait_until(lambda: standing(fresh, import_id).is_over)
            wait_until(lambda: rows_of(fresh, "SELECT 1 FROM jobs WHERE kind = 'import a file' AND state = 'done'"))
        check_complete(fresh, import_id)

    def test_does_not_outlive_a_serving_process_that_is_killed(self, fresh: Settings, tmp_path: Path) -> None:
        make_account(fresh)

        with Served(fresh, halt=tmp_path / "import") as served:
            import_id = ordered(fresh, text_of(ROWS)).id
            wait_for_line(fresh, 1_000)
            children = psutil.Process(served.process.pid).children(recursive=True)
            kill(served.process)
        wait_until(lambda: all(has_ended(child) for child in children))

        assert children
        assert standing(fresh, import_id).line == 1_001
        go_on(fresh)
        work(fresh)
        check_complete(fresh, import_id)


class TestExchange:
    """The serving process, which starts one that imports."""

    def test_goes_on_where_no_process_could_be_started(self, fresh: Settings) -> None:
        make_account(fresh)

        with Served(fresh) as served:
            serving = psutil.Process(served.process.pid)
            before = serving.rlimit(psutil.RLIMIT_NOFILE)
            serving.rlimit(psutil.RLIMIT_NOFILE, (0, before[1]))
            import_id = ordered(fresh, text_of(10)).id
            # On PostgreSQL, it may be a connection that cannot be had.
            wait_until(lambda: "imports and exports" in served.log.read_text())
            serving.rlimit(psutil.RLIMIT_NOFILE, before)
            wait_until(lambda: standing(fresh, import_id).is_over)

        assert standing(fresh, import_id).state == "done"


class TestKilledDryRun:
    """The process that does a dry run is killed."""

    def test_leaves_nothing_and_ends_right(self, fresh: Settings, tmp_path: Path) -> None:
        make_account(fresh)
        import_id = ordered(fresh, text_of(ROWS), is_dry_run=True).id

        process = started(fresh, halt=tmp_path / "report")
        wait_within_batch(fresh, 1_001)
        kill(process)
        assert standing(fresh, import_id).line == 1_001
        go_on(fresh)
        work(fresh)

        ended = standing(fresh, import_id)
        assert (ended.state, ended.line, ended.created + ended.refused) == ("done", ROWS + 1, ROWS)
        assert len(report_of(fresh, import_id)) == ended.refused + ended.warnings == 2 * (ROWS // 100)
        assert articles(fresh) == {}
        assert rows_of(fresh, "SELECT count(*) FROM actions") == [(0,)]


# ------------------------------------------------------------------------------------ workers at the same time


@contextmanager
def stopped(settings: Settings, process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Stop a process in a moment in which it holds up no other, as a machine does that is suspended."""
    while True:
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
        with suppress(Exception):
            nothing = "UPDATE clocks SET last_id = last_id"
            execute(settings, f"PRAGMA busy_timeout = 0; {nothing}" if settings.database_url is None else LOCKED)
            break
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


LOCKED = "DO $$ BEGIN PERFORM 1 FROM clocks FOR UPDATE NOWAIT; END $$"


class TestLateWorker:
    """A worker that was taken for dead and is not: it goes on while another one is at its import."""

    @pytest.mark.parametrize("is_over", [False, True])
    def test_does_no_harm(self, fresh: Settings, tmp_path: Path, is_over: bool) -> None:  # noqa: FBT001 - a table
        make_account(fresh)
        import_id = ordered(fresh, text_of(ROWS)).id
        halts = [tmp_path / name / "import" for name in ("late", "other")]
        late = started(fresh, halt=halts[0])
        wait_for_line(fresh, 1_000)

        with stopped(fresh, late):
            go_on(fresh)
            other = started(fresh, halt=halts[1])
            wait_for_line(fresh, 2_000)
            if is_over:
                halts[1].unlink()
                assert other.wait(PATIENCE) == 0
            halts[0].unlink()
        assert late.wait(PATIENCE) == 0
        assert standing(fresh, import_id).line == (ROWS + 1 if is_over else 2_001)
        halts[1].unlink(missing_ok=True)
        assert other.wait(PATIENCE) == 0

        check_complete(fresh, import_id)
        assert standing(fresh, import_id).created == len(articles(fresh))


class TestOrder:
    """Several files, several workers."""

    def test_is_kept_among_the_files_of_an_instance(self, fresh: Settings) -> None:
        make_account(fresh)
        names = ["first", "second", "third", "fourth"]
        ids = [ordered(fresh, text_of(2_000, name)).id for name in names]

        workers = [started(fresh, sys.executable, "-c", RESTLESS) for _ in range(3)]
        try:
            wait_until(lambda: not rows_of(fresh, "SELECT 1 FROM jobs WHERE state <> 'done'"))
        finally:
            for worker in workers:
                kill(worker)

        counted = [(ended.created, ended.updated) for ended in (standing(fresh, import_id) for import_id in ids)]
        assert counted == [(1_980, 0), *[(0, 1_980)] * 3]
        assert set(articles(fresh).values()) == {"fourth"}
        check_complete(fresh, ids[-1], rows=2_000)

    def test_holds_up_no_other_instance(self, fresh: Settings) -> None:
        make_account(fresh)
        make_other(fresh, "bruno")
        ours = [ordered(fresh, text_of(10, name)).id for name in ("first", "second")]
        theirs = ordered(fresh, text_of(10), prefix="bruno").id
        claimed = "state = 'running', claimed_by = 'somebody', claimed_until = '2999-01-01T00:00:00.000000Z'"

        execute(fresh, f"UPDATE jobs SET {claimed} WHERE id = (SELECT min(id) FROM jobs)")
        work_here(fresh)
        while_first = [found.state for found in rows_by_id(fresh, [*ours, theirs], prefixes=[PREFIX, PREFIX, "bruno"])]
        go_on(fresh)
        work_here(fresh)
        after = [found.state for found in rows_by_id(fresh, [*ours, theirs], prefixes=[PREFIX, PREFIX, "bruno"])]

        assert while_first == ["waiting", "waiting", "done"]
        assert after == ["done"] * 3

    def test_lets_a_file_of_another_instance_pass_a_large_one(self, fresh: Settings) -> None:
        """The large one is a pipe, which nobody writes to: it is not over before the other, however fast all is."""
        make_account(fresh)
        make_other(fresh, "bruno")
        ours = ordered(fresh, HEADER).id
        pipe = kept_file(fresh.home, owner(fresh), ours)
        pipe.unlink()
        os.mkfifo(pipe)

        worker = started(fresh)
        try:
            wait_until(lambda: not rows_of(fresh, "SELECT 1 FROM jobs WHERE state = 'waiting'"))
            theirs = ordered(fresh, text_of(10), prefix="bruno").id
            wait_until(lambda: rows_by_id(fresh, [theirs], prefixes=["bruno"])[0].is_over)
            over = [found.is_over for found in rows_by_id(fresh, [ours, theirs], prefixes=[PREFIX, "bruno"])]
        finally:
            worker.terminate()

        assert over == [False, True]
        assert worker.wait(PATIENCE) == 0
        # Given back, for whoever is there next.
        assert rows_of(fresh, "SELECT state, attempts FROM jobs ORDER BY id LIMIT 1") == [("waiting", 0)]


def make_other(settings: Settings, prefix: str) -> None:
    """Make another account with a list of the same slug."""

    async def make() -> None:
        async with await open_store(settings) as store:
            await store.writing_shared(lambda write: auth.create_account(write, name=prefix, prefix=prefix))
            at = await instance_id(store, prefix)
            await store.writing(at, lambda write: create_list(write, name="Spare Parts", slug=SLUG))

    asyncio.run(make())


def rows_by_id(settings: Settings, ids: list[int], *, prefixes: list[str]) -> list[Import]:
    """Return how imports of several instances stand, whose ids may be the same."""
    fields = ", ".join(Import._fields)
    return [
        Import(*rows_of(settings, f"SELECT {fields} FROM imports WHERE id = {at} AND instance_id = {whose}")[0])
        for at, whose in zip(ids, [owner(settings, prefix) for prefix in prefixes], strict=True)
    ]


# ------------------------------------------------------------------------------------ the database goes away


class TestDatabaseAway:
    """The database goes away while a file is imported; that is no fault of the file."""

    @only_postgresql
    def test_for_a_moment_is_survived(self, fresh: Settings, tmp_path: Path) -> None:
        """More often than an import is tried, and in the middle of a transaction."""
        make_account(fresh)
        import_id = ordered(fresh, text_of(8_000)).id
        halt = tmp_path / "report"

        for line in range(1_001, 7_000, 1_000):
            process = started(fresh, halt=halt)
            wait_within_batch(fresh, line)
            rows_of(fresh, TERMINATE)
            halt.unlink()
            process.wait(PATIENCE)
            assert standing(fresh, import_id).line == line
            go_on(fresh)
            now_due(fresh)
        work(fresh)

        check_complete(fresh, import_id, rows=8_000)

    @only_postgresql
    def test_again_and_again_is_no_reason_to_give_up(self, fresh: Settings) -> None:
        """Each attempt ends behind the same line, as when the server is shut down; more often than a defect may."""
        make_account(fresh)
        shutdown = "RAISE EXCEPTION USING ERRCODE = '57P01'"
        when_inserted(fresh, "A-1500", sqlite="", postgresql=shutdown)
        import_id = ordered(fresh, text_of(2_000)).id

        for _ in range(8):
            work_here(fresh)
            now_due(fresh)
        stuck = standing(fresh, import_id)
        execute(fresh, "DROP TRIGGER broken ON products")
        work_here(fresh)

        assert (stuck.state, stuck.line) == ("running", 1_501)
        check_complete(fresh, import_id, rows=2_000)

    @pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
    def test_on_a_full_disk_is_survived(self, fresh: Settings, tmp_path: Path) -> None:
        """No file may grow over a limit, as if the disk were full, more often than an import is tried."""
        make_account(fresh)
        import_id = ordered(fresh, text_of(8_000)).id
        halt = tmp_path / "import"

        for line in range(1_001, 7_000, 1_000):
            process = started(fresh, halt=halt)
            wait_for_line(fresh, line - 1)
            limit(process, 4_096)
            halt.unlink()
            process.wait(PATIENCE)
            assert standing(fresh, import_id).line == line
            go_on(fresh)
            now_due(fresh)
        work(fresh)

        check_complete(fresh, import_id, rows=8_000)


def limit(process: subprocess.Popen[bytes], size: int) -> None:
    """Let a process write no file further than so many bytes."""
    psutil.Process(process.pid).rlimit(psutil.RLIMIT_FSIZE, (size, psutil.RLIM_INFINITY))


# ------------------------------------------------------------------------------------ what never works


def when_inserted(settings: Settings, article_number: str, *, sqlite: str, postgresql: str) -> None:
    """Let the database do something when an article comes."""
    if settings.database_url is None:
        when = f"BEFORE INSERT ON products WHEN NEW.article_number = '{article_number}'"
        execute(settings, f"CREATE TRIGGER broken {when} BEGIN {sqlite}; END")
        return
    function = f"RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {postgresql}; RETURN NEW; END $$"
    when = f"BEFORE INSERT ON products FOR EACH ROW WHEN (NEW.article_number = '{article_number}')"
    execute(settings, f"CREATE FUNCTION broken() {function}; CREATE TRIGGER broken {when} EXECUTE FUNCTION broken()")


def attempts_until_over(settings: Settings, import_id: int) -> int:
    """Work, without the waits, until an import is over; return how often it took."""
    for attempt in range(1, 20):
        work_here(settings)
        if standing(settings, import_id).is_over:
            return attempt
        now_due(settings)
    raise AssertionError("it is tried for ever")


class TestGivenUp:
    """An import that cannot be done: it says so, and makes way."""

    def test_after_five_attempts_where_we_have_a_defect(self, fresh: Settings) -> None:
        make_account(fresh)
        raised = "RAISE EXCEPTION 'a defect'"
        when_inserted(fresh, "A-1500", sqlite="SELECT RAISE(ABORT, 'a defect')", postgresql=raised)
        import_id = ordered(fresh, text_of(2_000), origin=BY_SFTP).id
        following = ordered(fresh, text_of(10, "Nut")).id

        attempts = attempts_until_over(fresh, import_id)

        ended = standing(fresh, import_id)
        # The first came up to the line, and five no further.
        assert attempts == 6
        assert (ended.state, ended.line, ended.created, ended.refused) == ("failed", 1_501, 1_485, 15)
        assert ended.error.startswith("Given up after 5 attempts behind line 1501: an error (")
        assert (failed(space(fresh.home, PREFIX)) / "articles.csv").read_text() == text_of(2_000)
        assert standing(fresh, following).state == "done"
        assert articles(fresh)["A-1"] == "Nut"

    def test_after_five_attempts_where_the_process_dies_each_time(self, fresh: Settings) -> None:
        make_account(fresh)
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        when_inserted(fresh, "A-1", sqlite=endless, postgresql="PERFORM pg_sleep(60)")
        import_id = ordered(fresh, text_of(10)).id
        following = ordered(fresh, text_of(1)).id

        for attempt in range(1, 6):
            process = started(fresh)
            said = f'{{"behind": 0, "attempts": {attempt}, "line": 0}}'
            wait_until(lambda said=said: rows_of(fresh, f"SELECT 1 FROM jobs WHERE progress = '{said}'"))
            kill(process)
            if fresh.database_url is not None:
                rows_of(fresh, TERMINATE)
            assert not standing(fresh, import_id).is_over
            go_on(fresh)
        work(fresh)

        ended = standing(fresh, import_id)
        assert (ended.state, ended.created) == ("failed", 0)
        assert ended.error == "Given up after 5 attempts behind line 0: each attempt ended without a word."
        assert standing(fresh, following).state == "done"

    def test_where_the_file_has_vanished(self, fresh: Settings) -> None:
        make_account(fresh)
        import_id = ordered(fresh, text_of(10)).id
        following = ordered(fresh, text_of(1)).id
        kept_file(fresh.home, owner(fresh), import_id).unlink()

        attempts = attempts_until_over(fresh, import_id)

        ended = standing(fresh, import_id)
        assert (attempts, ended.state) == (1, "failed")
        assert ended.error == "The file is not where it was kept; send it again."
        assert standing(fresh, following).state == "done"

    def test_where_the_file_cannot_be_put_away(self, fresh: Settings) -> None:
        """The import itself is over; the file stays where it is, and holds up no other."""
        make_account(fresh)
        import_id = ordered(fresh, text_of(1), origin=BY_SFTP).id
        following = ordered(fresh, text_of(1)).id
        folder = done(make_space(fresh.home, PREFIX))
        folder.rmdir()
        folder.write_text("no folder")

        for _ in range(5):
            work_here(fresh)
            now_due(fresh)

        assert [standing(fresh, number).state for number in (import_id, following)] == ["done", "done"]
        assert kept_file(fresh.home, owner(fresh), import_id).read_text() == text_of(1)

    def test_row_by_row_where_the_list_is_deleted_meanwhile(self, fresh: Settings) -> None:
        _, list_id = make_account(fresh)
        import_id = ordered(fresh, text_of(10)).id

        remove_list(fresh, list_id)
        work_here(fresh)

        ended = standing(fresh, import_id)
        assert (ended.state, ended.refused) == ("done", 10)
        assert articles(fresh) == {}


def remove_list(settings: Settings, list_id: int) -> None:
    """Delete a list."""

    async def remove() -> None:
        async with await open_store(settings) as store:
            await store.writing(await instance_id(store), lambda write: delete_list(write, list_id=list_id))

    asyncio.run(remove())


class TestOrderImport:
    """A file that is given, where the order fails."""

    def test_leaves_the_file_where_it_was(self, fresh: Settings) -> None:
        make_account(fresh)
        execute(fresh, "DROP TABLE jobs")

        with pytest.raises(Exception):  # noqa: B017, PT011 - whatever a broken database says
            ordered(fresh, "article_number\nA-1\n")

        (given,) = fresh.home.glob("given-*")
        assert given.read_text() == "article_number\nA-1\n"
        assert given.stat().st_nlink == 1
        assert list(fresh.home.glob("imports/*/*")) == []


# ------------------------------------------------------------------------------------ exports


def filled(settings: Settings, rows: int = ROWS) -> None:
    """Make an account with articles."""
    make_account(settings)
    ordered(settings, text_of(rows))
    work(settings)


def order(settings: Settings, wanted: Wanted) -> str:
    """Ask for an export; return the key of its job."""

    async def ask_for() -> str:
        async with await open_store(settings) as store:
            return await order_export(store, await instance_id(store), wanted)

    return asyncio.run(ask_for())


def exported(file: Path) -> list[tuple[str, str]]:
    """Return article numbers and designations of an exported file, in order."""
    with file.open(newline="") as lines:
        return sorted((line["article_number"], line["description1"]) for line in csv.DictReader(lines, delimiter=";"))


class TestKilledExport:
    """The process that exports is killed."""

    @pytest.mark.parametrize("form", ["csv", "xlsx"])
    def test_leaves_no_half_file_under_its_name(self, fresh: Settings, tmp_path: Path, form: str) -> None:
        filled(fresh)
        key = order(fresh, Wanted(SLUG, "", form))
        folder = exports_folder(fresh.home, key)

        halt = tmp_path / "export"
        process = started(fresh, halt=halt)
        wait_until(lambda: halt.stat().st_size)
        assert any(folder.iterdir())
        kill(process)
        left = list(folder.glob("stammdaten___*"))
        go_on(fresh)
        work(fresh)

        assert left == []
        (file,) = folder.glob("stammdaten___*")
        assert rows_of(fresh, f"SELECT state, report FROM jobs WHERE key = '{key}'") == [
            ("done", f'{{"files": ["{file.name}"]}}')
        ]
        if form == "csv":
            assert exported(file) == sorted(articles(fresh).items())

    def test_is_fetched_by_the_command_all_the_same(self, fresh: Settings, tmp_path: Path) -> None:
        """Of its files and what was left of the first attempt nothing remains in the service's folder."""
        filled(fresh)
        out, halt = tmp_path / "out", tmp_path / "export"
        words = [STAMMDATEN, "export", "--prefix", PREFIX, "--out", str(out)]

        # Either of them may be the one that exports.
        with Served(fresh, halt=halt) as served:
            fetching = started(fresh, *words, halt=halt)
            wait_until(lambda: any(fresh.home.glob("exports/*/*")))
            (folder,) = (fresh.home / "exports").iterdir()
            (folder / ".left.part").write_text("half")
            halt.unlink()
            assert fetching.wait(PATIENCE) == 0, served.log.read_text()

        (file,) = out.iterdir()
        assert exported(file) == sorted(articles(fresh).items())
        assert list((fresh.home / "exports").iterdir()) == []

    def test_is_given_up_where_the_process_dies_each_time(self, fresh: Settings) -> None:
        filled(fresh, rows=10)
        order(fresh, Wanted())
        execute(fresh, "UPDATE jobs SET attempts = 5, state = 'running' WHERE kind = 'export lists'")

        work_here(fresh)

        said = rows_of(fresh, "SELECT state, report FROM jobs WHERE kind = 'export lists'")
        assert said == [("failed", "given up: each attempt ended without a word")]


class TestExports:
    """Exports beside each other."""

    def test_are_whole_when_two_workers_do_the_same(self, fresh: Settings, tmp_path: Path) -> None:
        """The first was taken for dead, and articles have changed since: it writes other rows than the second."""
        filled(fresh)
        folder = exports_folder(fresh.home, order(fresh, Wanted(SLUG)))
        halt = tmp_path / "export"

        late = started(fresh, halt=halt)
        wait_until(lambda: halt.stat().st_size)
        with stopped(fresh, late):
            execute(fresh, "UPDATE products SET designation = 'A longer name than before'")
            go_on(fresh)
            work(fresh)
            (second,) = folder.glob("stammdaten___*")
            by_second = exported(second)
            halt.unlink()
        assert late.wait(PATIENCE) == 0

        assert by_second == sorted(articles(fresh).items())
        # Begun in another minute, it has another name.
        by_first = next(rows for rows in map(exported, folder.iterdir()) if rows != by_second)
        assert [number for number, _ in by_first] == sorted(articles(fresh))
        assert {name for _, name in by_first} == {"Bolt", "A longer name than before"}

    def test_of_a_list_that_was_deleted_meanwhile_are_refused(self, fresh: Settings) -> None:
        _, list_id = make_account(fresh)
        order(fresh, Wanted(SLUG))

        remove_list(fresh, list_id)
        work_here(fresh)

        said = rows_of(fresh, "SELECT report FROM jobs WHERE kind = 'export lists'")
        assert said == [('{"refused": "The product list was deleted meanwhile."}',)]

    def test_of_two_commands_at_once_are_both_fetched(self, fresh: Settings, tmp_path: Path) -> None:
        filled(fresh)
        words = [STAMMDATEN, "export", "--prefix", PREFIX, "--out"]

        folders = [tmp_path / name for name in ("one", "two")]
        fetching = [subprocess.Popen([*words, str(folder)], env=environment(fresh)) for folder in folders]
        assert [process.wait(PATIENCE) for process in fetching] == [0, 0]

        for folder in folders:
            (file,) = folder.iterdir()
            assert exported(file) == sorted(articles(fresh).items())
        assert list((fresh.home / "exports").iterdir()) == []


class TestDailyExports:
    """Every list of instances that have a folder for SFTP, once a day."""

    def test_appear_where_there_is_a_folder_and_are_removed_in_time(self, fresh: Settings, tmp_path: Path) -> None:
        filled(fresh, rows=10)
        make_other(fresh, "bruno")
        folder = outgoing(let_exchange(fresh, PREFIX))
        old = ["stammdaten___spare-parts.2020.01.01.00.00.csv", ".stammdaten___gone.2020.01.01.00.00.csv.0a.part"]
        young, foreign = "stammdaten___spare-parts.2026.01.01.00.00.csv", "contract.pdf"
        for name in (*old, young, foreign):
            (folder / name).write_text(name)
        for name in (*old, foreign):
            os.utime(folder / name, (1_500_000_000,) * 2)

        ask_daily(fresh, times=2)
        work(fresh)

        kept = {file.name for file in folder.iterdir()}
        assert {young, foreign} < kept
        assert kept.isdisjoint(old)
        (file,) = [folder / name for name in kept - {young, foreign}]
        assert exported(file) == sorted(articles(fresh).items())
        assert not space(fresh.home, "bruno").exists()
        assert rows_of(fresh, "SELECT state, report FROM jobs WHERE kind = 'daily exports'") == [
            ("done", "exported lists: 1")
        ]

    def test_end_with_the_last_login(self, fresh: Settings) -> None:
        filled(fresh, rows=10)
        folder = outgoing(let_exchange(fresh, PREFIX))
        in_instance(fresh, PREFIX, lambda write: remove_login(write, name=f"{PREFIX}-erp"))

        ask_daily(fresh)
        work_here(fresh)

        assert list(folder.iterdir()) == []

    def test_go_on_behind_the_last_instance(self, fresh: Settings) -> None:
        filled(fresh, rows=10)
        make_other(fresh, "bruno")
        for prefix in (PREFIX, "bruno"):
            let_exchange(fresh, prefix)
        ask_daily(fresh)
        died = "state = 'running', claimed_by = 'somebody', progress = '{\"after\": \"acme\"}'"

        execute(fresh, f"UPDATE jobs SET {died} WHERE kind = 'daily exports'")
        work_here(fresh)

        assert list(outgoing(space(fresh.home, PREFIX)).iterdir()) == []
        assert len(list(outgoing(space(fresh.home, "bruno")).iterdir())) == 1


def let_exchange(settings: Settings, prefix: str) -> Path:
    """Make an SFTP login for an instance, and return the folder that its users see."""

    async def create(write: Write) -> None:
        await auth.create_user(write, name="erp", roles=["api-user"])
        await create_login(write, name=f"{prefix}-erp", user_name="erp", proof=password_hash("a password"))

    in_instance(settings, prefix, create)
    return make_space(settings.home, prefix)


def in_instance(settings: Settings, prefix: str, work: Callable[[Write], Awaitable[None]]) -> None:
    """Run work in a transaction of one instance."""

    async def run() -> None:
        async with await open_store(settings) as store:
            await store.writing(await instance_id(store, prefix), work)

    asyncio.run(run())


def ask_daily(settings: Settings, *, times: int = 1) -> None:
    """Ask for the daily exports, as each serving process does."""
    today = german_stamp(utc_now())[:10]

    async def ask_for() -> Any:
        async with await open_store(settings) as store:
            asked = (ask(store, kind=EXPORT_DAILY, key=today, now=utc_stamp(utc_now())) for _ in range(times))
            return await asyncio.gather(*asked)

    assert sum(asyncio.run(ask_for())) == 1


class TestCommand:
    """`stammdaten import`, where the database goes away meanwhile."""

    @only_postgresql
    def test_ends_or_goes_on_but_never_hangs(self, fresh: Settings, tmp_path: Path) -> None:
        make_account(fresh)
        file = tmp_path / "articles.csv"
        file.write_text(text_of(ROWS))
        words = [STAMMDATEN, "import", "--prefix", PREFIX, "--list", SLUG, str(file)]

        halt = tmp_path / "report"
        process = started(fresh, *words, halt=halt)
        wait_within_batch(fresh, 1_001)
        rows_of(fresh, TERMINATE)
        halt.unlink()

        def nudged() -> bool:
            go_on(fresh)
            now_due(fresh)
            return process.poll() is not None

        wait_until(nudged)
        work(fresh)

        found = newest(fresh)
        assert found is not None
        check_complete(fresh, found.id)
