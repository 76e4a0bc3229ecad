"""Screening when something breaks or races: killed loads, jobs and decisions, and lists that change under the writers.

Three promises are tested: a list is in force whole or not at all; whoever is named by the list in force is found, come
what may in between; what a person decided stands.
"""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stammdaten.auth.queries import instance_by_prefix
from stammdaten.contacts.deciding import Decision, decide_matches
from stammdaten.screening.loading import load_list
from stammdaten.settings import Settings
from stammdaten.store import SHARED, Store, open_store
from tests.made_lists import WANTED, un_list
from tests.processes import PATIENCE, STAMMDATEN, Served, command, environment, halting, wait_until
from tests.test_commands import execute
from tests.test_faults import PREFIX, Client, disagreements, make_account, rows_of

NAMED = ("Xaviero", "Bruckmoser-Vantongeren")
OTHER = ("Annegret", "Kühnemund-Lohse")
ENTRY = ("6900009", " ".join(NAMED), "Austria")


def file_of(folder: Path, text: str, name: str = "list") -> str:
    """Write a list to a file."""
    path = folder / name
    path.write_text(text)
    return str(path)


def jobs_of(settings: Settings, state: str) -> list[tuple[Any, ...]]:
    """Return the jobs about contacts in a state."""
    return rows_of(settings, f"SELECT kind, progress FROM jobs WHERE state = '{state}' AND kind LIKE 'screen%'")


def wait_for_jobs(settings: Settings) -> None:
    """Wait until all jobs are done; one that failed is a fault."""
    wait_until(lambda: not rows_of(settings, "SELECT 1 FROM jobs WHERE state <> 'done'"))


def go_on(settings: Settings) -> None:
    """Let a job whose worker was killed be taken over at once, instead of in a minute."""
    execute(settings, "UPDATE jobs SET claimed_until = '2001-01-01T00:00:00.000000Z' WHERE state = 'running'")


def statuses(settings: Settings) -> dict[str, str]:
    """Return the statuses of all contacts, as the interface shows them, by uid."""
    rows = rows_of(settings, "SELECT contact_uid, status, document FROM contacts")
    assert all(json.loads(document)["status"] == status for _, status, document in rows)
    return {uid: status for uid, status, _ in rows}


def kill(process: subprocess.Popen[Any]) -> None:
    """End a process where it stands."""
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)


def address_book(path: Path, contacts: int) -> str:
    """Write contacts, every second of whom is named like `ENTRY`, and every sixth somewhat like `WANTED`."""
    names = [
        NAMED if number % 2 else ("Zoltan", "Quistorp") if number % 3 == 0 else OTHER for number in range(contacts)
    ]
    lines = [f"K-{number};{first};{last}" for number, (first, last) in enumerate(names)]
    path.write_text("\n".join(["contact_uid;first_name;last_name", *lines, ""]))
    return str(path)


class TestKilledLoad:
    """SIGKILL of `stammdaten sanctions load`."""

    def test_leaves_the_old_version_in_force(self, fresh: Settings, tmp_path: Path) -> None:
        lines = "".join(f"Q{number},Person,Xaviero Bruckmoser {number},,at\n" for number in range(5_000))
        header = "id,schema,name,aliases,countries\n"
        old = file_of(tmp_path, header + "".join(lines.splitlines(keepends=True)[:10]).replace("Xaviero", "Leo"), "old")
        new = file_of(tmp_path, header + lines, "new")
        command(fresh, "sanctions", "load", "opensanctions", old)
        in_force = "SELECT entry_id, document FROM listed_entries WHERE id < 2 * 16777216 ORDER BY id"
        before, shown = rows_of(fresh, in_force), command(fresh, "sanctions", "status").split("\t")[:4]

        words = [STAMMDATEN, "sanctions", "load", "opensanctions", new]
        load = subprocess.Popen(words, env=environment(fresh) | halting(tmp_path / "load"))
        wait_until(lambda: rows_of(fresh, "SELECT count(*) FROM listed_entries")[0][0] > 2_000)
        kill(load)

        assert rows_of(fresh, "SELECT count(*) FROM listed_entries") == [(2_010,)]
        assert command(fresh, "sanctions", "status").split("\t")[:4] == shown
        assert rows_of(fresh, in_force) == before
        said = command(fresh, "sanctions", "load", "opensanctions", new, expect=1)
        assert "being loaded already" in said
        execute(fresh, "UPDATE list_versions SET claimed_until = '2001' WHERE state = 'loading'")
        less = file_of(
            tmp_path, f"{header}{lines.splitlines(keepends=True)[0]}Q1,Person,Leo Bruckmoser 1,,at\n", "less"
        )
        said = command(fresh, "sanctions", "load", "opensanctions", less)
        assert said.endswith("2 entries\t0 added, 1 changed, 8 removed\n")
        assert rows_of(fresh, "SELECT state FROM list_versions ORDER BY id") == [("past",), ("current",)]
        assert rows_of(fresh, "SELECT count(*) FROM listed_entries") == [(11,)]
        assert rows_of(fresh, "SELECT count(*) FROM listed_entries WHERE removed_in = 0") == [(2,)]


