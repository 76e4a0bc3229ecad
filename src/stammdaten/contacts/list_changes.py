"""A list has changed: its new entries are looked for among the contacts, not every contact among all entries."""

import asyncio
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select

from stammdaten.auth.queries import instance_ids
from stammdaten.contacts.rescreening import no_change, screen_contacts
from stammdaten.contacts.tables import contacts
from stammdaten.history.operations import SERVICE
from stammdaten.jobs.running import Handler, Job
from stammdaten.screening.consulting import by_letter, to_the_letter
from stammdaten.screening.current import Screening
from stammdaten.screening.matching import Contacts, Index
from stammdaten.screening.parties import Party
from stammdaten.screening.queries import (
    ListVersion,
    Rules,
    activated_versions,
    added_entries,
    contacts_like,
    removed_entries,
    rules,
    standing,
)
from stammdaten.screening.shapes import BLOCK_LIST
from stammdaten.screening.tables import checks
from stammdaten.store import SHARED, Row, Statement, Store, Write, number, the_instance

_AT_ONCE = 200
# So many contacts are indexed at a time, so that memory ends somewhere; each stretch costs a search for each entry.
_READ_AT_ONCE = 50_000

_PARTIES = Statement(
    select(
        contacts.c.id,
        contacts.c.is_watchlist,
        contacts.c.sanctions_check,
        contacts.c.contact_uid,
        contacts.c.first_name,
        contacts.c.last_name,
        contacts.c.gender,
        contacts.c.street,
        contacts.c.postal_code,
        contacts.c.city,
        contacts.c.country_or_region,
    )
    .where(the_instance(contacts), contacts.c.id > number("after"))
    .order_by(contacts.c.id)
    .limit(_READ_AT_ONCE)
)


def screening_list_change(screening: Screening) -> Handler:
    """Return the job that follows each version of a list that comes into force."""

    async def handle(store: Store, job: Job) -> str:
        owner = job.claimed.instance_id
        if owner == SHARED and screening.is_remote:
            return "official lists are those of another server"
        async with store.reading(owner, slow=True) as read:
            wanted = job.claimed.payload["version"]
            version = next(one for one in await activated_versions(read) if one.id == wanted)
            added, removed = await added_entries(read, version), await removed_entries(read, version)
        async with store.reading_shared() as read:
            instances = [owner] if owner != SHARED else await instance_ids(read)
        progress: dict[str, Any] = {"instance": 0, "screened": 0, "changed": 0, **job.claimed.progress}
        for instance_id in sorted(instances):
            if instance_id <= progress["instance"]:
                continue
            work = _Change(store, screening, job, version, added, removed)
            screened, changed = await work.screen(instance_id)
            progress["screened"] += screened
            progress["changed"] += changed
            progress["instance"] = instance_id
            await job.keep(progress)
        return (
            f"{version.source}: {len(added)} entries added or changed, {len(removed - added.keys())} removed; "
            f"{progress['screened']} contacts screened, {progress['changed']} answers changed"
        )

    return handle


class _Change:
    """What one version changed, while the contacts of an instance are screened against it."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a change is
        self,
        store: Store,
        screening: Screening,
        job: Job,
        version: ListVersion,
        added: dict[str, str],
        removed: set[str],
    ) -> None:
        self._store = store
        self._screening = screening
        self._job = job
        self._version = version
        self._added = added
        self._removed = removed

    async def screen(self, instance_id: int) -> tuple[int, int]:
        """Screen the contacts that the change concerns; return how many, and how many answers changed."""
        # Waits until whoever stores a contact now has ended: whoever comes later sees the new list.
        await self._store.writing(instance_id, no_change)
        await self._screening.bring_up_to_date()
        async with self._store.reading(instance_id) as read:
            wanted = await rules(read)
        is_official = self._job.claimed.instance_id == SHARED
        if is_official and wanted.sources and self._version.source not in wanted.sources:
            return 0, 0
        compared, concerned = await self._concerned(instance_id, wanted)
        order = [contact_id for _, contact_id in sorted(concerned)]
        why = f"the list {self._version.source} changed"
        changed = 0
        for begin in range(0, len(order), _AT_ONCE):
            some = order[begin : begin + _AT_ONCE]
            changed += await screen_contacts(self._store, self._screening, instance_id, some, why=why)
            await self._job.keep()
        await self._store.writing(instance_id, lambda write: self._record(write, wanted, compared, len(order)))
        return len(order), changed

    async def _concerned(self, instance_id: int, wanted: Rules) -> tuple[int, set[tuple[bool, int]]]:
        """Find who may have another answer: like a new entry, once found to be like an old one, or without an answer.

        Return how many contacts there are, and of those found whether they are off the watchlist, and their ids.
        """
        async with self._store.reading(instance_id) as read:
            before = await contacts_like(read, self._version.source, {*self._added, *self._removed})
        compared, concerned, after = 0, set(), 0
        while rows := await self._some(instance_id, after):
            alike = await self._alike(rows, wanted)
            concerned |= {
                (not row[1], row[0])
                for row in rows
                if row[0] in alike or row[0] in before or row[2] in ("unchecked", "failed")
            }
            compared += len(rows)
            after = rows[-1][0]
            await self._job.keep()
        return compared, concerned

    async def _some(self, instance_id: int, after: int) -> list[Row]:
        async with self._store.reading(instance_id, slow=True) as read:
            return await read.rows(_PARTIES, after=after)

    async def _alike(self, rows: list[Row], wanted: Rules) -> set[int]:
        if len(self._added) >= len(rows):
            # Looking for each entry would cost more than looking at each contact.
            return {row[0] for row in rows}
        owner = self._job.claimed.instance_id
        held = _held(rows, self._added.values()) if owner != SHARED else set()
        parties = [(row[0], Party(*(text or "" for text in row[4:]))) for row in rows]
        index = await self._screening.index_of(owner)
        # Not in turn with the checks: requests would wait for minutes where thousands of entries are new.
        alike = await asyncio.to_thread(_alike, parties, self._added.values(), index, least=wanted.threshold)
        return held | alike

    async def _record(self, write: Write, wanted: Rules, compared: int, concerned: int) -> None:
        """Record for the audit that all contacts were held against what changed, also where nobody was found."""
        now_standing = await standing(write)
        said = (
            f"{len(self._added)} new or changed entries and {len(self._removed - self._added.keys())} removed ones "
            f"held against {compared} contacts; {concerned} of them checked in full"
        )
        row = (
            *(write.next_id(), 0, "", write.now_utc, f"the list {self._version.source} changed", SERVICE, ""),
            *(now_standing.official, now_standing.blocked, self._screening.engine, str(wanted.threshold)),
            *("", "", "", 0, said),
        )
        await write.insert(checks, [row])


def _held(rows: Iterable[Row], documents: Iterable[str]) -> set[int]:
    """Find whom a block list names to the letter, or by uid, however alike."""
    letters = by_letter((BLOCK_LIST, document) for document in documents).keys()
    return {row[0] for row in rows if {f"uid:{row[3]}", to_the_letter(f"{row[4]} {row[5]}")} & letters}


def _alike(
    parties: Iterable[tuple[int, Party]], documents: Iterable[str], index: Index | None, *, least: float
) -> set[int]:
    # Words are as rare as on the lists: by the contacts' own, some would come to less here than in their check.
    reverse = Contacts.of(parties, index)
    return {contact_id for document in documents for contact_id in reverse.alike(document, least=least)}
