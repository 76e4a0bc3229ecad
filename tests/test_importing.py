"""The job that imports: its turn, what is no attempt, and files that nobody waits for."""

import asyncio
import json

import pytest

from stammdaten.exchange import daily, importing
from stammdaten.exchange.daily import EXPORT_DAILY, exporting_daily
from stammdaten.exchange.orders import kept_file, report_file
from stammdaten.exchange.working import exchange_worker
from stammdaten.jobs.running import Worker
from stammdaten.settings import Settings
from stammdaten.store import open_store
from tests.test_exchange_faults import (
    HEADER,
    articles,
    ask_daily,
    make_other,
    now_due,
    ordered,
    owner,
    rows_by_id,
    standing,
    text_of,
    work_here,
)
from tests.test_faults import PREFIX, make_account, rows_of


def work_once(settings: Settings) -> None:
    """Take one job."""

    async def take() -> None:
        async with await open_store(settings) as store:
            assert await exchange_worker(store, settings.home).work_once()

    asyncio.run(take())


class TestTurn:
    """How long an import may go on."""

    def test_ends_where_others_wait(self, fresh: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importing, "_TURN_SECONDS", 0)
        make_account(fresh)
        make_other(fresh, "bruno")
        ours = ordered(fresh, text_of(1_200)).id
        theirs = ordered(fresh, text_of(10), prefix="bruno").id

        work_once(fresh)
        after_turn = standing(fresh, ours)
        said = rows_of(fresh, "SELECT state, attempts, progress FROM jobs ORDER BY id LIMIT 1")
        work_once(fresh)
        after_both = [found.state for found in rows_by_id(fresh, [ours, theirs], prefixes=[PREFIX, "bruno"])]
        work_here(fresh)

        assert (after_turn.state, after_turn.line) == ("running", 501)
        assert [(state, attempts, json.loads(progress)["line"]) for state, attempts, progress in said] == [
            ("waiting", 0, 501)
        ]
        assert after_both == ["running", "done"]
        ended = standing(fresh, ours)
        assert (ended.state, ended.created, ended.refused) == ("done", 1_188, 12)

    def test_goes_on_where_nobody_waits(self, fresh: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        """The next file of the same instance does, but for this one."""
        monkeypatch.setattr(importing, "_TURN_SECONDS", 0)
        make_account(fresh)
        ours = [ordered(fresh, text_of(rows)).id for rows in (1_200, 10)]

        work_once(fresh)

        assert [standing(fresh, each).state for each in ours] == ["done", "waiting"]


class TestAttempts:
    """What is none."""

    def test_are_none_where_the_disk_does_not_take_the_report(self, fresh: Settings) -> None:
        make_account(fresh)
        import_id = ordered(fresh, text_of(100)).id
        in_the_way = report_file(fresh.home, owner(fresh), import_id)
        in_the_way.mkdir()

        for _ in range(6):
            work_once(fresh)
            now_due(fresh)
        before = standing(fresh, import_id)
        in_the_way.rmdir()
        work_here(fresh)

        assert (before.state, before.line) == ("waiting", 0)
        assert standing(fresh, import_id).state == "done"
        assert len(articles(fresh)) == 99


class TestForgottenFiles:
    """Files of orders that came to nothing."""

    def test_are_removed_and_no_others(self, fresh: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(daily, "_FORGOTTEN_DAYS", 0)
        make_account(fresh)
        over = ordered(fresh, text_of(1)).id
        work_here(fresh)
        waiting = ordered(fresh, HEADER).id
        unknown = waiting + 1
        files = [kept_file(fresh.home, owner(fresh), number) for number in (over, waiting, unknown)]
        for file in files:
            file.touch()
        ask_daily(fresh)

        async def tidy() -> None:
            async with await open_store(fresh) as store:
                assert await Worker(store, {EXPORT_DAILY: exporting_daily(fresh.home)}, ()).work_once()

        asyncio.run(tidy())

        assert [file.exists() for file in files] == [False, True, False]