class TestKilledJob:
    """SIGKILL of the process that does a job, which the next one goes on with."""

    def test_ends_with_the_answers_of_the_new_list_and_of_the_new_settings(
        self, fresh: Settings, tmp_path: Path
    ) -> None:
        make_account(fresh)
        command(fresh, "sanctions", "load", "un", file_of(tmp_path, un_list()))
        command(fresh, "contact", "import", "--prefix", PREFIX, address_book(tmp_path / "book", 1_000))
        before = statuses(fresh)
        halt = tmp_path / "screen"

        with Served(fresh, halt=halt) as first:
            wait_for_jobs(fresh)
            command(fresh, "sanctions", "load", "un", file_of(tmp_path, un_list([WANTED, ENTRY])))
            wait_until(lambda: rows_of(fresh, "SELECT 1 FROM contacts WHERE status = 'red' LIMIT 1"))
            kill(first.process)
        assert jobs_of(fresh, "running")
        go_on(fresh)
        with Served(fresh, halt=halt) as second:
            halt.unlink()
            wait_for_jobs(fresh)
            after_list = statuses(fresh)
            halt.touch()
            command(fresh, "sanctions", "settings", "--prefix", PREFIX, "--threshold", "0.5", "--certain", "0.5")
            wait_until(lambda: any(json.loads(row[1]).get("screened") for row in jobs_of(fresh, "running")))
            kill(second.process)
        assert jobs_of(fresh, "running")
        go_on(fresh)
        with Served(fresh):
            wait_for_jobs(fresh)

        after_settings = statuses(fresh)
        for number in range(1_000):
            is_named, is_like = number % 2 == 1, number % 6 == 0
            assert before[f"K-{number}"] == ("yellow" if is_like else "green")
            assert after_list[f"K-{number}"] == ("red" if is_named else before[f"K-{number}"])
            assert after_settings[f"K-{number}"] == ("red" if is_named or is_like else "green")
        assert disagreements(fresh) == []
        # Each answer was recorded when it changed, and only then.
        recorded = "SELECT count(*) FROM contact_history WHERE category = 'screened' GROUP BY contact_uid"
        assert max(row[0] for row in rows_of(fresh, recorded)) <= 2


DECIDER = """
import asyncio, sys
from stammdaten.contacts.deciding import Decision, decide_matches
from stammdaten.settings import read_settings
from stammdaten.store import open_store

async def decide():
    async with await open_store(read_settings()) as store:
        for place, line in enumerate(sys.argv[2].split()):
            sys.stdin.readline()
            uid, match_id = line.split(":")
            decision = ("confirmed", "rejected")[place % 2]
            row = Decision(uid, int(match_id), decision, f"Because of {place}.", "Berta")
            await store.submit(int(sys.argv[1]), decide_matches, row)
            print(uid, match_id, decision, place, flush=True)

asyncio.run(decide())
"""


