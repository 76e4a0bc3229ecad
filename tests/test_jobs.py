"""The queue of jobs and the workers that do them.

There is no HTTP to it: the tests speak to the store, open several times as by several processes. `Worker` knows no
other clock than the wall's: where a test would wait for minutes, it moves the job's times back instead.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, update

from stammdaten.jobs.queue import (
    Claimed,
    ClaimLost,
    ask,
    claim,
    end,
    forget_done,
    keep_claim,
    newest_jobs,
)
from stammdaten.jobs.running import Handler, Job, Worker
from stammdaten.jobs.tables import jobs
from stammdaten.settings import Settings
from stammdaten.store import Row, Statement, Store, open_store, text
from tests.processes import PATIENCE
from tests.test_commands import done, execute

T = TypeVar("T")

_ROWS = Statement(
    select(
        jobs.c.kind,
        jobs.c.key,
        jobs.c.state,
        jobs.c.attempts,
        jobs.c.progress,
        jobs.c.report,
        jobs.c.due_at,
        jobs.c.claimed_by,
        jobs.c.finished_at,
    ).order_by(jobs.c.id)
)
_MOVE = Statement(update(jobs).values(due_at=text("moment"), claimed_until=text("moment")))
_STEAL = Statement(update(jobs).values(claimed_by=text("thief")))
_FINISH = Statement(
    update(jobs)
    .where(jobs.c.key == text("of"))
    .values(state=text("new_state"), finished_at=text("moment"), due_at=text("moment"))
)
_LONG_AGO = "2001-01-01T00:00:00.000000Z"


def at(minutes: float) -> str:
    """Return a moment of a made-up day, as the queue writes moments."""
    moment = datetime(2026, 11, 21, 8, 0, tzinfo=UTC) + timedelta(minutes=minutes)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def ago(**given: float) -> str:
    """Return a moment before now."""
    return (datetime.now(UTC) - timedelta(**given)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@pytest.fixture(scope="module")
def emptied(copied: Callable[[], Settings]) -> Settings:
    """Make a database for the tests of this file, which they empty."""
    return copied()


@pytest.fixture
def database(emptied: Settings) -> Settings:
    """Lend a database without jobs; no service works on it."""
    execute(emptied, "DELETE FROM jobs")
    return emptied


def play(database: Settings, scenario: Callable[..., Awaitable[T]], *, stores: int = 1) -> T:
    """Run a scenario on as many open stores as asked for, each with connections of its own."""

    async def run() -> T:
        async with AsyncExitStack() as stack:
            opened = [await stack.enter_async_context(await open_store(database)) for _ in range(stores)]
            return await scenario(*opened)

    return asyncio.run(run())


async def _ask(store: Store, key: str = "k", *, kind: str = "count", now: str = at(0), **more: Any) -> bool:
    return await ask(store, kind=kind, key=key, now=now, **more)


async def _claim(store: Store, worker: str = "w", *, now: float = 0, until: float = 1) -> Claimed | None:
    kinds = ["count", "daily", "other"]
    return await store.writing_shared(
        lambda write: claim(write, kinds=kinds, worker=worker, now=at(now), until=at(until))
    )


async def _claimed(store: Store, worker: str = "w", *, now: float = 0, until: float = 1) -> Claimed:
    found = await _claim(store, worker, now=now, until=until)
    assert found is not None
    return found


async def _keep(store: Store, job_id: int, worker: str, *, until: float, **more: Any) -> None:
    await store.writing_shared(lambda write: keep_claim(write, job_id=job_id, worker=worker, until=at(until), **more))


async def _end(store: Store, job_id: int, worker: str, state: str, *, due: float = 0) -> None:
    await store.writing_shared(
        lambda write: end(
            write, job_id=job_id, worker=worker, state=state, report="said", due_at=at(due), finished_at=at(5)
        )
    )


async def _ask_and_try(store: Store, key: str = "k", *, due: float) -> None:
    """Ask for a job that fails, and is to be tried again some time."""
    await _ask(store, key)
    await _end(store, (await _claimed(store)).id, "w", "waiting", due=due)


async def _rows(store: Store) -> list[dict[str, Any]]:
    names = ("kind", "key", "state", "attempts", "progress", "report", "due_at", "claimed_by", "finished_at")
    async with store.reading_shared() as read:
        return [dict(zip(names, row, strict=True)) for row in await read.rows(_ROWS)]


async def _run(store: Store, statement: Statement, **values: str) -> None:
    await store.writing_shared(lambda write: write.run(statement, **values))


class TestAsk:
    """`ask`: a kind and key are asked for once."""

    def test_makes_a_job_that_waits(self, database: Settings) -> None:
        async def scenario(store: Store) -> tuple[bool, list[dict[str, Any]]]:
            return await _ask(store), await _rows(store)

        is_new, rows = play(database, scenario)

        assert is_new is True
        assert rows == [
            {
                "kind": "count",
                "key": "k",
                "state": "waiting",
                "attempts": 0,
                "progress": "{}",
                "report": "",
                "due_at": "",
                "claimed_by": "",
                "finished_at": "",
            }
        ]

    def test_makes_one_however_often_it_is_asked(self, database: Settings) -> None:
        async def scenario(store: Store) -> tuple[list[bool], Claimed | None, Claimed | None]:
            asked = [await _ask(store, payload={"number": number}) for number in range(3)]
            return asked, await _claim(store), await _claim(store)

        asked, first, second = play(database, scenario)

        assert asked == [True, False, False]
        assert first is not None
        assert (first.payload, second) == ({"number": 0}, None)

    def test_makes_one_where_many_ask_at_once(self, database: Settings) -> None:
        async def scenario(*stores: Store) -> tuple[list[bool], list[dict[str, Any]]]:
            asked = await asyncio.gather(*(_ask(store) for store in stores for _ in range(4)))
            return list(asked), await _rows(stores[0])

        asked, rows = play(database, scenario, stores=4)

        assert sorted(asked) == [False] * 15 + [True]
        assert len(rows) == 1

    @pytest.mark.parametrize("other", [{"key": "other"}, {"kind": "other"}])
    def test_tells_kinds_and_keys_apart(self, database: Settings, other: dict[str, str]) -> None:
        async def scenario(store: Store) -> list[bool]:
            return [await _ask(store), await _ask(store, **other)]

        assert play(database, scenario) == [True, True]

    @pytest.mark.parametrize("state", ["done", "failed", "waiting"])
    def test_changes_nothing_where_it_was_done(self, database: Settings, state: str) -> None:
        async def scenario(store: Store) -> tuple[bool, list[dict[str, Any]], list[dict[str, Any]]]:
            await _ask(store)
            await _end(store, (await _claimed(store)).id, "w", state)
            before = await _rows(store)
            return await _ask(store, now=at(10)), before, await _rows(store)

        is_new, before, after = play(database, scenario)

        assert is_new is False
        assert after == before

    def test_hands_on_whose_it_is_and_with_what(self, database: Settings) -> None:
        async def scenario(store: Store) -> Claimed:
            await _ask(store, owner=7, payload={"file": "a.csv", "rows": [1, None, "ü"]})
            return await _claimed(store)

        claimed = play(database, scenario)

        assert claimed == Claimed(claimed.id, "w", "count", 7, {"file": "a.csv", "rows": [1, None, "ü"]}, {}, 1)


class TestClaim:
    """`claim`: a due job goes to one worker."""

    @pytest.mark.parametrize(("due", "is_due"), [(-1, True), (0, True), (0.001, False), (60, False)])
    def test_takes_what_is_due(self, database: Settings, due: float, is_due: bool) -> None:  # noqa: FBT001 - a table
        async def scenario(store: Store) -> Claimed | None:
            await _ask_and_try(store, due=due)
            return await _claim(store)

        assert (play(database, scenario) is not None) is is_due

    def test_takes_at_once_what_was_asked_for_by_a_clock_that_is_ahead(self, database: Settings) -> None:
        async def scenario(store: Store) -> Claimed | None:
            await _ask(store, now=at(60))
            return await _claim(store)

        assert play(database, scenario) is not None

    def test_leaves_alone_what_nobody_here_can_do(self, database: Settings) -> None:
        async def scenario(store: Store) -> Claimed | None:
            await _ask(store, kind="of a later version")
            return await _claim(store)

        assert play(database, scenario) is None

    def test_takes_what_is_due_longest(self, database: Settings) -> None:
        async def scenario(store: Store) -> list[str]:
            for key, due in (("third", 2), ("first", 0), ("second", 1), ("fourth", 2)):
                await _ask_and_try(store, key, due=due)
            claimed = [(await _claimed(store, now=3, until=9)).id for _ in range(4)]
            async with store.reading_shared() as read:
                keys = {row[0]: row[2] for row in await newest_jobs(read, most=9)}
            return [keys[job_id] for job_id in claimed]

        assert play(database, scenario) == ["first", "second", "third", "fourth"]

    def test_gives_each_job_to_one_of_many_at_once(self, database: Settings) -> None:
        async def scenario(*stores: Store) -> list[Claimed | None]:
            for number in range(10):
                await _ask(stores[0], str(number))
            return list(await asyncio.gather(*(_claim(store, f"{number}") for number in range(6) for store in stores)))

        claims = play(database, scenario, stores=4)

        claimed = [each.id for each in claims if each is not None]
        assert len(claims) == 24
        assert len(claimed) == len(set(claimed)) == 10

    def test_counts_the_attempts(self, database: Settings) -> None:
        async def scenario(store: Store) -> list[int]:
            await _ask(store)
            return [(await _claimed(store, now=10 * number, until=10 * number + 1)).attempts for number in range(3)]

        assert play(database, scenario) == [1, 2, 3]

    @pytest.mark.parametrize(("now", "is_over"), [(0.5, False), (1, False), (1.001, True), (60, True)])
    def test_takes_over_from_a_worker_whose_claim_has_ended(
        self,
        database: Settings,
        now: float,
        is_over: bool,  # noqa: FBT001 - a table
    ) -> None:
        async def scenario(store: Store) -> Claimed | None:
            await _ask(store)
            dead = await _claimed(store, "dead", until=1)
            await _keep(store, dead.id, "dead", until=1, progress={"row": 41})
            return await _claim(store, "heir", now=now, until=99)

        heir = play(database, scenario)

        assert (heir is not None) is is_over
        assert heir is None or (heir.progress, heir.attempts) == ({"row": 41}, 2)

    def test_is_taken_over_by_one_of_many_at_once(self, database: Settings) -> None:
        async def scenario(*stores: Store) -> list[Claimed | None]:
            await _ask(stores[0])
            await _claimed(stores[0], "dead", until=1)
            return list(await asyncio.gather(*(_claim(store, f"{store}", now=2, until=99) for store in stores)))

        claims = play(database, scenario, stores=6)

        assert sum(each is not None for each in claims) == 1


class TestKeepClaim:
    """`keep_claim`: holding on to a job, and how far it is."""

    def test_keeps_others_off(self, database: Settings) -> None:
        async def scenario(store: Store) -> list[Claimed | None]:
            await _ask(store)
            job_id = (await _claimed(store, "w", until=1)).id
            await _keep(store, job_id, "w", until=5)
            return [await _claim(store, "heir", now=now, until=99) for now in (2, 5, 5.001)]

        early, still, late = play(database, scenario)

        assert (early, still) == (None, None)
        assert late is not None

    def test_keeps_the_last_progress(self, database: Settings) -> None:
        async def scenario(store: Store) -> dict[str, Any]:
            await _ask(store)
            job_id = (await _claimed(store)).id
            for progress in ({"row": 1, "name": "ü"}, {"row": 2}, None):
                await _keep(store, job_id, "w", until=1, progress=progress)
            return (await _claimed(store, "heir", now=2, until=3)).progress

        assert play(database, scenario) == {"row": 2}

    @pytest.mark.parametrize("progress", [None, {"row": 99}])
    @pytest.mark.parametrize("lost", ["taken over", "ended", "never claimed"])
    def test_tells_that_the_claim_is_lost(self, database: Settings, lost: str, progress: dict[str, int] | None) -> None:
        async def scenario(store: Store) -> list[dict[str, Any]]:
            await _ask(store)
            job_id = (await _claimed(store, "w", until=1)).id
            if lost == "taken over":
                await _claimed(store, "heir", now=2, until=9)
            elif lost == "ended":
                await _end(store, job_id, "w", "done")
            worker = "nobody" if lost == "never claimed" else "w"
            with pytest.raises(ClaimLost):
                await _keep(store, job_id, worker, until=99, progress=progress)
            return await _rows(store)

        [row] = play(database, scenario)

        assert row["progress"] == "{}"
        assert row["claimed_by"] == {"taken over": "heir", "ended": "", "never claimed": "w"}[lost]


class TestEnd:
    """`end`: letting go of a job."""

    @pytest.mark.parametrize("state", ["done", "failed"])
    def test_is_the_end(self, database: Settings, state: str) -> None:
        async def scenario(store: Store) -> tuple[list[dict[str, Any]], Claimed | None]:
            await _ask(store)
            await _end(store, (await _claimed(store)).id, "w", state)
            return await _rows(store), await _claim(store, now=10_000, until=10_001)

        [row], again = play(database, scenario)

        assert (row["state"], row["report"], row["finished_at"], row["claimed_by"]) == (state, "said", at(5), "")
        assert again is None

    def test_lets_it_wait_for_another_attempt(self, database: Settings) -> None:
        async def scenario(store: Store) -> list[Claimed | None]:
            await _ask(store)
            await _end(store, (await _claimed(store)).id, "w", "waiting", due=10)
            return [await _claim(store, now=now, until=99) for now in (9.999, 10)]

        early, due = play(database, scenario)

        assert early is None
        assert due is not None
        assert due.attempts == 2

    def test_is_nothing_where_another_worker_has_the_job(self, database: Settings) -> None:
        async def scenario(store: Store) -> list[dict[str, Any]]:
            await _ask(store)
            job_id = (await _claimed(store, "slow", until=1)).id
            await _claimed(store, "heir", now=2, until=9)
            await _end(store, job_id, "slow", "done")
            return await _rows(store)

        [row] = play(database, scenario)

        assert (row["state"], row["claimed_by"], row["report"]) == ("running", "heir", "")


class TestForgetDone:
    """`forget_done`: what was done long ago."""

    def test_forgets_what_was_done_before(self, database: Settings) -> None:
        async def scenario(store: Store) -> tuple[list[str], bool]:
            for key, state, moment in (
                ("old", "done", at(0)),
                ("edge", "done", at(10)),
                ("new", "done", at(20)),
                ("failed", "failed", at(0)),
                ("waiting", "waiting", at(0)),
                ("running", "running", at(0)),
            ):
                await _ask(store, key)
                await _run(store, _FINISH, of=key, new_state=state, moment=moment)
            await store.writing_shared(lambda write: forget_done(write, before=at(10)))
            return [row["key"] for row in await _rows(store)], await _ask(store, "old")

        left, is_new = play(database, scenario)

        assert left == ["edge", "new", "failed", "waiting", "running"]
        assert is_new is True


class TestListJobs:
    """`newest_jobs`, and the command that shows them."""

    def test_shows_the_newest_first(self, database: Settings) -> None:
        async def scenario(store: Store) -> list[Row]:
            for number in range(5):
                await _ask(store, str(number))
            async with store.reading_shared() as read:
                return await newest_jobs(read, most=3)

        rows = play(database, scenario)

        assert [tuple(row)[1:] for row in rows] == [
            ("count", key, "waiting", 0, "{}", "", at(0), "") for key in ("4", "3", "2")
        ]

    def test_is_printed_a_job_a_line(self, database: Settings) -> None:
        async def scenario(store: Store) -> None:
            await _ask(store, "first")
            job_id = (await _claimed(store)).id
            await _keep(store, job_id, "w", until=1, progress={"row": 41})
            await _end(store, job_id, "w", "done")
            await _ask(store, "second")

        play(database, scenario)

        lines = [line.split("\t")[1:] for line in done(database, "job", "list")]
        assert lines == [
            ["count", "second", "waiting", "0", "{}", "-", at(0), "-"],
            ["count", "first", "done", "1", '{"row": 41}', "said", at(0), at(5)],
        ]
        assert [line.split("\t")[2] for line in done(database, "job", "list", "--most", "1")] == ["second"]


async def _ask_now(store: Store, key: str = "k", **more: Any) -> bool:
    return await _ask(store, key, now=ago(seconds=1), **more)


async def _working(*workers: Worker, until: Callable[[], Awaitable[bool]]) -> None:
    """Let workers run, as serving processes do, until something has come true."""
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        async with asyncio.timeout(PATIENCE):
            while not await until():  # noqa: ASYNC110 - the database has no event to wait for
                await asyncio.sleep(0.02)
    finally:
        for task in tasks:
            task.cancel()
        _, stuck = await asyncio.wait(tasks, timeout=PATIENCE)
        assert not stuck, "a worker did not stop"


class TestWorker:
    """`Worker.work_once`: a due job is done by its handler."""

    def test_has_nothing_to_do_without_jobs(self, database: Settings) -> None:
        async def scenario(store: Store) -> bool:
            return await Worker(store, {}, ()).work_once()

        assert play(database, scenario) is False

    def test_hands_the_job_to_its_handler_and_keeps_the_report(self, database: Settings) -> None:
        seen: list[Claimed] = []

        async def handle(_: Store, job: Job) -> str:
            seen.append(job.claimed)
            return "42 rows imported"

        async def scenario(store: Store) -> tuple[list[bool], list[dict[str, Any]]]:
            await _ask_now(store, owner=7, payload={"file": "a.csv"})
            worker = Worker(store, {"count": handle}, ())
            return [await worker.work_once(), await worker.work_once()], await _rows(store)

        before = ago()
        worked, [row] = play(database, scenario)

        assert worked == [True, False]
        assert [(claimed.kind, claimed.instance_id, claimed.payload) for claimed in seen] == [
            ("count", 7, {"file": "a.csv"})
        ]
        assert (row["state"], row["report"], row["attempts"]) == ("done", "42 rows imported", 1)
        assert before <= row["finished_at"] <= ago()

    def test_does_each_job_once_however_many_work(self, database: Settings) -> None:
        counted: Counter[str] = Counter()

        async def handle(_: Store, job: Job) -> str:
            counted[job.claimed.payload["key"]] += 1
            await asyncio.sleep(0.01)
            await job.keep({"half": True})
            return ""

        async def work(worker: Worker) -> None:
            while await worker.work_once():
                pass

        async def scenario(*stores: Store) -> list[dict[str, Any]]:
            for number in range(20):
                await _ask_now(stores[0], str(number), payload={"key": str(number)})
            workers = [Worker(store, {"count": handle}, ()) for store in stores for _ in range(2)]
            await asyncio.gather(*map(work, workers))
            return await _rows(stores[0])

        rows = play(database, scenario, stores=3)

        assert counted == Counter({str(number): 1 for number in range(20)})
        assert {(row["state"], row["attempts"]) for row in rows} == {("done", 1)}

    def test_tries_again_after_growing_waits_and_gives_up(self, database: Settings) -> None:
        async def handle(_: Store, job: Job) -> str:
            raise ValueError(f"attempt {job.claimed.attempts}")

        async def scenario(store: Store) -> list[tuple[bool, dict[str, Any], tuple[timedelta, timedelta]]]:
            await _ask_now(store)
            worker = Worker(store, {"count": handle}, ())
            seen = []
            for _ in range(6):
                started = datetime.now(UTC)
                worked = await worker.work_once()
                ended = datetime.now(UTC)
                assert await worker.work_once() is False
                [row] = await _rows(store)
                due = datetime.fromisoformat(row["due_at"])
                seen.append((worked, row, (due - ended, due - started)))
                await _run(store, _MOVE, moment=_LONG_AGO)
            return seen

        before = ago()
        *tries, last, after = play(database, scenario)

        # At least and at most: it failed some time between.
        waits = [wait for _, _, wait in tries]
        assert [row["state"] for _, row, _ in (*tries, last)] == ["waiting"] * 4 + ["failed"]
        assert [row["report"] for _, row, _ in (*tries, last)] == [
            f"ValueError: attempt {number}" for number in (1, 2, 3, 4, 5)
        ]
        assert waits[0][1] > timedelta(seconds=10)
        assert all(later > 1.5 * earlier for (earlier, _), (_, later) in itertools.pairwise(waits))
        assert [row["finished_at"] for _, row, _ in tries] == [""] * 4
        assert before < last[1]["finished_at"]
        assert (after[0], after[1]["state"], after[1]["attempts"]) == (False, "failed", 5)

    def test_succeeds_after_a_failure(self, database: Settings) -> None:
        async def handle(_: Store, job: Job) -> str:
            if job.claimed.attempts == 1:
                await job.keep({"row": 41})
                raise OSError("the disk was full")
            return f"went on at {job.claimed.progress['row']}"

        async def scenario(store: Store) -> list[dict[str, Any]]:
            await _ask_now(store)
            worker = Worker(store, {"count": handle}, ())
            await worker.work_once()
            await _run(store, _MOVE, moment=_LONG_AGO)
            await worker.work_once()
            return await _rows(store)

        [row] = play(database, scenario)

        assert (row["state"], row["report"], row["attempts"]) == ("done", "went on at 41", 2)

    def test_goes_on_where_a_dead_worker_left_off(self, database: Settings) -> None:
        kept = asyncio.Event()
        done_by_heir: list[int] = []

        async def die(_: Store, job: Job) -> str:
            for row in range(1, 4):
                await job.keep({"row": row})
            kept.set()
            await asyncio.Event().wait()
            return "never"

        async def inherit(_: Store, job: Job) -> str:
            done_by_heir.extend(range(job.claimed.progress["row"] + 1, 6))
            return "inherited"

        async def scenario(mine: Store, other: Store) -> tuple[bool, bool, list[dict[str, Any]]]:
            await _ask_now(mine)
            dying = asyncio.create_task(Worker(mine, {"count": die}, ()).work_once())
            await kept.wait()
            heir = Worker(other, {"count": inherit}, ())
            too_early = await heir.work_once()
            dying.cancel()
            with suppress(asyncio.CancelledError):
                await dying
            await _run(other, _MOVE, moment=_LONG_AGO)
            return too_early, await heir.work_once(), await _rows(other)

        too_early, worked, [row] = play(database, scenario, stores=2)

        assert (too_early, worked) == (False, True)
        assert done_by_heir == [4, 5]
        # The worker that was told to stop gave its attempt back.
        assert (row["state"], row["report"], row["attempts"]) == ("done", "inherited", 1)

    def test_stops_a_handler_whose_claim_is_lost(self, database: Settings) -> None:
        reached: list[str] = []

        async def handle(store: Store, job: Job) -> str:
            await job.keep({"row": 1})
            await _run(store, _STEAL, thief="another worker")
            reached.append("before")
            await job.keep({"row": 2})
            reached.append("after")
            return "finished"

        async def scenario(store: Store) -> tuple[bool, list[dict[str, Any]]]:
            await _ask_now(store)
            return await Worker(store, {"count": handle}, ()).work_once(), await _rows(store)

        worked, [row] = play(database, scenario)

        assert (worked, reached) == (True, ["before"])
        assert (row["state"], row["claimed_by"]) == ("running", "another worker")
        assert (row["progress"], row["report"]) == ('{"row": 1}', "")

    @pytest.mark.parametrize("fails", ["no", "yes"])
    def test_leaves_the_outcome_to_the_worker_that_has_the_claim(self, database: Settings, fails: str) -> None:
        async def handle(store: Store, _: Job) -> str:
            await _run(store, _STEAL, thief="another worker")
            if fails == "yes":
                raise ValueError("too late")
            return "too late"

        async def scenario(store: Store) -> list[dict[str, Any]]:
            await _ask_now(store)
            await Worker(store, {"count": handle}, ()).work_once()
            return await _rows(store)

        [row] = play(database, scenario)

        assert (row["state"], row["claimed_by"], row["report"]) == ("running", "another worker", "")


class TestRunningWorkers:
    """`Worker.run`: what serving processes do all the time."""

    def test_goes_on_after_a_failure(self, database: Settings) -> None:
        async def handle(_: Store, job: Job) -> str:
            if job.claimed.payload["fails"]:
                raise RuntimeError("unexpected")
            return "well"

        async def scenario(store: Store) -> list[dict[str, Any]]:
            for number, fails in enumerate((True, False, True, False)):
                await _ask_now(store, str(number), payload={"fails": fails})

            async def is_over() -> bool:
                return all(row["attempts"] and row["state"] != "running" for row in await _rows(store))

            await _working(Worker(store, {"count": handle}, ()), until=is_over)
            return await _rows(store)

        rows = play(database, scenario)

        assert [(row["state"], row["report"]) for row in rows] == [
            ("waiting", "RuntimeError: unexpected"),
            ("done", "well"),
            ("waiting", "RuntimeError: unexpected"),
            ("done", "well"),
        ]

    def test_plans_each_daily_kind_once_a_german_day(self, database: Settings) -> None:
        counted: Counter[str] = Counter()

        async def handle(_: Store, job: Job) -> str:
            counted[job.claimed.kind] += 1
            await asyncio.sleep(0.05)
            return "planned"

        handlers: dict[str, Handler] = {"count": handle, "weigh": handle, "never planned": handle}

        async def scenario(*stores: Store) -> list[dict[str, Any]]:
            workers = [Worker(store, handlers, ("count", "weigh")) for store in stores]

            async def is_over() -> bool:
                rows = await _rows(stores[0])
                return len(rows) >= 2 and {row["state"] for row in rows} == {"done"}

            await _working(*workers, until=is_over)
            # And who comes later the same day, or starts again, plans nothing more.
            await _working(*(Worker(store, handlers, ("count", "weigh")) for store in stores), until=is_over)
            return await _rows(stores[0])

        first_day = _german_day()
        rows = play(database, scenario, stores=2)

        days = {row["key"] for row in rows}
        assert days <= {first_day, _german_day()}
        assert counted == Counter(row["kind"] for row in rows) == dict.fromkeys(("count", "weigh"), len(days))

    def test_plans_the_day_beside_those_before(self, database: Settings) -> None:
        async def handle(_: Store, __: Job) -> str:
            return "planned"

        async def scenario(store: Store) -> list[dict[str, Any]]:
            yesterday = _german_day(timedelta(days=-1))
            await _ask_now(store, yesterday)
            await _run(store, _FINISH, of=yesterday, new_state="done", moment=ago(days=1))

            async def is_over() -> bool:
                return [row["state"] for row in await _rows(store)][:2] == ["done"] * 2

            await _working(Worker(store, {"count": handle}, ("count",)), until=is_over)
            return await _rows(store)

        rows = play(database, scenario)

        assert [row["report"] for row in rows][:2] == ["", "planned"]

    def test_forgets_what_was_done_over_30_days_ago(self, database: Settings) -> None:
        async def scenario(store: Store) -> list[dict[str, Any]]:
            for key, state, days in (
                ("31 days", "done", 31),
                ("29 days", "done", 29),
                ("failed 31 days", "failed", 31),
            ):
                await _ask_now(store, key)
                await _run(store, _FINISH, of=key, new_state=state, moment=ago(days=days))

            async def is_over() -> bool:
                return len(await _rows(store)) < 3

            await _working(Worker(store, {}, ()), until=is_over)
            return await _rows(store)

        rows = play(database, scenario)

        assert [row["key"] for row in rows] == ["29 days", "failed 31 days"]

    def test_stops_when_it_is_told_to(self, database: Settings) -> None:
        kept = asyncio.Event()

        async def handle(_: Store, job: Job) -> str:
            await job.keep({"row": 1})
            kept.set()
            await asyncio.Event().wait()
            return "never"

        async def scenario(store: Store) -> list[dict[str, Any]]:
            await _ask_now(store)
            task = asyncio.create_task(Worker(store, {"count": handle}, ()).run())
            async with asyncio.timeout(PATIENCE):
                await kept.wait()
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            return await _rows(store)

        [row] = play(database, scenario)

        assert (row["state"], row["progress"], row["report"]) == ("waiting", '{"row": 1}', "")

    def test_stops_when_it_is_told_to_in_the_moment_that_a_job_ends(self, database: Settings) -> None:
        async def handle(_: Store, __: Job) -> str:
            return "well"

        async def scenario(store: Store) -> tuple[bool, list[dict[str, Any]]]:
            await _ask_now(store)
            task = asyncio.create_task(Worker(store, {"count": handle}, ()).run())
            alive: set[asyncio.Task[Any]] = set()
            async with asyncio.timeout(PATIENCE):
                # The task that keeps the claim is the last that a worker waits for when a job is over.
                while not any(each.cancelling() for each in alive):
                    alive |= {each for each in asyncio.all_tasks() if "_keep_alive" in repr(each.get_coro())}
                    await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE)
            return task.done(), await _rows(store)

        has_stopped, [row] = play(database, scenario)

        assert has_stopped
        assert (row["state"], row["report"]) == ("done", "well")

    def test_holds_no_job_when_it_was_told_to_stop_in_whatever_moment(self, database: Settings) -> None:
        """While it claims, works or lets go: the job is done, or waits for whoever is there next."""

        async def handle(_: Store, __: Job) -> str:
            return "well"

        async def scenario(store: Store) -> list[dict[str, Any]]:
            for moment in range(40):
                await _ask_now(store, str(moment))
                task = asyncio.create_task(Worker(store, {"count": handle}, ()).work_once())
                await asyncio.sleep(moment / 10_000)
                task.cancel()
                await asyncio.wait([task])
            return await _rows(store)

        rows = play(database, scenario)

        assert {row["state"] for row in rows} <= {"waiting", "done"}


def _german_day(more: timedelta = timedelta()) -> str:
    return (datetime.now(ZoneInfo("Europe/Berlin")) + more).date().isoformat()
