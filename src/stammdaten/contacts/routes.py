"""Contacts over HTTP (specification: Contacts; decisions: Contacts)."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from stammdaten.auth.callers import Caller, check_may_use_contacts
from stammdaten.clock import utc_timestamp
from stammdaten.contacts.operations import (
    ContactChange,
    ContactDeletion,
    create_contacts,
    delete_contacts,
    update_contacts,
)
from stammdaten.contacts.queries import ContactFilter, contact_by_uid, page_of_contacts
from stammdaten.contacts.shapes import read_contact_update, read_find, read_new_contact
from stammdaten.contacts.subjects import checks_of_new, checks_of_updates
from stammdaten.http.answers import JsonAnswer
from stammdaten.http.fields import CONTROL, SHORT
from stammdaten.http.requests import (
    LARGEST_PAGE,
    path_text,
    read_json,
    read_query,
    whole_number,
)
from stammdaten.http.routing import resource
from stammdaten.refusals import Fault, Invalid, NotFound
from stammdaten.screening.current import Screening
from stammdaten.store import Store

T = TypeVar("T")

_DEFAULT_PER_PAGE = 30
_MOST_PER_PAGE = 500
_FLAG_WORDS = {"true": True, "1": True, "false": False, "0": False}


async def list_contacts(request: Request) -> JsonAnswer:
    """Return a page of contacts and how many there are."""
    store, caller = _at(request)
    wanted = _filter(read_query(request))
    async with store.reading(caller.instance_id, slow=wanted.is_slow) as read:
        found = await page_of_contacts(read, wanted)
    last_page = max(1, -(-found.total // wanted.per_page))
    return JsonAnswer(
        b'{"contacts":[%b],"current_page":%d,"per_page":%d,"total":%d,"last_page":%d}'
        % (b",".join(found.documents), wanted.page, wanted.per_page, found.total, last_page)
    )


async def create_contact(request: Request) -> JsonAnswer:
    """Create a contact and return it."""
    store, caller = _at(request)
    given = read_new_contact(*await read_json(request))
    (check,) = await checks_of_new(_screening(request), caller.instance_id, [given])
    document = await store.submit(caller.instance_id, create_contacts, ContactChange(caller, given, check))
    return _one(document, 201)


async def find_contact(request: Request) -> JsonAnswer:
    """Return the contact whose uid stands in the body."""
    store, caller = _at(request)
    contact_uid = read_find(*await read_json(request))
    return await _found(store, caller, contact_uid)


async def show_contact(request: Request) -> JsonAnswer:
    """Return the contact whose uid stands in the path."""
    store, caller = _at(request)
    return await _found(store, caller, _uid(request))


async def update_contact(request: Request) -> JsonAnswer:
    """Update a contact and return it."""
    store, caller = _at(request)
    contact_uid = _uid(request)
    given = read_contact_update(*await read_json(request), contact_uid=contact_uid)
    given = replace(given, contact_uid=contact_uid)
    (check,) = await checks_of_updates(store, _screening(request), caller.instance_id, [given])
    change = ContactChange(caller, given, check)
    return _one(await store.submit(caller.instance_id, update_contacts, change))


async def delete_contact(request: Request) -> Response:
    """Delete a contact; its history is kept."""
    store, caller = _at(request)
    await store.submit(caller.instance_id, delete_contacts, ContactDeletion(caller, _uid(request)))
    return Response(status_code=204)


def _at(request: Request) -> tuple[Store, Caller]:
    caller = request.scope["caller"]
    check_may_use_contacts(caller)
    return request.scope["state"]["store"], caller


def _screening(request: Request) -> Screening:
    screening: Screening = request.scope["state"]["screening"]
    return screening


async def _found(store: Store, caller: Caller, contact_uid: str) -> JsonAnswer:
    async with store.reading(caller.instance_id) as read:
        document = await contact_by_uid(read, contact_uid)
    if document is None:
        raise NotFound("Contact not found")
    return _one(document)


def _one(document: bytes, status: int = 200) -> JsonAnswer:
    return JsonAnswer(b'{"contact":%b}' % document, status)


def _uid(request: Request) -> str:
    given = path_text(request.path_params.get("contact_uid", "find"))
    # What can be no contact's uid is not looked for: PostgreSQL takes no NUL, and a line break is no blank to trim.
    if given is None or CONTROL.search(given) or len(given.strip()) > SHORT:
        raise NotFound("Contact not found")
    return given.strip()


def _filter(query: dict[str, str]) -> ContactFilter:
    faults: list[Fault] = []

    def attempt(read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except Invalid as invalid:
            faults.extend(invalid.faults)
            return otherwise

    wanted = ContactFilter(
        search=attempt(lambda: _search(query), ""),
        timestamp=attempt(lambda: _timestamp(query), None),
        is_watchlist=attempt(lambda: _flag(query, "is_watchlist"), None),
        is_archived=attempt(lambda: _flag(query, "is_archived"), None) or False,
        per_page=min(attempt(lambda: whole_number(query, "per_page"), None) or _DEFAULT_PER_PAGE, _MOST_PER_PAGE),
        page=attempt(lambda: whole_number(query, "page", most=LARGEST_PAGE), None) or 1,
    )
    if faults:
        raise Invalid(faults)
    return wanted


def _search(query: dict[str, str]) -> str:
    search = query.get("search", "")
    if len(search) > SHORT or "\0" in search:
        raise Invalid([Fault("search", f"must be at most {SHORT} characters, none of them NUL")])
    return search


def _timestamp(query: dict[str, str]) -> str | None:
    given = query.get("timestamp")
    try:
        return utc_timestamp(given) if given else None
    except ValueError as error:
        raise Invalid([Fault("timestamp", "must be ISO 8601, e.g. 2026-11-21T08:30:00.000000Z")]) from error


def _flag(query: dict[str, str], name: str) -> bool | None:
    given = query.get(name, "").lower()
    if given and given not in _FLAG_WORDS:
        raise Invalid([Fault(name, "must be one of true, 1, false, 0")])
    return _FLAG_WORDS.get(given)


ROUTES = [
    resource("/contacts", GET=list_contacts, POST=create_contact),
    # Before the uids; the other methods reach a contact whose uid is `find`.
    resource("/contacts/find", POST=find_contact, GET=show_contact, PUT=update_contact, DELETE=delete_contact),
    resource("/contacts/{contact_uid}", GET=show_contact, PUT=update_contact, DELETE=delete_contact),
]
