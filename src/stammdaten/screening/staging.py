"""A version of a list while it is being loaded: written aside, and brought into force in one step.

Invariants: a version is complete before it is in force, and a list has at most one version in force and one being
loaded. Whoever dies while loading leaves what the next one to load clears away; whoever was only thought dead knows
its own by when it began (`loaded_at`, until it is in force): the version's number may be another's by then.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import delete, func, select, update

from stammdaten.clock import utc_now, utc_stamp
from stammdaten.jobs.queue import ask_within
from stammdaten.refusals import NotAllowed
from stammdaten.screening.entries import compared
from stammdaten.screening.queries import ListVersion, current_versions, entries_of, entry_range
from stammdaten.screening.sources import Reading
from stammdaten.screening.tables import ENTRIES_A_VERSION, list_versions, listed_entries
from stammdaten.store import SHARED, Conflict, Statement, Store, WriteShared, any_of, number, text, the_instance

T = TypeVar("T")

LIST_CHANGED = "screen against a changed list"
# A list may lose this part of its entries from one version to the next; more looks like half a file, unless the list
# is so short that a few entries are much of it.
_MOST_LOST = 0.2
_SHORT_LIST = 100
_AT_ONCE = 1_000
_CLAIM_SECONDS = 120
_ATTEMPTS = 10

_LAST_ID = Statement(select(func.coalesce(func.max(list_versions.c.id), 0)).where(the_instance(list_versions)))
_LOADING = Statement(
    select(list_versions.c.id, list_versions.c.claimed_until, list_versions.c.loaded_at).where(
        the_instance(list_versions),
        list_versions.c.source == text("source"),
        list_versions.c.state == "loading",
    )
)
_own = (
    the_instance(list_versions),
    list_versions.c.id == number("version"),
    list_versions.c.state == "loading",
    list_versions.c.loaded_at == text("begun"),
)
_KEEP = Statement(update(list_versions).where(*_own).values(claimed_until=text("until")).returning(list_versions.c.id))
_GIVE_UP = Statement(delete(list_versions).where(*_own).returning(list_versions.c.id))
_FORGET_ENTRIES = Statement(
    delete(listed_entries).where(
        the_instance(listed_entries), listed_entries.c.id >= number("begin"), listed_entries.c.id < number("end")
    )
)
_LET_STAND = Statement(
    update(listed_entries)
    .where(the_instance(listed_entries), listed_entries.c.removed_in == number("version"))
    .values(removed_in=0)
)
_REMOVE = Statement(
    update(listed_entries)
    .where(the_instance(listed_entries), any_of(listed_entries.c.id, "ids"))
    .values(removed_in=number("version"))
)
_END_CURRENT = Statement(
    update(list_versions)
    .where(
        the_instance(list_versions),
        list_versions.c.source == text("source"),
        list_versions.c.state == "current",
    )
    .values(state="past")
)
_ACTIVATE = Statement(
    update(list_versions)
    .where(*_own)
    .values(
        state="current",
        activation=select(func.coalesce(func.max(list_versions.c.activation), 0) + 1)
        .where(the_instance(list_versions))
        .scalar_subquery(),
        list_date=text("new_list_date"),
        entries=number("new_entries"),
        names=number("new_names"),
        added=number("new_added"),
        changed=number("new_changed"),
        removed=number("new_removed"),
        unknown=text("new_unknown"),
        loaded_at=text("new_loaded_at"),
        checked_at=text("new_loaded_at"),
        claimed_until="",
    )
    .returning(list_versions.c.activation)
)


@dataclass(slots=True)
class Loaded:
    """What loading a list came to; `is_new` is False where the file is the one in force."""

    source: str
    list_date: str = ""
    entries: int = 0
    names: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unknown: dict[str, int] = field(default_factory=dict)
    is_new: bool = True
    older_than: str = ""  # the date of the version before, where that is the later one


class Staging:
    """A version while it is being loaded."""

    def __init__(self, store: Store, instance_id: int, source: str) -> None:
        self._store = store
        self._instance_id = instance_id
        self._before: ListVersion | None = None
        self._version = 0
        self._begun = ""
        self._position = 0
        self._loaded = Loaded(source)

    async def begin(self, file_hash: str, origin: str) -> None:
        """Take the list's one place for loading, from a dead loader too.

        :raises NotAllowed: if somebody else loads it.
        """
        source = self._loaded.source

        async def claim(write: WriteShared) -> None:
            now = utc_stamp(utc_now())
            for version, claimed_until, begun in await write.rows(_LOADING, source=source):
                if claimed_until >= now:
                    raise NotAllowed(f"The list {source} is being loaded already; please wait until that has ended.")
                await _clear(write, version, begun)
            # Looked up here: another load may have ended a moment ago, and what it brought is what changes now.
            self._before = {version.source: version for version in await current_versions(write)}.get(source)
            self._version, self._begun = (await write.rows(_LAST_ID))[0][0] + 1, now
            row = ListVersion(
                self._version, source, "loading", 0, "", file_hash, 0, 0, 0, 0, 0, "", now, "", origin, _until()
            )
            await write.insert(list_versions, [row])

        await self._in_turn(claim)

    async def run(self, reading: Reading, *, may_shrink: bool, progress: Callable[[int], None]) -> Loaded:
        """Write aside what is new, mark what is gone, and bring the version into force.

        :raises Unreadable: if the file turns out to be broken.
        :raises NotAllowed: if too much is gone.
        """
        loaded = self._loaded
        standing = await self._standing_entries()
        batches = _batches(reading)
        # Reading is pure CPU: in a thread, so that a serving process answers meanwhile.
        while batch := await asyncio.to_thread(next, batches, None):
            await self._stage(batch, standing)
            progress(loaded.entries)
        loaded.removed = len(standing)
        loaded.list_date, loaded.unknown = reading.version, dict(reading.unknown)
        self._check_size(may_shrink=may_shrink)
        gone = [entry_row for entry_row, _ in standing.values()]
        for begin in range(0, len(gone), _AT_ONCE):
            await self._write([], gone[begin : begin + _AT_ONCE])
        await self._activate()
        return loaded

    def _check_size(self, *, may_shrink: bool) -> None:
        loaded, before = self._loaded, self._before
        if before is None:
            return
        if loaded.list_date and loaded.list_date < before.list_date:
            loaded.older_than = before.list_date
        if may_shrink or before.entries < _SHORT_LIST:
            return
        # Names too: OFAC's first file without the other two has all entries, and none of their aliases.
        for what, now, then in (
            ("entries", loaded.entries, before.entries),
            ("names", loaded.names, before.names),
        ):
            if now < then * (1 - _MOST_LOST):
                raise NotAllowed(
                    f"The list {loaded.source} would shrink from {then} to {now} {what}, "
                    "which looks like half a file; --may-shrink loads it all the same."
                )

    async def give_up(self) -> None:
        """Leave nothing of the version, unless it is in force by now or another loader's."""
        await transact(self._store, self._instance_id, lambda write: _clear(write, self._version, self._begun))

    async def _standing_entries(self) -> dict[str, tuple[int, bytes]]:
        found: dict[str, tuple[int, bytes]] = {}
        if self._before is not None:
            async with self._store.reading(self._instance_id, slow=True) as read:
                async for rows in entries_of(read, self._before):
                    found.update({row[1]: (row[0], bytes.fromhex(row[2])) for row in rows})
        return found

    async def _stage(self, batch: list[tuple[str, str, str, int]], standing: dict[str, tuple[int, bytes]]) -> None:
        loaded = self._loaded
        fresh, replaced = [], []
        for entry_id, digest, document, names in batch:
            loaded.entries += 1
            loaded.names += names
            kept = standing.pop(entry_id, None)
            if kept is not None and kept[1].hex() == digest:
                continue
            if kept is None:
                loaded.added += 1
            else:
                loaded.changed += 1
                replaced.append(kept[0])
            self._position += 1
            if self._position >= ENTRIES_A_VERSION:
                raise NotAllowed(f"A list may have at most {ENTRIES_A_VERSION - 1} entries.")
            row_id = entry_range(self._version)[0] + self._position
            fresh.append((row_id, loaded.source, entry_id, digest, 0, document))
        await self._write(fresh, replaced)

    async def _write(self, fresh: list[tuple[Any, ...]], gone: list[int]) -> None:
        async def write_some(write: WriteShared) -> None:
            self._check_kept(await write.run(_KEEP, version=self._version, begun=self._begun, until=_until()))
            await write.insert(listed_entries, fresh)
            if gone:
                await write.run(_REMOVE, ids=gone, version=self._version)

        await transact(self._store, self._instance_id, write_some)

    def _check_kept(self, rows: object) -> None:
        if not rows:
            raise NotAllowed(f"The list {self._loaded.source} was taken over by another load; nothing was changed.")

    async def _activate(self) -> None:
        loaded = self._loaded

        async def activate(write: WriteShared) -> None:
            now = utc_stamp(utc_now())
            await write.run(_END_CURRENT, source=loaded.source)
            activated = await write.run(
                _ACTIVATE,
                version=self._version,
                begun=self._begun,
                new_list_date=loaded.list_date,
                new_entries=loaded.entries,
                new_names=loaded.names,
                new_added=loaded.added,
                new_changed=loaded.changed,
                new_removed=loaded.removed,
                new_unknown=json.dumps(loaded.unknown, ensure_ascii=False),
                new_loaded_at=now,
            )
            self._check_kept(activated)
            # In the same transaction: no version comes into force without its contacts being screened against it.
            activation = activated[0][0]
            key = f"{self._instance_id}:{activation}"
            payload = {"version": self._version, "activation": activation}
            await ask_within(write, kind=LIST_CHANGED, key=key, now=now, owner=self._instance_id, payload=payload)

        await self._in_turn(activate)

    async def _in_turn(self, work: Callable[[WriteShared], Awaitable[None]]) -> None:
        """Transact; again, where another list took the same number at the same moment."""
        for _ in range(_ATTEMPTS - 1):
            with suppress(Conflict):
                await transact(self._store, self._instance_id, work)
                return
        await transact(self._store, self._instance_id, work)


async def _clear(write: WriteShared, version: int, begun: str) -> None:
    if await write.run(_GIVE_UP, version=version, begun=begun):
        begin, end = entry_range(version)
        await write.run(_FORGET_ENTRIES, begin=begin, end=end)
        await write.run(_LET_STAND, version=version)


async def transact(store: Store, instance_id: int, work: Callable[[WriteShared], Awaitable[T]]) -> T:
    """Run work on the lists of an instance, or on the official ones."""
    if instance_id == SHARED:
        return await store.writing_shared(work)
    return await store.writing(instance_id, work)


def _until() -> str:
    return utc_stamp(utc_now() + timedelta(seconds=_CLAIM_SECONDS))


def _batches(reading: Reading) -> Iterator[list[tuple[str, str, str, int]]]:
    """Read entries as entry id, content hash, document and number of names, some at a time."""
    entries = iter(reading)
    while batch := [compared(entry) for entry in islice(entries, _AT_ONCE)]:
        yield batch
