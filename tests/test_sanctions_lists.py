"""Lists on their way into force: whole or not at all, one loader at a time, every version kept; and whom they concern.

Loading has no HTTP to it: most tests speak to the store, open several times as by several processes. A loader that
stands still where another one acts is held by its progress, in a thread and a store of its own.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from stammdaten.auth import operations as auth
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.contacts.operations import ContactChange, create_contacts, update_contacts
from stammdaten.contacts.shapes import Given
from stammdaten.contacts.subjects import checks_of_new, checks_of_updates
from stammdaten.refusals import NotAllowed
from stammdaten.screening.current import Screening
from stammdaten.screening.entries import written
from stammdaten.screening.loading import load_list
from stammdaten.screening.queries import activated_versions, current_versions, entries_of
from stammdaten.screening.ruling import set_rules
from stammdaten.screening.shapes import RESCREEN_DUE
from stammdaten.screening.sources import Unreadable, read_source
from stammdaten.screening.staging import Loaded
from stammdaten.settings import Settings
from stammdaten.store import SHARED, Store, Write, open_store
from tests.cast import Member, Service, caller_of, make_contact
from tests.made_lists import WANTED, load, settle, un_list
from tests.processes import PATIENCE
from tests.test_commands import execute, happens
from tests.test_faults import only_postgresql, rows_of
from tests.test_jobs import play

LONG_AGO = "2001-01-01T00:00:00.000000Z"
# More than a loader writes at once, so that the first of it is written when the rest is read.
MANY = [(str(7_000_000 + number), f"Xaviero Nr{number} Bruckmoser", "Austria") for number in range(2_500)]

Documents = dict[str, dict[str, str]]


def file_of(folder: Path, text: str, name: str = "list") -> Path:
    """Write a list to a file."""
    path = folder / name
    path.write_text(text)
    return path


def listed(path: Path, source: str = "un") -> dict[str, str]:
    """Return what a file lists: documents by entry id."""
    return {entry.entry_id: written(entry) for entry in read_source(source, path)}


def party(number: int, name: str = "Ermintrude Hollaback") -> tuple[str, str, str]:
    """Return an invented person for `un_list`."""
    return str(7_100_000 + number), f"{name} Nr{number}", "Poland"


async def take(store: Store, path: Path, *, source: str = "un", at: int = SHARED, **more: Any) -> Loaded:
    """Bring a file into force."""
    return await load_list(store, instance_id=at, source=source, path=path, **more)


async def in_force(store: Store, at: int = SHARED) -> Documents:
    """Return the documents in force by list and entry id."""
    found: Documents = {}
    async with store.reading(at) as read:
        for version in await current_versions(read):
            rows = [row async for some in entries_of(read, version) for row in some]
            found[version.source] = {row[1]: row[3] for row in rows}
            assert len(found[version.source]) == len(rows) == version.entries
    return found


def kept(settings: Settings) -> tuple[list[tuple[Any, ...]], ...]:
    """Return all that is kept of lists, and the jobs that follow from them."""
    return tuple(
        rows_of(settings, f"SELECT * FROM {table} ORDER BY id") for table in ("list_versions", "listed_entries", "jobs")
    )


async def instances(store: Store) -> tuple[int, int]:
    """Make an account and return two of its instances."""
    await store.writing_shared(lambda write: auth.create_account(write, name="acme", prefix="acme"))
    async with store.reading_shared() as read:
        found = [await instance_by_prefix(read, prefix) for prefix in ("acme", "acme-test")]
    first, second = (one[0] for one in found if one is not None)
    return first, second


class Held:
    """A load that stands still when its first entries are written, until it may go on."""

    def __init__(self, settings: Settings, path: Path) -> None:
        self.stands = threading.Event()
        self.may_go_on = threading.Event()
        self._settings = settings
        self._path = path
        self.outcome: Future[Loaded]

    def run(self) -> Loaded:
        """Load, and wait in between."""

        async def work() -> Loaded:
            async with await open_store(self._settings) as store:
                return await take(store, self._path, progress=self._wait)

        return asyncio.run(work())

    def _wait(self, _: int) -> None:
        self.stands.set()
        assert self.may_go_on.wait(PATIENCE)


@contextmanager
def held(settings: Settings, *paths: Path) -> Iterator[list[Held]]:
    """Begin loads one after another, each thought dead by the next; they go on when told, at the latest at the end."""
    loads = [Held(settings, path) for path in paths]
    with ThreadPoolExecutor(len(loads)) as threads:
        try:
            for one in loads:
                forget_claims(settings)
                one.outcome = threads.submit(one.run)
                assert one.stands.wait(PATIENCE), one.outcome.exception(0)
            yield loads
        finally:
            for one in loads:
                one.may_go_on.set()


def forget_claims(settings: Settings) -> None:
    """Let every load under way look dead."""
    execute(settings, f"UPDATE list_versions SET claimed_until = '{LONG_AGO}' WHERE state = 'loading'")


class TestLoad:
    """`load_list` of a whole file."""

    def test_tells_what_was_added_changed_and_removed(self, fresh: Settings, tmp_path: Path) -> None:
        before = file_of(tmp_path, un_list([party(number) for number in range(10)]), "before")
        changed = [party(0, "Ermintrude Hollaback-Szymborska"), *map(party, range(1, 9)), party(10), party(11)]
        after = file_of(tmp_path, un_list(changed, day="2026-11-02"), "after")

        async def scenario(store: Store) -> tuple[Loaded, Loaded, Documents]:
            return await take(store, before), await take(store, after), await in_force(store)

        first, second, documents = play(fresh, scenario)

        assert first == Loaded("un", "2026-11-01", 11, names=11, added=11)
        assert second == Loaded("un", "2026-11-02", 12, names=12, added=2, changed=1, removed=1)
        assert documents == {"un": listed(after)}

    def test_only_confirms_a_file_that_is_in_force(self, fresh: Settings, tmp_path: Path) -> None:
        path = file_of(tmp_path, un_list())

        async def scenario(store: Store) -> tuple[Loaded, str, str]:
            await take(store, path, origin='{"u": 1}')
            await asyncio.to_thread(execute, fresh, f"UPDATE list_versions SET checked_at = '{LONG_AGO}'")
            before = await asyncio.to_thread(kept, fresh)
            again = await take(store, path)
            async with store.reading_shared() as read:
                (version,) = await current_versions(read)
            await asyncio.to_thread(execute, fresh, f"UPDATE list_versions SET checked_at = '{LONG_AGO}'")
            after = await asyncio.to_thread(kept, fresh)
            assert after[:2] == before[:2]
            # Who could not be checked while the list was old is checked now.
            assert [job[1] for job in after[2]] == [*(job[1] for job in before[2]), RESCREEN_DUE]
            return again, version.checked_at, version.origin

        again, checked_at, origin = play(fresh, scenario)

        assert again == Loaded("un", "2026-11-01", 2, is_new=False)
        assert checked_at > "2026"
        assert origin == '{"u": 1}'

    def test_refuses_a_version_without_the_aliases(self, fresh: Settings, tmp_path: Path) -> None:
        header = "id,schema,name,aliases,countries\n"
        whole = header + "".join(f"X-{n},Person,Name {n} Xyz,Other {n} Abc,\n" for n in range(120))
        bare = header + "".join(f"X-{n},Person,Name {n} Xyz,,\n" for n in range(120))

        async def scenario(store: Store) -> None:
            await take(store, file_of(tmp_path, whole, "whole"), source="opensanctions")
            with pytest.raises(NotAllowed, match="from 240 to 120 names"):
                await take(store, file_of(tmp_path, bare, "bare"), source="opensanctions")

        play(fresh, scenario)

    def test_takes_an_entry_back_that_was_gone(self, fresh: Settings, tmp_path: Path) -> None:
        both = file_of(tmp_path, un_list(), "both")
        one = file_of(tmp_path, un_list(firms=()), "one")

        async def scenario(store: Store) -> tuple[Loaded, Documents]:
            await take(store, both)
            await take(store, one, may_shrink=True)
            return await take(store, both), await in_force(store)

        back, documents = play(fresh, scenario)

        assert (back.added, back.changed, back.removed) == (1, 0, 0)
        assert documents == {"un": listed(both)}

    def test_asks_for_one_job_a_version(self, fresh: Settings, tmp_path: Path) -> None:
        paths = [file_of(tmp_path, un_list(day=f"2026-11-0{day}"), f"{day}") for day in (1, 2)]

        async def scenario(store: Store) -> None:
            for path in (*paths, paths[-1]):
                await take(store, path)

        play(fresh, scenario)

        asked = rows_of(fresh, "SELECT kind, key, instance_id FROM jobs ORDER BY id")
        assert asked == [("screen against a changed list", f"0:{activation}", 0) for activation in (1, 2)]


GOOD = un_list(MANY)
BROKEN = {
    "cut in a late entry": GOOD[: len(GOOD) * 9 // 10],
    "without its end": GOOD.removesuffix("</CONSOLIDATED_LIST>"),
    "an entry without a number": GOOD.replace("<REFERENCE_NUMBER>TSi.7002400</REFERENCE_NUMBER>", ""),
    "an entry twice": GOOD.replace("TSi.7002400<", "TSi.7000001<"),
    "an entity": GOOD.replace("?>", '?><!DOCTYPE x [<!ENTITY e "e">]>', 1).replace("Nr2400", "&e;"),
    "no entries": un_list([], []),
    "another format": "id,schema,name,aliases,countries\nQ1,Person,Xaviero,,at\n",
    "nothing": "",
    "not text": "\0" * 1_000,
}


class TestBroken:
    """A file that is broken, half or something else is refused whole."""

    @pytest.mark.parametrize("how", BROKEN)
    def test_leaves_everything_as_it_was(self, fresh: Settings, tmp_path: Path, how: str) -> None:
        old = [(number, f"{name} the Elder", country) for number, name, country in MANY]
        path, broken = file_of(tmp_path, un_list(old), "old"), file_of(tmp_path, BROKEN[how], "broken")

        async def scenario(store: Store) -> tuple[Documents, Loaded]:
            await take(store, path)
            before = await asyncio.to_thread(kept, fresh)
            with pytest.raises(Unreadable):
                await take(store, broken, may_shrink=True)
            assert await asyncio.to_thread(kept, fresh) == before
            documents = await in_force(store)
            return documents, await take(store, file_of(tmp_path, GOOD))

        documents, after = play(fresh, scenario)

        assert documents == {"un": listed(path)}
        assert after.changed == len(MANY)

    @pytest.mark.parametrize("what", ["folder", "nowhere"])
    def test_is_told_of_what_is_no_file(self, fresh: Settings, tmp_path: Path, what: str) -> None:
        (tmp_path / "folder").mkdir()

        async def scenario(store: Store) -> None:
            with pytest.raises(Unreadable, match="cannot be read"):
                await take(store, tmp_path / what)

        play(fresh, scenario)

        assert kept(fresh) == ([], [], [])


class TestShrinking:
    """A list that lost over a fifth of its entries looks like half a file."""

    @pytest.mark.parametrize(
        ("entries", "left", "is_refused"), [(100, 80, False), (100, 79, True), (100, 1, True), (99, 1, False)]
    )
    def test_is_refused_unless_allowed(
        self, fresh: Settings, tmp_path: Path, entries: int, left: int, *, is_refused: bool
    ) -> None:
        whole = file_of(tmp_path, un_list(map(party, range(entries)), ()), "whole")
        less = file_of(tmp_path, un_list(map(party, range(left)), ()), "less")

        async def scenario(store: Store) -> None:
            await take(store, whole)
            before = await asyncio.to_thread(kept, fresh)
            if is_refused:
                with pytest.raises(NotAllowed, match=f"from {entries} to {left} entries"):
                    await take(store, less)
                assert await asyncio.to_thread(kept, fresh) == before
                assert await in_force(store) == {"un": listed(whole)}
            loaded = await take(store, less, may_shrink=is_refused)
            assert loaded.removed == entries - left
            assert await in_force(store) == {"un": listed(less)}

        play(fresh, scenario)


class TestTwoLoaders:
    """A list has one loader."""

    def test_of_which_the_second_is_told(self, fresh: Settings, tmp_path: Path) -> None:
        path, other = file_of(tmp_path, GOOD, "a"), file_of(tmp_path, un_list(), "b")

        async def scenario(store: Store) -> None:
            with pytest.raises(NotAllowed, match="being loaded already"):
                await take(store, other, may_shrink=True)

        with held(fresh, path) as (first,):
            play(fresh, scenario)
            first.may_go_on.set()
            assert first.outcome.result(PATIENCE).entries == len(MANY) + 1

        assert play(fresh, in_force) == {"un": listed(path)}

    def test_clear_away_what_a_dead_one_left(self, fresh: Settings, tmp_path: Path) -> None:
        old, path = file_of(tmp_path, un_list(MANY[:-1]), "old"), file_of(tmp_path, GOOD, "a")
        dead = file_of(tmp_path, un_list([(number, f"{name} Dead", "") for number, name, _ in MANY]), "dead")

        async def scenario(store: Store) -> Documents:
            await asyncio.to_thread(forget_claims, fresh)
            loaded = await take(store, path)
            assert (loaded.added, loaded.changed, loaded.removed) == (1, 0, 0)
            return await in_force(store)

        play(fresh, lambda store: take(store, old))
        with held(fresh, dead) as (lost,):
            assert play(fresh, scenario) == {"un": listed(path)}
            before = kept(fresh)
            lost.may_go_on.set()
            with pytest.raises(NotAllowed, match="taken over"):
                lost.outcome.result(PATIENCE)

        assert kept(fresh) == before
        assert all("Dead" not in row[-1] for row in before[1])

    def test_mix_nothing_where_one_was_only_thought_dead(self, fresh: Settings, tmp_path: Path) -> None:
        first = file_of(tmp_path, un_list([(number, f"{name} First", "") for number, name, _ in MANY]), "first")
        second = file_of(tmp_path, GOOD, "second")

        with held(fresh, first, second) as (lost, heir):
            lost.may_go_on.set()
            with pytest.raises(NotAllowed, match="taken over"):
                lost.outcome.result(PATIENCE)
            heir.may_go_on.set()
            assert heir.outcome.result(PATIENCE).added == len(MANY) + 1

        assert play(fresh, in_force) == {"un": listed(second)}
        assert [row for row in kept(fresh)[1] if "First" in row[-1]] == []

    def test_leave_one_whole_list_however_they_meet(self, fresh: Settings, tmp_path: Path) -> None:
        paths = [
            file_of(
                tmp_path, un_list([party(number, f"Try{place}") for number in range(place, place + 40)]), f"{place}"
            )
            for place in range(30)
        ]
        refused = []

        async def attempt(store: Store, path: Path) -> None:
            try:
                await take(store, path, may_shrink=True)
            except NotAllowed as refusal:
                refused.append(str(refusal))

        async def scenario(*stores: Store) -> None:
            for place in range(0, len(paths), 3):
                some = paths[place : place + 3]
                await asyncio.gather(*map(attempt, stores, some))
                assert (await in_force(stores[0]))["un"] in [listed(path) for path in some]

        play(fresh, scenario, stores=3)

        assert all("being loaded already" in said for said in refused)


class TestTwoLists:
    """Different lists have nothing to do with one another."""

    def test_come_into_force_at_the_same_moment(self, fresh: Settings, tmp_path: Path) -> None:
        header = "id,schema,name,aliases,countries\n"

        async def scenario(*stores: Store) -> None:
            for day in range(1, 9):
                un = file_of(tmp_path, un_list(day=f"2026-11-0{day}"), f"un{day}")
                sanctions = file_of(tmp_path, f"{header}Q{day},Person,Xaviero Bruckmoser {day},,at\n", f"os{day}")
                await asyncio.gather(
                    take(stores[0], un), take(stores[1], sanctions, source="opensanctions", may_shrink=True)
                )
                assert await in_force(stores[0]) == {
                    "un": listed(un),
                    "opensanctions": listed(sanctions, "opensanctions"),
                }
            async with stores[0].reading_shared() as read:
                versions = await activated_versions(read)
            assert [version.activation for version in versions] == list(range(1, 17))

        play(fresh, scenario, stores=2)


class TestVersions:
    """Every version that was in force can be told."""

    def test_give_their_entries_still(self, fresh: Settings, tmp_path: Path) -> None:
        spans = [range(12), range(2, 14), range(14), range(1, 13)]
        paths = [
            file_of(tmp_path, un_list([party(number, f"P{place % 2}") for number in span], ()), f"{place}")
            for place, span in enumerate(spans)
        ]

        async def scenario(store: Store) -> list[dict[str, str]]:
            for path in paths:
                await take(store, path)
            async with store.reading_shared() as read:
                return [
                    {row[1]: row[3] async for rows in entries_of(read, version) for row in rows}
                    for version in await activated_versions(read)
                ]

        assert play(fresh, scenario) == [listed(path) for path in paths]


class TestInterrupted:
    """Whoever loads is told to stop."""

    @pytest.mark.parametrize("batches", [1, 2, 3])
    def test_leaves_nothing(self, fresh: Settings, tmp_path: Path, batches: int) -> None:
        old, new = file_of(tmp_path, un_list(MANY[:2_400]), "old"), file_of(tmp_path, GOOD, "new")

        async def scenario(store: Store) -> Documents:
            await take(store, old)
            before = await asyncio.to_thread(kept, fresh)
            seen = []
            task: asyncio.Task[Loaded]

            def stop(entries: int) -> None:
                seen.append(entries)
                if len(seen) == batches:
                    task.cancel()

            task = asyncio.create_task(take(store, new, progress=stop))
            with suppress(asyncio.CancelledError):
                await task
            assert task.cancelled()
            # What was being written when the word came is written to its end; the last of it is the step into force.
            documents = await in_force(store)
            if documents == {"un": listed(old)}:
                assert await asyncio.to_thread(kept, fresh) == before
            assert batches == 3 or documents == {"un": listed(old)}
            await take(store, new)
            return await in_force(store)

        assert play(fresh, scenario) == {"un": listed(new)}


class TestBlockList:
    """A block list is of one instance."""

    def test_is_seen_by_no_other(self, fresh: Settings, tmp_path: Path) -> None:
        path = file_of(tmp_path, "name;uid\nHinterwald OHG;\n;K-77\n")

        async def scenario(store: Store) -> tuple[Documents, ...]:
            own, other = await instances(store)
            await take(store, path, source="block-list", at=own)
            return tuple([await in_force(store, at) for at in (own, other, SHARED)])

        assert play(fresh, scenario) == ({"block-list": listed(path, "block-list")}, {}, {})

    def test_is_loaded_beside_that_of_another(self, fresh: Settings, tmp_path: Path) -> None:
        paths = [file_of(tmp_path, f"name\nHinterwald {place} OHG\n", f"{place}") for place in range(2)]

        async def scenario(store: Store) -> list[Documents]:
            both = await instances(store)
            loads = [take(store, path, source="block-list", at=at) for path, at in zip(paths, both, strict=True)]
            await asyncio.gather(*loads, take(store, file_of(tmp_path, un_list(), "un")))
            return [await in_force(store, at) for at in both]

        assert play(fresh, scenario) == [{"block-list": listed(path, "block-list")} for path in paths]


# ------------------------------------------------------------------------------------ whom a new version concerns


@pytest.fixture(scope="module")
def watching(copied: Callable[[], Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a list in force, for what follows from others."""
    with Service(copied()) as running:
        load(running, tmp_path_factory.mktemp("lists"), un_list())
        yield running


