"""What a process has in memory for its checks: the lists in force, indexed; knows nothing of contacts.

A check names what it rests on (`Standing`). Whoever stores its outcome compares that with what is in force in the same
transaction: between the two a list may have changed, and then the outcome must not be taken for an answer.
"""

import asyncio
import gc
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

import httpx2 as httpx

from stammdaten.clock import utc_now
from stammdaten.refusals import Unavailable
from stammdaten.screening.entries import Entry, written
from stammdaten.screening.matching import ENGINE, Index, Match, comparable
from stammdaten.screening.measuring import ListWatch, measured_screening
from stammdaten.screening.queries import ListVersion, Rules, Standing, current_versions, entries_of, rules, standing
from stammdaten.screening.shapes import Check, Subject
from stammdaten.screening.yente import NotAnswered, YenteServer, ask
from stammdaten.store import SHARED, Store

T = TypeVar("T")

# A check that meets a list it does not know wakes the look at once.
_LOOK_SECONDS = 30
_MOST_BLOCK_LISTS = 64
_REQUESTS_AT_ONCE = 4
# Namesakes beyond these are counted, not shown: a contact must not grow without end.
_MOST_MATCHES = 500
_NO_LIST = "No official sanctions list is loaded."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Lists:
    """Lists in force at one moment, ready to be asked."""

    activation: int
    versions: tuple[ListVersion, ...]
    index: Index
    # For a block list: entries by name as `to_the_letter` has it, and by uid.
    names: dict[str, list[tuple[str, str]]]


class Remote(NamedTuple):
    """What a server answered of a subject."""

    name: str
    found: list[Match]


