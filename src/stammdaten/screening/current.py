"""What a process has in memory for its checks: the lists in force, indexed; knows nothing of contacts.

A check names what it rests on (`Standing`). Whoever stores its outcome compares that with what is in force in the same
transaction: between the two a list may have changed, and then the outcome must not be taken for an answer.
"""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from stammdaten.clock import utc_now
from stammdaten.refusals import Unavailable
from stammdaten.screening.matching import ENGINE, Index, Match, comparable
from stammdaten.screening.measuring import ListWatch, measured_screening
from stammdaten.screening.queries import ListVersion, Rules, Standing, current_versions, entries_of, rules, standing
from stammdaten.screening.shapes import Check, Subject
from stammdaten.store import SHARED, Store

T = TypeVar("T")

_LOOK_SECONDS = 2
_MOST_BLOCK_LISTS = 64
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Lists:
    """Lists in force at one moment, ready to be asked."""

    activation: int
    versions: tuple[ListVersion, ...]
    index: Index
    # For a block list: entries by name as `_to_the_letter` has it, and by uid.
    names: dict[str, list[tuple[str, str]]]


class Screening:
    """The lists in force as this process knows them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.engine = ENGINE
        self._official: _Lists | None = None
        self._block_lists: OrderedDict[int, _Lists] = OrderedDict()
        # One: checks are pure CPU, and a second would only take turns with the first.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="screening")
        self._loading = asyncio.Lock()
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
            await asyncio.sleep(_LOOK_SECONDS)

    async def bring_up_to_date(self) -> None:
        """Load the official lists, unless those in force are known already.

        :raises Unavailable: if the database is away.
        """
        async with self._loading:
            self._official = await self._up_to_date(SHARED, self._official)
        await self._watch.look(self._store, self._official.versions)

    async def check(self, instance_id: int, subjects: Sequence[Subject]) -> list[Check]:
        """Check contacts of one instance, in a thread.

        :raises Unavailable: if the database is away.
        """
        async with self._store.reading(instance_id) as read:
            now_standing, wanted = await standing(read), await rules(read)
        official, blocked = self._official, await self._block_list(instance_id, now_standing)
        if official is None or official.activation != now_standing.official:
            waiting = "The sanctions lists are being loaded; the check follows."
            return [
                Check(subject=subject, standing=now_standing, failed=waiting, is_waiting=True) for subject in subjects
            ]
        using = _Using(now_standing, wanted, official, blocked, utc_now())
        return await self.in_thread(lambda: [using.check(subject) for subject in subjects])

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
        index = await asyncio.to_thread(Index.of, listed)
        _log.info("sanctions lists in memory: %s entries, %s names", index.entries, index.names)
        return _Lists(activation, versions, index, _by_letter(listed) if instance_id != SHARED else {})


@dataclass(frozen=True, slots=True)
class _Using:
    """Everything that the checks of one batch rest on."""

    standing: Standing
    rules: Rules
    official: _Lists
    blocked: _Lists | None
    now: datetime

    def check(self, subject: Subject) -> Check:
        versions = [*self._used(), *(self.blocked.versions if self.blocked else ())]
        found, by_letter = self._blocked(subject)
        can_compare, unusable = comparable(subject.party), self._unusable()
        if can_compare:
            with measured_screening():
                found += self._listed(subject)
        return Check(
            subject=subject,
            standing=self.standing,
            rules=self.rules,
            lists=tuple(
                {"name": version.source, "version": version.list_date, "entries": version.entries}
                for version in versions
            ),
            engine=ENGINE,
            found=tuple(sorted(found, key=lambda match: -match.score)),
            blocked=by_letter,
            failed=unusable if can_compare else "The name holds nothing that could be compared.",
            are_lists_unusable=can_compare and bool(unusable),
        )

    def _used(self) -> list[ListVersion]:
        wanted = self.rules.sources
        return [version for version in self.official.versions if not wanted or version.source in wanted]

    def _unusable(self) -> str:
        used = self._used()
        missing = sorted(set(self.rules.sources) - {version.source for version in used})
        if missing:
            return f"The list {missing[0]} is not loaded."
        if not used:
            return "No official sanctions list is loaded."
        oldest = min(used, key=lambda version: version.checked_at)
        if is_too_old(oldest, self.rules, self.now):
            return (
                f"The list {oldest.source} was last brought up to date at {oldest.checked_at}; "
                f"lists may be {self.rules.most_age_days} days old."
            )
        return ""

    def _listed(self, subject: Subject) -> list[Match]:
        found = self.official.index.matches(subject.party, least=self.rules.threshold, also=subject.confirmed)
        return [match for match in found if not self.rules.sources or match.source in self.rules.sources]

    def _blocked(self, subject: Subject) -> tuple[list[Match], frozenset[tuple[str, str]]]:
        if self.blocked is None:
            return [], frozenset()
        letters = (_to_the_letter(subject.party.name), f"uid:{subject.contact_uid}")
        by_letter = frozenset(key for letter in letters for key in self.blocked.names.get(letter, ()))
        also = {*by_letter, *subject.confirmed}
        return self.blocked.index.matches(subject.party, least=self.rules.threshold, also=also), by_letter


def is_too_old(version: ListVersion, wanted: Rules, now: datetime) -> bool:
    """Tell whether a list was brought up to date longer ago than these rules allow."""
    return datetime.fromisoformat(version.checked_at) < now - timedelta(days=wanted.most_age_days)


def _to_the_letter(name: str) -> str:
    return " ".join(name.casefold().split())


def _by_letter(listed: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for source, document in listed:
        entry: dict[str, Any] = json.loads(document)
        uids = [number for number in entry.get("identifiers", ()) if number.startswith("uid:")]
        for letter in {*(_to_the_letter(name) for name, _ in entry["names"]), *uids}:
            found.setdefault(letter, []).append((source, entry["entry_id"]))
    return found
