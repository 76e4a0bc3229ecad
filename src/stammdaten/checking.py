"""`stammdaten check`: holds what is derived against what it is derived from, instance by instance."""

import json
from collections.abc import AsyncIterator

from sqlalchemy import Table, func, not_, select

from stammdaten.auth.queries import instance_ids
from stammdaten.classification.tables import classifications
from stammdaten.clock import TOLERATED_LEAD, is_ahead, utc_now, utc_stamp
from stammdaten.contacts.drafts import derived
from stammdaten.contacts.queries import contacts_after
from stammdaten.contacts.shapes import Contact
from stammdaten.contacts.tables import contacts
from stammdaten.history.tables import actions, contact_history
from stammdaten.lists.tables import lists
from stammdaten.products.queries import products_after
from stammdaten.products.shapes import rendered_product
from stammdaten.products.tables import products
from stammdaten.screening.queries import KeptMatch, matches_of
from stammdaten.screening.tables import checks, matches, screening_settings
from stammdaten.store import Read, Statement, Store, the_instance
from stammdaten.store.doors import READ_CLOCK
from stammdaten.store.tables import clocks


def _most(table: Table, column: str) -> Statement:
    return Statement(select(func.max(table.c[column])).where(the_instance(table)))


_STAMPS = [("product", _most(products, "updated_at")), ("list", _most(lists, "updated_at"))]
_CONTACT_STAMP = _most(contacts, "updated_at")
_COUNTED = (products, lists, contacts, actions, contact_history, matches, checks, screening_settings)
_IDS = [_most(table, "id") for table in _COUNTED]
_counted = select(func.count()).select_from(contacts).where(the_instance(contacts))
# In one statement, and so as of one moment: writers go on meanwhile.
_TOTALS = Statement(
    select(
        clocks.c.contacts,
        clocks.c.archived_contacts,
        _counted.where(not_(contacts.c.is_archived)).scalar_subquery(),
        _counted.where(contacts.c.is_archived).scalar_subquery(),
    ).where(the_instance(clocks))
)
_ORPHANS = Statement(
    select(classifications.c.id).where(
        the_instance(classifications),
        not_(classifications.c.id.in_(select(products.c.id).where(the_instance(products)))),
    )
)
_HOMELESS = Statement(
    select(products.c.id).where(
        the_instance(products), not_(products.c.list_id.in_(select(lists.c.id).where(the_instance(lists))))
    )
)
_STRAY = Statement(
    select(matches.c.id).where(
        the_instance(matches),
        not_(matches.c.contact_id.in_(select(contacts.c.id).where(the_instance(contacts)))),
    )
)


async def check_store(store: Store) -> list[str]:
    """Return a line for each thing that does not agree; none is good news."""
    async with store.reading_shared() as read:
        instances = await instance_ids(read)
    found = []
    for instance_id in instances:
        async with store.reading(instance_id, slow=True) as read:
            found += [f"instance {instance_id}: {line}" async for line in _check_instance(read)]
    return found


async def _check_instance(read: Read) -> AsyncIterator[str]:
    async for line in _check_clock(read):
        yield line
    async for line in _check_documents(read):
        yield line
    for row in await read.rows(_ORPHANS):
        yield f"classification {row[0]} has no product"
    for row in await read.rows(_HOMELESS):
        yield f"product {row[0]} is in no list"
    for row in await read.rows(_STRAY):
        yield f"match {row[0]} has no contact"


async def _check_clock(read: Read) -> AsyncIterator[str]:
    # The clock last: it may have gone on since, but never back.
    stamps = [(kind, (await read.rows(statement))[0][0]) for kind, statement in _STAMPS]
    newest_contact = (await read.rows(_CONTACT_STAMP))[0][0]
    ids = [(await read.rows(statement))[0][0] for statement in _IDS]
    product_stamp, contact_stamp, last_id, *_ = (await read.rows(READ_CLOCK))[0]
    if is_ahead(product_stamp, utc_now()):
        yield f"the last product stamp {product_stamp} is over 5 minutes ahead of the wall clock"
    if contact_stamp > utc_stamp(utc_now() + TOLERATED_LEAD):
        yield f"the last contact stamp {contact_stamp} is over 5 minutes ahead of the wall clock"
    for kind, newest in stamps:
        if newest is not None and newest > product_stamp:
            yield f"a {kind} has the stamp {newest}, later than the clock's {product_stamp}"
    if newest_contact is not None and newest_contact > contact_stamp:
        yield f"a contact has the stamp {newest_contact}, later than the clock's {contact_stamp}"
    for largest in ids:
        if largest is not None and largest > last_id:
            yield f"the id {largest} is in use, the counter is at {last_id}"
    current, archived, current_rows, archived_rows = (await read.rows(_TOTALS))[0]
    if (current, archived) != (current_rows, archived_rows):
        yield (
            f"the totals of contacts are {current} and {archived} archived, "
            f"the rows are {current_rows} and {archived_rows}"
        )


async def _check_documents(read: Read) -> AsyncIterator[str]:
    after = 0
    while batch := await products_after(read, after):
        for product, record, document in batch:
            if rendered_product(product, record) != document:
                yield f"the document of product {product.id} differs from its columns"
        after = batch[-1][0].id
    after = 0
    while contact_batch := await contacts_after(read, after):
        for contact, kept in contact_batch:
            if derived(contact)[-1] != kept[-1]:
                yield f"the document of contact {contact.id} differs from its columns"
            elif derived(contact) != kept:
                yield f"the searched texts of contact {contact.id} differ from its columns"
        found = await matches_of(read, [contact.id for contact, _ in contact_batch])
        for contact, _ in contact_batch:
            if _shown(contact) != _standing(found.get(contact.id, [])):
                yield f"the matches that contact {contact.id} shows are not those that stand"
        after = contact_batch[-1][0].id


def _shown(contact: Contact) -> set[tuple[int, str]]:
    return {(match["id"], match["decision"]) for match in json.loads(contact.matches or "[]")}


def _standing(kept: list[KeptMatch]) -> set[tuple[int, str]]:
    return {(match.id, match.decision) for match in kept if match.is_standing}