class Screening:
    """The lists in force as this process knows them."""

    def __init__(self, store: Store, yente: YenteServer | None = None) -> None:
        self._store = store
        self._yente = yente
        self.engine = ENGINE
        self._official: _Lists | None = None
        self._block_lists: OrderedDict[int, _Lists] = OrderedDict()
        # One: checks are pure CPU, and a second would only take turns with the first.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="screening")
        self._loading = asyncio.Lock()
        self._outdated = asyncio.Event()
        self._watch = ListWatch()

    async def keep_up_to_date(self) -> None:
        """Follow the lists until cancelled."""
        while True:
            try:
                await self.bring_up_to_date()
            except Unavailable:
                _log.warning("sanctions lists wait: the database is away")
            except Exception:
                # Checks go on failing closed meanwhile; the next look is in a moment.
                _log.exception("sanctions lists: an unexpected error")
            self._outdated.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._outdated.wait(), _LOOK_SECONDS)

    async def bring_up_to_date(self) -> None:
        """Load the official lists, unless those in force are known already.

        :raises Unavailable: if the database is away.
        """
        if self._yente is not None:
            await self._watch.look(self._store, ())
            return
        async with self._loading:
            self._official = await self._up_to_date(SHARED, self._official)
        await self._watch.look(self._store, self._official.versions)

    async def check(self, instance_id: int, subjects: Sequence[Subject], *, is_job: bool = False) -> list[Check]:
        """Check contacts of one instance, in a thread; only a job asks a server that may be slow.

        :raises Unavailable: if the database is away, or such a server.
        """
        async with self._store.reading(instance_id) as read:
            now_standing = await standing(read)
            wanted = await rules(read) if now_standing.settings else Rules()
        blocked = await self._block_list(instance_id, now_standing)
        reason, follows = self._reason_for_none(now_standing, is_job=is_job)
        if reason:
            return [
                Check(subject=subject, standing=now_standing, failed=reason, is_made=False, follows=follows)
                for subject in subjects
            ]
        remote = None if self._yente is None else await self._ask(self._yente, subjects, wanted)
        using = _Using(now_standing, wanted, self._official, blocked, utc_now())
        return await self.in_thread(
            lambda: [using.check(subject, remote[place] if remote else None) for place, subject in enumerate(subjects)]
        )

    @property
    def is_remote(self) -> bool:
        """Whether the official lists are those of a yente server, which tells nobody when they change."""
        return self._yente is not None

    def _reason_for_none(self, wanted: Standing, *, is_job: bool) -> tuple[str, bool]:
        """Return why no check can be made now, and whether one follows; "" if it can."""
        if self._yente is not None:
            return ("", False) if is_job else ("The check is done by another server; it follows.", True)
        if not wanted.official and not wanted.blocked:
            return _NO_LIST, False
        if self._official is None or self._official.activation != wanted.official:
            self._outdated.set()
            return "The sanctions lists are being loaded; the check follows.", True
        return "", False

    async def _ask(self, server: YenteServer, subjects: Sequence[Subject], wanted: Rules) -> list[Remote]:
        turn = asyncio.Semaphore(_REQUESTS_AT_ONCE)

        async def ask_one(client: httpx.AsyncClient, subject: Subject) -> list[Match]:
            if not comparable(subject.party):
                return []
            async with turn:
                return await ask(server, subject.party, least=wanted.threshold, client=client)

        async with httpx.AsyncClient(trust_env=False) as client:
            try:
                found = await asyncio.gather(*(ask_one(client, subject) for subject in subjects))
            except NotAnswered as error:
                raise Unavailable(str(error)) from error
        return [Remote(f"yente:{server.dataset}", matches) for matches in found]

    async def index_of(self, owner: int) -> Index | None:
        """Return the official lists (0), or an instance's block list, as last brought up to date."""
        if owner == SHARED:
            return None if self._official is None else self._official.index
        async with self._store.reading(owner) as read:
            blocked = await self._block_list(owner, await standing(read))
        return None if blocked is None else blocked.index

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run what is pure CPU beside the event loop, in turn with the checks."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _block_list(self, instance_id: int, wanted: Standing) -> _Lists | None:
        if not wanted.blocked:
            return None
        known = self._block_lists.pop(instance_id, None)
        if known is None or known.activation < wanted.blocked:
            known = await self._up_to_date(instance_id, known)
        self._block_lists[instance_id] = known
        while len(self._block_lists) > _MOST_BLOCK_LISTS:
            self._block_lists.popitem(last=False)
        return known

    async def _up_to_date(self, instance_id: int, known: _Lists | None) -> _Lists:
        async with self._store.reading(instance_id) as read:
            versions = tuple(await current_versions(read))
        activation = max((version.activation for version in versions), default=0)
        if known is not None and known.activation == activation:
            # When a list was last confirmed may have moved all the same.
            return _Lists(activation, versions, known.index, known.names)
        listed: list[tuple[str, str]] = []
        async with self._store.reading(instance_id, slow=True) as read:
            for version in versions:
                async for rows in entries_of(read, version):
                    listed += [(version.source, row[3]) for row in rows]
        index = await asyncio.to_thread(_indexed, listed)
        _log.info("sanctions lists in memory: %s entries, %s names", index.entries, index.names)
        return _Lists(activation, versions, index, by_letter(listed) if instance_id != SHARED else {})