@pytest.fixture
def cara(watching: Service) -> Member:
    """CARA: a clerk with more contacts than a list has new entries."""
    member = watching.member("cara", roles=["api-user", "clerk"])
    for number in range(5):
        make_contact(member, f"F-{number}", first_name="Annegret", last_name=f"Kühnemund-Lohse {number}")
    return member


def status(member: Member, uid: str) -> str:
    """Return a contact's status."""
    return str(member.get(f"/contacts/{uid}").json()["contact"]["status"])


class TestConcerned:
    """A version is held against all contacts by what is new in it."""

    @pytest.fixture(autouse=True)
    def restored(self, watching: Service, tmp_path: Path) -> Iterator[None]:
        """Bring the list back."""
        yield
        load(watching, tmp_path, un_list())

    @pytest.mark.parametrize(
        ("uid", "name", "blocked"),
        [
            ("K-77", "Lindgren", "uid\nK-77\n"),
            ("K-1", "HINTERWALD  &  söhne ohg", "name;country\nHinterwald & Söhne OHG;China\n"),
            ("K-1", "X", "name\nX\n"),
        ],
    )
    def test_by_a_block_list_to_the_letter(
        self, watching: Service, cara: Member, tmp_path: Path, uid: str, name: str, blocked: str
    ) -> None:
        make_contact(cara, uid, last_name=name, country_or_region="Germany")
        # What an instance wants of the official lists does not concern its own.
        watching.write(cara.instance_id, lambda write: set_rules(write, set_by="op", sources=("un",)))
        settle(watching)

        load(watching, tmp_path, blocked, source="block-list", member=cara)

        assert status(cara, uid) == "black"
        assert {status(cara, f"F-{number}") for number in range(5)} == {"green"}

    def test_among_many_of_the_same_family(self, watching: Service, cara: Member, tmp_path: Path) -> None:
        """A word that most contacts bear tells as much of a listed name as before, to the last thousandth."""
        for number in range(40):
            make_contact(
                cara,
                f"H-{number}",
                first_name="Wenzel" + "abcdefgh"[number % 8] * (1 + number // 8),
                last_name="Hollaback",
            )
        load(watching, tmp_path, un_list([WANTED, ("6900003", "Ermintrude Hollaback", "")]))
        made = make_contact(cara, "K-1", first_name="Ermintrud", last_name="Hollaback")
        least = round(made["sanctions_check_result"]["highest_score"] - 0.0005, 4)
        watching.write(cara.instance_id, lambda write: set_rules(write, set_by="op", threshold=least, certain=1.0))
        load(watching, tmp_path, un_list())
        assert status(cara, "K-1") == "green"

        load(watching, tmp_path, un_list([WANTED, ("6900004", "Ermintrude Hollaback", "")]))

        assert status(cara, "K-1") == "yellow"

    def test_also_where_another_list_is_too_old(self, watching: Service, cara: Member, tmp_path: Path) -> None:
        """The answer stands for want of a new one, but never against what was found."""
        make_contact(cara, "K-1", first_name="Xaviero", last_name="Bruckmoser-Vantongeren")
        header = "id,schema,name,aliases,countries\n"
        load(watching, tmp_path, f"{header}Q1,Person,Somebody Bartholdsen,,at\n", source="opensanctions")
        aged = "UPDATE list_versions SET checked_at = '{}' WHERE source = 'un' AND state = 'current'"
        execute(watching.settings, aged.format(LONG_AGO))

        load(watching, tmp_path, f"{header}Q2,Person,Xaviero Bruckmoser-Vantongeren,,at\n", source="opensanctions")

        execute(watching.settings, aged.format("2999-01-01T00:00:00.000000Z"))
        shown = cara.get("/contacts/K-1").json()["contact"]
        assert (shown["status"], len(shown["matches"])) == ("gray", 1)
        assert {status(cara, f"F-{number}") for number in range(5)} == {"green"}


class TestWatchlist:
    """Those on the watchlist come first, and nobody is passed over."""

    def test_put_on_it_while_all_are_screened(self, watching: Service, cara: Member) -> None:
        for number in range(210):
            make_contact(cara, f"W-{number}", last_name=f"Sandvoss {number}", is_watchlist=number < 205)
        make_contact(cara, "K-1", first_name="Zoltan", last_name="Vandermeulen")
        before = cara.get("/contacts/K-1").json()["contact"]["last_sanction_checked_at"]
        watching.write(cara.instance_id, lambda write: set_rules(write, set_by="op", threshold=0.6, certain=0.9))
        # As far as a worker that was stopped between the watchlist and the others; only then it is put on it.
        execute(watching.settings, "UPDATE jobs SET progress = '{\"step\": 1, \"after\": 0}' WHERE state = 'waiting'")
        cara.put("/contacts/K-1", {"contact": {"is_watchlist": True}})

        settle(watching)

        assert cara.get("/contacts/K-1").json()["contact"]["last_sanction_checked_at"] > before


class TestStoredMeanwhile:
    """A contact whose check is not of the lists in force, or not of the contact, is no answer."""

    @pytest.fixture(autouse=True)
    def restored(self, watching: Service, tmp_path: Path) -> Iterator[None]:
        """Bring the list back."""
        yield
        load(watching, tmp_path, un_list())

    def test_waits_for_another_check_where_a_list_changed(
        self, watching: Service, cara: Member, tmp_path: Path
    ) -> None:
        given = Given(contact_uid="K-1", values={"first_name": "Xaviero", "last_name": "Bruckmoser"}, notes=[])
        (check,) = watching.run(lambda _: checks_of_new(watching.screening, cara.instance_id, [given]))
        load(watching, tmp_path, un_list([WANTED, ("6900009", "Xaviero Bruckmoser", "")]))

        made = json.loads(cara.submit(create_contacts, ContactChange(caller_of(cara), given, check)))

        assert (made["status"], made["sanctions_check"]) == ("gray", "unchecked")
        settle(watching)
        assert status(cara, "K-1") == "red"

    def test_waits_for_another_check_where_the_contact_changed(self, watching: Service, cara: Member) -> None:
        make_contact(cara, "K-1", last_name="Lindgren")
        given = Given(contact_uid="K-1", values={"city": "Szeged"}, notes=[])
        (check,) = watching.run(lambda store: checks_of_updates(store, watching.screening, cara.instance_id, [given]))
        cara.put("/contacts/K-1", {"contact": {"first_name": "Zoltan Barnabas", "last_name": "Quistorp-Vandermeulen"}})

        updated = json.loads(cara.submit(update_contacts, ContactChange(caller_of(cara), given, check)))

        assert (updated["status"], updated["sanctions_check"]) == ("gray", "unchecked")
        settle(watching)
        assert status(cara, "K-1") == "red"

    @only_postgresql
    def test_is_waited_for_by_the_job_of_the_list(self, watching: Service, cara: Member, tmp_path: Path) -> None:
        """On SQLite no list comes into force while a contact is being stored."""
        given = Given(contact_uid="K-1", values={"first_name": "Xaviero", "last_name": "Bruckmoser"}, notes=[])
        path = file_of(tmp_path, un_list([WANTED, ("6900009", "Xaviero Bruckmoser", "")]))
        stored, may_commit = threading.Event(), threading.Event()
        (check,) = watching.run(lambda _: checks_of_new(watching.screening, cara.instance_id, [given]))

        async def store_slowly() -> None:
            async def work(write: Write) -> None:
                await create_contacts(write, [ContactChange(caller_of(cara), given, check)])
                stored.set()
                await asyncio.to_thread(may_commit.wait, PATIENCE)

            async with await open_store(watching.settings) as store:
                await store.writing(cara.instance_id, work)

        def stands() -> bool:
            waits = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            return bool(rows_of(watching.settings, waits)) or working.done()

        with ThreadPoolExecutor(2) as threads:
            storing = threads.submit(asyncio.run, store_slowly())
            assert stored.wait(PATIENCE)
            watching.run(lambda store: take(store, path))
            working = threads.submit(watching.work)
            assert happens(stands, within=PATIENCE)
            may_commit.set()
            storing.result(PATIENCE)
            working.result(PATIENCE)
        settle(watching)

        assert status(cara, "K-1") == "red"


class TestBlockListInMemory:
    """The block list of an instance, which a process indexes when it is first asked for."""

    def test_is_indexed_once_however_many_ask(
        self, fresh: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        given = [Given(contact_uid="K-1", values={"last_name": "Hinterwald"}, notes=[])]

        async def scenario(store: Store) -> list[bool]:
            await store.writing_shared(lambda write: auth.create_account(write, name="A", prefix="acme"))
            async with store.reading_shared() as read:
                instance_id = (await instance_by_prefix(read, "acme") or (0, 0))[0]
            await take(store, file_of(tmp_path, "name\nHinterwald\n"), source="block-list", at=instance_id)
            screening = Screening(store)
            await screening.bring_up_to_date()
            caplog.clear()
            checks = await asyncio.gather(*(checks_of_new(screening, instance_id, given) for _ in range(8)))
            screening.close()
            return [bool(check.blocked) for (check,) in checks]

        caplog.set_level("INFO")
        assert play(fresh, scenario) == [True] * 8
        assert sum("sanctions lists in memory" in message for message in caplog.messages) == 1