class TestKilledDecisions:
    """SIGKILL of a process that decides matches one after another."""

    def test_keep_what_was_acknowledged(self, fresh: Settings, tmp_path: Path) -> None:
        make_account(fresh)
        command(fresh, "sanctions", "load", "un", file_of(tmp_path, un_list([ENTRY])))
        command(fresh, "contact", "import", "--prefix", PREFIX, address_book(tmp_path / "book", 800))
        rows = rows_of(
            fresh, "SELECT c.contact_uid, m.id, m.instance_id FROM matches m JOIN contacts c ON c.id = m.contact_id"
        )
        given = " ".join(f"{uid}:{match_id}" for uid, match_id, _ in rows)

        words = [sys.executable, "-c", DECIDER, str(rows[0][2]), given]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, env=environment(fresh), stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n" * 101)
            process.stdin.flush()
            acknowledged = [process.stdout.readline().split() for _ in range(100)]
            kill(process)
            acknowledged += [line.split() for line in process.stdout if line.endswith("\n")]

        assert len(acknowledged) - 100 in (0, 1)
        kept = {str(row[0]): row[1:] for row in rows_of(fresh, "SELECT id, decision, comment, decided_by FROM matches")}
        shown = {
            uid: json.loads(document)["matches"][0]
            for uid, document in rows_of(fresh, "SELECT contact_uid, document FROM contacts WHERE matches <> ''")
        }
        for uid, match_id, decision, place in acknowledged:
            assert kept[match_id] == (decision, f"Because of {place}.", "Berta")
            assert (shown[uid]["decision"], shown[uid]["comment"]) == (decision, f"Because of {place}.")
        # Of what was not acknowledged, one may stand; then whole.
        decided = {match["id"] for match in shown.values() if match["decision"] != "open"}
        assert decided == {int(match_id) for match_id, row in kept.items() if row[0] != "open"}
        assert len(decided) - len(acknowledged) in (0, 1)
        records = rows_of(fresh, "SELECT count(*) FROM checks WHERE why = 'decided'")
        assert records == [(len(decided),)]
        assert disagreements(fresh) == []


# ------------------------------------------------------------------------------------ lists change under the writers