@dataclass(frozen=True, slots=True)
class _Using:
    """Everything that the checks of one batch rest on."""

    standing: Standing
    rules: Rules
    official: _Lists | None  # None where a server is asked
    blocked: _Lists | None
    now: datetime

    def check(self, subject: Subject, remote: Remote | None) -> Check:
        found, by_letter = self._blocked(subject)
        can_compare, unusable = comparable(subject.party), self._unusable()
        if remote is not None:
            found += [*remote.found, *_still_confirmed(subject, remote)]
        elif can_compare and self.official is not None:
            with measured_screening():
                found += self._listed(subject, self.official.index)
        versions = [*self._used(), *(self.blocked.versions if self.blocked else ())]
        lists = [
            {"name": version.source, "version": version.list_date, "entries": version.entries} for version in versions
        ]
        return Check(
            subject=subject,
            standing=self.standing,
            rules=self.rules,
            lists=tuple(lists if remote is None else [{"name": remote.name, "version": "", "entries": 0}, *lists]),
            engine=ENGINE if remote is None else "yente",
            found=tuple(sorted(found, key=lambda match: -match.score)[:_MOST_MATCHES]),
            left_out=max(0, len(found) - _MOST_MATCHES),
            blocked=by_letter,
            failed=unusable if can_compare else "The name holds nothing that could be compared.",
            are_lists_unusable=can_compare and bool(unusable),
        )

    def _used(self) -> list[ListVersion]:
        wanted = self.rules.sources
        if self.official is None:
            return []
        return [version for version in self.official.versions if not wanted or version.source in wanted]

    def _unusable(self) -> str:
        if self.official is None:
            return ""
        used = self._used()
        missing = sorted(set(self.rules.sources) - {version.source for version in used})
        if missing:
            return f"The list {missing[0]} is not loaded."
        if not used:
            return _NO_LIST
        oldest = min(used, key=lambda version: version.checked_at)
        if is_too_old(oldest, self.rules, self.now):
            return (
                f"The list {oldest.source} was last brought up to date at {oldest.checked_at}; "
                f"lists may be {self.rules.most_age_days} days old."
            )
        return ""

    def _listed(self, subject: Subject, index: Index) -> list[Match]:
        found = index.matches(subject.party, least=self.rules.threshold)
        found += _held(index, subject.confirmed, found, "confirmed")
        return [match for match in found if not self.rules.sources or match.source in self.rules.sources]

    def _blocked(self, subject: Subject) -> tuple[list[Match], frozenset[tuple[str, str]]]:
        if self.blocked is None:
            return [], frozenset()
        letters = (to_the_letter(subject.party.name), f"uid:{subject.contact_uid}")
        by_letter = frozenset(key for letter in letters for key in self.blocked.names.get(letter, ()))
        index = self.blocked.index
        found = index.matches(subject.party, least=self.rules.threshold)
        found += _held(index, by_letter, found, "to the letter")
        found += _held(index, subject.confirmed, found, "confirmed")
        return found, by_letter


def _held(index: Index, entries: Iterable[tuple[str, str]], found: list[Match], why: str) -> list[Match]:
    """Return entries that are matches for another reason than their likeness; those that are no longer listed are not.

    What is equal to the letter counts whole, what a person confirmed needs no likeness.
    """
    known = {(match.source, match.entry_id) for match in found}
    held = []
    for source, entry_id in sorted(set(entries) - known):
        document = index.document(source, entry_id)
        if document is not None:
            name = next((name for name, _ in json.loads(document)["names"]), "")
            score = 1.0 if why == "to the letter" else 0.0
            held.append(Match(source, entry_id, name, name, score, {why: score}, document))
    return held


def _still_confirmed(subject: Subject, remote: Remote) -> list[Match]:
    """Return what a person confirmed and the server does not find any more: it does not say whether it is delisted."""
    known = {(match.source, match.entry_id) for match in remote.found}
    return [
        Match(source, entry_id, "", "", 0.0, {"confirmed": 0.0}, written(Entry(entry_id=entry_id, names=())))
        for source, entry_id in sorted(subject.confirmed - known)
        if source == remote.name
    ]


def _indexed(listed: list[tuple[str, str]]) -> Index:
    index = Index.of(listed)
    # What lives as long as the process is not looked through by the garbage collector again and again: that would take
    # 0.1 s each time, in the midst of somebody's request.
    gc.collect()
    gc.freeze()
    return index


def is_too_old(version: ListVersion, wanted: Rules, now: datetime) -> bool:
    """Tell whether a list was brought up to date longer ago than these rules allow."""
    return datetime.fromisoformat(version.checked_at) < now - timedelta(days=wanted.most_age_days)


def to_the_letter(name: str) -> str:
    """Return a name as block lists compare it: without case and with single blanks."""
    return " ".join(name.casefold().split())


def by_letter(listed: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Return entries by `to_the_letter` of their names, and by `uid:` with the uid they block."""
    found: dict[str, list[tuple[str, str]]] = {}
    for source, document in listed:
        entry: dict[str, Any] = json.loads(document)
        uids = [number for number in entry.get("identifiers", ()) if number.startswith("uid:")]
        for letter in {*(to_the_letter(name) for name, _ in entry["names"]), *uids}:
            found.setdefault(letter, []).append((source, entry["entry_id"]))
    return found
