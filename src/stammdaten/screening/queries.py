"""Lists, matches and settings as they are read; knows nothing of contacts."""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import func, select

from stammdaten.screening.matching import CERTAIN, DEFAULT_THRESHOLD
from stammdaten.screening.tables import ENTRIES_A_VERSION, checks, list_versions, listed_entries, matches
from stammdaten.screening.tables import screening_settings as settings
from stammdaten.store import SHARED, Read, Row, Statement, any_of, number, text, the_instance

_AT_ONCE = 5_000


class Standing(NamedTuple):
    """What a check rests on: activations of official lists and of the block list, and the id of the settings."""

    official: int
    blocked: int
    settings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an instance wants of its checks; the defaults are what docs/screening.md argues for."""

    threshold: float = DEFAULT_THRESHOLD
    certain: float = CERTAIN
    most_age_days: int = 7
    rescreen_days: int = 30
    sources: tuple[str, ...] = ()  # none: all that are loaded


class ListVersion(NamedTuple):
    """A version of a list, in the order of the table's columns."""

    id: int
    source: str
    state: str
    activation: int
    list_date: str
    file_hash: str
    entries: int
    names: int
    added: int
    changed: int
    removed: int
    unknown: str
    loaded_at: str
    checked_at: str
    origin: str
    claimed_until: str


class KeptMatch(NamedTuple):
    """A contact and an entry, in the order of the table's columns."""

    id: int
    contact_id: int
    source: str
    entry_id: str
    is_standing: bool = True
    decision: str = "open"
    decided_by: str = ""
    decided_at: str = ""
    comment: str = ""
    party_hash: str = ""
    entry_hash: str = ""


_newest = select(func.coalesce(func.max(list_versions.c.activation), 0))
_STANDING = Statement(
    select(
        _newest.where(list_versions.c.instance_id == SHARED).scalar_subquery(),
        _newest.where(the_instance(list_versions)).scalar_subquery(),
        select(func.coalesce(func.max(settings.c.id), 0)).where(the_instance(settings)).scalar_subquery(),
    ),
    across_instances="official lists are kept under the instance 0",
)
_VERSIONS = Statement(
    select(*(list_versions.c[name] for name in ListVersion._fields))
    .where(the_instance(list_versions), list_versions.c.state == text("wanted_state"))
    .order_by(list_versions.c.source)
)
_ACTIVATED = Statement(
    select(*(list_versions.c[name] for name in ListVersion._fields))
    .where(the_instance(list_versions), list_versions.c.activation > 0)
    .order_by(list_versions.c.activation)
)
_of_version = (
    listed_entries.c.source == text("source"),
    listed_entries.c.id < number("end"),
    (listed_entries.c.removed_in == 0) | (listed_entries.c.removed_in > number("version")),
)
_ENTRIES = Statement(
    select(listed_entries.c.id, listed_entries.c.entry_id, listed_entries.c.content_hash, listed_entries.c.document)
    .where(the_instance(listed_entries), *_of_version, listed_entries.c.id > number("after"))
    .order_by(listed_entries.c.id)
    .limit(_AT_ONCE)
)
_ADDED = Statement(
    select(listed_entries.c.entry_id, listed_entries.c.document).where(
        the_instance(listed_entries),
        listed_entries.c.source == text("source"),
        listed_entries.c.id >= number("begin"),
        listed_entries.c.id < number("end"),
    )
)
_REMOVED = Statement(
    select(listed_entries.c.entry_id).where(
        the_instance(listed_entries), listed_entries.c.removed_in == number("version")
    )
)
_SETTINGS = Statement(
    select(
        settings.c.threshold,
        settings.c.certain,
        settings.c.most_age_days,
        settings.c.rescreen_days,
        settings.c.sources,
    )
    .where(the_instance(settings))
    .order_by(settings.c.id.desc())
    .limit(1)
)
_MATCHES = Statement(
    select(*(matches.c[name] for name in KeptMatch._fields)).where(
        the_instance(matches), any_of(matches.c.contact_id, "contact_ids")
    )
)
_CONCERNED = Statement(
    select(matches.c.contact_id).where(
        the_instance(matches), matches.c.source == text("source"), any_of(matches.c.entry_id, "entry_ids")
    )
)
_CHECKS = Statement(
    select(*list(checks.c)[1:])
    .where(the_instance(checks), checks.c.at >= text("since"), checks.c.id > number("after"))
    .order_by(checks.c.id)
    .limit(_AT_ONCE)
)