class Writers:
    """Who create contacts and rename them, one after another, until told to stop; what each is named stands here."""

    def __init__(self, client: Client) -> None:
        self.is_named: dict[str, bool] = {}
        self._client = client
        self._enough = threading.Event()
        self._flowing = threading.Semaphore(0)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write meanwhile."""
        with ThreadPoolExecutor(4) as threads:
            futures = [threads.submit(self._write, writer) for writer in range(4)]
            try:
                yield
            finally:
                self._enough.set()
            for future in futures:
                future.result(PATIENCE)

    def wait_for(self, writes: int) -> None:
        """Wait until so many more writes were acknowledged."""
        for _ in range(writes):
            assert self._flowing.acquire(timeout=PATIENCE)

    def _write(self, writer: int) -> None:
        for place in range(100_000):
            if self._enough.is_set():
                return
            uid, is_named = f"K-{writer}-{place}", place % 3 == 0
            self._send("POST", "/contacts", uid, is_named=is_named)
            earlier = f"K-{writer}-{place // 2}"
            self._send("PUT", f"/contacts/{earlier}", earlier, is_named=not self.is_named[earlier])
            self._flowing.release()

    def _send(self, method: str, path: str, uid: str, *, is_named: bool) -> None:
        first_name, last_name = NAMED if is_named else OTHER
        contact = {"contact_uid": uid, "first_name": first_name, "last_name": last_name}
        response = self._client.ask(method, path, json={"contact": contact})
        assert response.status_code in (200, 201), response.text
        self.is_named[uid] = is_named


class TestListsChangeUnderWriters:
    """The list changes again and again while contacts are created and renamed."""

    @pytest.mark.parametrize(("engine", "workers"), [("sqlite", 1), ("postgresql", 2)], indirect=["engine"])
    def test_misses_nobody(self, fresh: Settings, tmp_path: Path, workers: int) -> None:
        token, list_id = make_account(fresh)
        paths = [
            file_of(tmp_path, un_list([WANTED, ENTRY] if day % 2 else [WANTED], day=f"2026-11-0{day}"), f"{day}")
            for day in range(1, 5)
        ]
        command(fresh, "sanctions", "load", "un", file_of(tmp_path, un_list()))
        with Served(fresh, workers=workers) as served, Client(served, token, list_id) as client:
            writers = Writers(client)
            with writers.writing():
                for path in paths[:3]:
                    writers.wait_for(20)
                    command(fresh, "sanctions", "load", "un", path)
                writers.wait_for(20)
            wait_for_jobs(fresh)
            listed = statuses(fresh)
            command(fresh, "sanctions", "load", "un", paths[3])
            wait_for_jobs(fresh)

        assert listed.keys() == writers.is_named.keys()
        wrong = {uid: listed[uid] for uid, is_named in writers.is_named.items() if (listed[uid] == "red") != is_named}
        assert wrong == {}
        assert set(listed.values()) == {"red", "green"}
        assert set(statuses(fresh).values()) == {"green"}
        assert disagreements(fresh) == []


class TestListsChangeUnderDecisions:
    """The entry changes again and again while its matches are decided."""

    def test_loses_no_decision(self, fresh: Settings, tmp_path: Path) -> None:
        make_account(fresh)
        paths = [
            Path(file_of(tmp_path, un_list([(ENTRY[0], ENTRY[1], country)]), country))
            for country in ("Austria", "Hungary", "Poland")
        ]
        command(fresh, "sanctions", "load", "un", str(paths[0]))
        command(fresh, "contact", "import", "--prefix", PREFIX, address_book(tmp_path / "book", 60))
        matches = rows_of(fresh, "SELECT c.contact_uid, m.id FROM matches m JOIN contacts c ON c.id = m.contact_id")
        last: dict[int, Decision] = {}
        total = 0
        enough = threading.Event()

        async def decide() -> None:
            nonlocal total
            async with await open_store(fresh) as store:
                at = await instance_id(store)
                while not enough.is_set():
                    uid, match_id = matches[total % len(matches)]
                    decision = ("rejected", "confirmed", "rejected", "open", "rejected")[
                        (total + total // len(matches)) % 5
                    ]
                    row = Decision(uid, match_id, decision, f"Because of {total}.", "Berta")
                    await store.submit(at, decide_matches, row)
                    last[match_id] = row
                    total += 1

        def decided_since(before: int) -> bool:
            return total > before + 40

        async def change() -> None:
            async with await open_store(fresh) as store:
                for path in paths[1:]:
                    await asyncio.to_thread(wait_for_jobs, fresh)
                    await asyncio.to_thread(wait_until, decided_since, total)
                    await load_list(store, instance_id=SHARED, source="un", path=path)

        with Served(fresh), ThreadPoolExecutor(1) as threads:
            deciding = threads.submit(asyncio.run, decide())
            try:
                asyncio.run(change())
            finally:
                # Before the job has looked at the last change: what it finds was decided of the entry as it was.
                enough.set()
            deciding.result(PATIENCE)
            wait_for_jobs(fresh)

        rows = rows_of(fresh, "SELECT id, decision, comment, decided_by FROM matches WHERE is_standing")
        assert len(rows) == len(matches) == 30
        assert {"open", "confirmed"} <= {row[1] for row in rows}
        for match_id, decision, comment, decided_by in rows:
            wanted = last[match_id]
            if (decision, comment, decided_by) != (wanted.decision, wanted.comment, "Berta"):
                assert (wanted.decision, decision) == ("rejected", "open")
                assert comment.startswith("Opened again because the list entry changed. Rejected by Berta at ")
                assert comment.endswith(wanted.comment)
        kept = {row[0]: row[1] for row in rows}
        for uid, document in rows_of(fresh, "SELECT contact_uid, document FROM contacts WHERE matches <> ''"):
            contact = json.loads(document)
            (shown,) = contact["matches"]
            assert shown["decision"] == kept[shown["id"]], uid
            assert (contact["status"] == "green") == (shown["decision"] == "rejected")
        assert rows_of(fresh, "SELECT count(*) FROM checks WHERE why = 'decided'") == [(total,)]
        assert disagreements(fresh) == []


async def instance_id(store: Store) -> int:
    """Return the id of the instance that all this happens in."""
    async with store.reading_shared() as read:
        found = await instance_by_prefix(read, PREFIX)
    assert found is not None
    return found[0]
