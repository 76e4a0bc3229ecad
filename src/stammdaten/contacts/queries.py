"""Contacts as they are read: rendered documents for the interface, columns for the operations."""

import json
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select, true

from stammdaten.contacts.shapes import Contact
from stammdaten.contacts.tables import contacts
from stammdaten.screening.tables import matches
from stammdaten.store import Read, Statement, any_of, flag, number, text, the_instance
from stammdaten.store.tables import clocks

_SHORT_STRETCH = 200
_AT_ONCE = 500
_FOLDED = (
    contacts.c.folded_uid,
    contacts.c.folded_name,
    contacts.c.folded_city,
    contacts.c.folded_country,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactFilter:
    """What List Contacts asks for; `timestamp` is UTC as contacts show it."""

    search: str
    timestamp: str | None
    is_watchlist: bool | None
    is_archived: bool
    per_page: int
    page: int

    @property
    def is_slow(self) -> bool:
        """Whether rows are counted or skipped; the first pages of all contacts are one short stretch of an index."""
        counts = self.search or self.timestamp is not None or self.is_watchlist is not None
        return bool(counts) or self.page * self.per_page > _SHORT_STRETCH


@dataclass(frozen=True, slots=True)
class ContactPage:
    """The documents of a page, and how many contacts the filter finds in all."""

    documents: list[bytes]
    total: int


def folded(searched: str) -> str:
    """Take the case out of a text, in any script: `Müller` and `MÜLLER` fold alike, `ß` folds to `ss`."""
    return searched.casefold()


def _pattern(search: str) -> str:
    # A backslash before anything but a wildcard or itself is a backslash: the engines disagree on what else it is.
    escaped = re.sub(r"\\([%_\\])|\\", lambda found: found[0] if found[1] else r"\\", folded(search))
    return f"%{escaped}%"


def _conditions(*, searched: bool, since: bool, watched: bool) -> list[ColumnElement[bool]]:
    conditions = [the_instance(contacts), contacts.c.is_archived == flag("is_archived")]
    if searched:
        conditions.append(or_(*(column.like(text("pattern"), escape="\\") for column in _FOLDED)))
    if since:
        conditions.append(contacts.c.updated_at >= text("timestamp"))
    if watched:
        conditions.append(contacts.c.is_watchlist == flag("is_watchlist"))
    return conditions


@cache
def _page_and_total(*, searched: bool, since: bool, watched: bool) -> tuple[Statement, Statement]:
    conditions = _conditions(searched=searched, since=since, watched=watched)
    # The page's ids first: what is skipped is skipped in the index.
    ids = (
        select(contacts.c.id)
        .where(*conditions)
        .order_by(contacts.c.updated_at, contacts.c.id)
        .limit(number("limit"))
        .offset(number("offset"))
    )
    page = (
        select(contacts.c.document)
        .where(the_instance(contacts), contacts.c.id.in_(ids))
        .order_by(contacts.c.updated_at, contacts.c.id)
    )
    return Statement(page), Statement(select(func.count()).select_from(contacts).where(*conditions))


_TOTALS = Statement(select(clocks.c.contacts, clocks.c.archived_contacts).where(the_instance(clocks)))
_DOCUMENT = Statement(
    select(contacts.c.document).where(the_instance(contacts), contacts.c.contact_uid == text("contact_uid"))
)
_BY_UID = Statement(
    select(*(contacts.c[name] for name in Contact._fields)).where(
        the_instance(contacts), any_of(contacts.c.contact_uid, "contact_uids")
    )
)


async def page_of_contacts(read: Read, wanted: ContactFilter) -> ContactPage:
    """Return a page of contacts in order of their last change, and the total."""
    values: dict[str, Any] = {
        "is_archived": wanted.is_archived,
        "is_watchlist": wanted.is_watchlist,
        "timestamp": wanted.timestamp,
        "pattern": _pattern(wanted.search),
    }
    searched, since, watched = (
        bool(wanted.search),
        wanted.timestamp is not None,
        wanted.is_watchlist is not None,
    )
    page, total = _page_and_total(searched=searched, since=since, watched=watched)
    rows = await read.rows(page, limit=wanted.per_page, offset=(wanted.page - 1) * wanted.per_page, **values)
    documents = [row[0] for row in rows]
    if searched or since or watched:
        counted = await read.rows(total, **values)
        return ContactPage(documents, counted[0][0])
    totals = await read.rows(_TOTALS)
    return ContactPage(documents, totals[0][wanted.is_archived])


async def contact_by_uid(read: Read, contact_uid: str) -> bytes | None:
    """Return the document of the contact with this uid."""
    found = await read.row(_DOCUMENT, contact_uid=contact_uid)
    return None if found is None else found[0]


async def contacts_by_uid(read: Read, contact_uids: Iterable[str]) -> dict[str, Contact]:
    """Return the contacts that have these uids."""
    rows = await read.rows(_BY_UID, contact_uids=list(set(contact_uids)))
    return {row[1]: Contact(*row) for row in rows}


_AFTER = Statement(
    select(*(contacts.c[name] for name in Contact._fields), *_FOLDED, contacts.c.document)
    .where(the_instance(contacts), contacts.c.id > number("after"))
    .order_by(contacts.c.id)
    .limit(_AT_ONCE)
)


async def contacts_after(read: Read, after: int) -> list[tuple[Contact, tuple[str | bytes, ...]]]:
    """Return the next 500 contacts by id, each with what is derived from it; for going through all."""
    columns = len(Contact._fields)
    return [(Contact(*row[:columns]), tuple(row[columns:])) for row in await read.rows(_AFTER, after=after)]


_BY_ID = Statement(
    select(*(contacts.c[name] for name in Contact._fields)).where(
        the_instance(contacts), any_of(contacts.c.id, "contact_ids")
    )
)


async def contacts_by_id(read: Read, contact_ids: Iterable[int]) -> dict[int, Contact]:
    """Return the contacts that have these ids."""
    rows = await read.rows(_BY_ID, contact_ids=sorted(set(contact_ids)))
    return {row[0]: Contact(*row) for row in rows}


def _queue(*, only_open: bool) -> Statement:
    standing = matches.c.decision == "open" if only_open else true()
    with_matches = select(matches.c.contact_id).where(the_instance(matches), matches.c.is_standing, standing)
    return Statement(
        select(contacts.c.id, contacts.c.is_watchlist, contacts.c.document)
        .where(
            the_instance(contacts),
            contacts.c.id > number("after"),
            contacts.c.is_watchlist == flag("watched"),
            or_(contacts.c.is_watchlist, contacts.c.id.in_(with_matches)),
        )
        .order_by(contacts.c.id)
        .limit(_AT_ONCE)
    )


_QUEUES = {only_open: _queue(only_open=only_open) for only_open in (True, False)}


async def review_queue(read: Read, *, only_open: bool) -> AsyncIterator[dict[str, Any]]:
    """Return the contacts that have matches, or open ones, and all of the watchlist, which come first."""
    for watched in (True, False):
        after = 0
        while rows := await read.rows(_QUEUES[only_open], after=after, watched=watched):
            for row in rows:
                yield json.loads(row[2])
            after = rows[-1][0]