def entry_range(version_id: int) -> tuple[int, int]:
    """Return the ids of the entries that a version brought: from, and up to but not including."""
    return version_id * ENTRIES_A_VERSION, (version_id + 1) * ENTRIES_A_VERSION


async def standing(read: Read) -> Standing:
    """Return what a check of this instance rests on at this moment."""
    return Standing(*(await read.rows(_STANDING))[0])


async def current_versions(read: Read) -> list[ListVersion]:
    """Return the versions in force, by name of the list."""
    return [ListVersion(*row) for row in await read.rows(_VERSIONS, wanted_state="current")]


async def activated_versions(read: Read) -> list[ListVersion]:
    """Return all versions that were ever in force, in the order in which they came."""
    return [ListVersion(*row) for row in await read.rows(_ACTIVATED)]


async def entries_of(read: Read, version: ListVersion) -> AsyncIterator[list[Row]]:
    """Return id, entry id, content hash and document of a version's entries, some thousand at a time."""
    values = {"source": version.source, "version": version.id, "end": entry_range(version.id)[1]}
    after = 0
    while rows := await read.rows(_ENTRIES, after=after, **values):
        yield rows
        after = rows[-1][0]


async def added_entries(read: Read, version: ListVersion) -> dict[str, str]:
    """Return the documents, by entry id, that a version added or changed."""
    begin, end = entry_range(version.id)
    rows = await read.rows(_ADDED, source=version.source, begin=begin, end=end)
    return {row[0]: row[1] for row in rows}


async def removed_entries(read: Read, version: ListVersion) -> set[str]:
    """Return the ids of entries that a version removed or changed."""
    return {row[0] for row in await read.rows(_REMOVED, version=version.id)}


async def rules(read: Read) -> Rules:
    """Return the settings of the instance, or what counts where none were made."""
    found = await read.row(_SETTINGS)
    if found is None:
        return Rules()
    threshold, certain, most_age_days, rescreen_days, sources = found
    return Rules(
        threshold=float(threshold),
        certain=float(certain),
        most_age_days=most_age_days,
        rescreen_days=rescreen_days,
        sources=tuple(json.loads(sources or "[]")),
    )


async def matches_of(read: Read, contact_ids: Iterable[int]) -> dict[int, list[KeptMatch]]:
    """Return what was ever found of these contacts, by contact."""
    found: dict[int, list[KeptMatch]] = {}
    for row in await read.rows(_MATCHES, contact_ids=sorted(set(contact_ids))):
        found.setdefault(row[1], []).append(KeptMatch(*row))
    return found


async def contacts_like(read: Read, source: str, entry_ids: Iterable[str]) -> set[int]:
    """Return the contacts that were ever found to be like one of these entries."""
    rows = await read.rows(_CONCERNED, source=source, entry_ids=sorted(set(entry_ids)))
    return {row[0] for row in rows}


async def checks_since(read: Read, since: str) -> AsyncIterator[list[dict[str, Any]]]:
    """Return the record of checks and decisions from a moment (UTC) on, some thousand at a time."""
    names = [column.name for column in list(checks.c)[1:]]
    after = 0
    while rows := await read.rows(_CHECKS, since=since, after=after):
        yield [dict(zip(names, row, strict=True)) for row in rows]
        after = rows[-1][0]
