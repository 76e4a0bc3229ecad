"""Makes the demo account: what an operator, an ERP system and the staff would do, through the same operations."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from stammdaten.auth.callers import Caller, Role
from stammdaten.auth.operations import add_user, create_account, create_token, create_user
from stammdaten.auth.queries import account_of, all_instances, instance_by_prefix
from stammdaten.classification.shapes import read_classification
from stammdaten.clock import german_stamp
from stammdaten.contacts.operations import ContactChange, create_contacts, update_contacts
from stammdaten.contacts.shapes import Given, read_contact_update, read_new_contact
from stammdaten.contacts.subjects import checks_of_new
from stammdaten.demo.blocked import BLOCK_LIST, sanctions_list
from stammdaten.demo.catalogue import Article, articles
from stammdaten.demo.goods import LISTS
from stammdaten.demo.partners import ARCHIVED, NOTES, PARTNERS, contact_of
from stammdaten.lists.operations import create_list
from stammdaten.products import standing
from stammdaten.products.operations import NewProduct, ProductUpdate, create_products, update_products
from stammdaten.products.shapes import read_create
from stammdaten.refusals import NotAllowed, NotFound, Refusal
from stammdaten.screening.current import Screening
from stammdaten.screening.loading import load_list
from stammdaten.screening.shapes import Check
from stammdaten.store import SHARED, Store, Write

PREFIX = "demo"
ERP = "erp"
TOKEN_DAYS = 7

_CLERK, _EXPERT, _OPERATOR = "Katrin Böhmer", "Jörn Wölfle", "operator"
_MEMBERS = {
    ERP: [Role.API_USER, Role.CLIENT_ADMIN],
    _CLERK: [Role.CLERK, Role.API_USER],
    _EXPERT: [Role.EXTENDED_CLERK],
    "Meike Çelikkol": [Role.ARTICLE_PROCESSOR],
    "Innenrevision": [Role.AUDITOR_INTERNAL],
}
# Training and tests begin with a few of each.
_SOME = 12


async def make_demo(store: Store) -> None:
    """Make the demo account in an empty database; where it stands already, do nothing.

    :raises NotAllowed: if the database holds other instances, but not the demo's.
    """
    async with store.reading_shared() as read:
        instances = {row[0] for row in await all_instances(read)}
    if PREFIX in instances:
        return
    if instances:
        raise NotAllowed(f"This database is in use and has no instance {PREFIX!r}: nothing was created.")
    screening = Screening(store)
    await _load(store, SHARED, "un", sanctions_list())
    for prefix in await store.writing_shared(lambda write: create_account(write, name="Demo", prefix=PREFIX)):
        instance_id = await _instance_id(store, prefix)
        await _load(store, instance_id, "block-list", BLOCK_LIST)
        await screening.bring_up_to_date()
        partners = [read_new_contact({"contact": contact_of(partner)}, []) for partner in PARTNERS[:: _step(prefix)]]
        checks = await checks_of_new(screening, instance_id, partners)
        contacts = list(zip(partners, checks, strict=True))
        await store.writing(instance_id, partial(_fill, prefix=prefix, contacts=contacts))
    screening.close()


async def issue_token(store: Store) -> str:
    """Issue a token to the demo's ERP user; earlier ones keep working until they expire.

    :raises NotFound: if the instance or the user is not there.
    """
    instance_id = await _instance_id(store, PREFIX)
    return await store.writing(instance_id, lambda write: create_token(write, user_name=ERP, days=TOKEN_DAYS))


async def _instance_id(store: Store, prefix: str) -> int:
    async with store.reading_shared() as read:
        found = await instance_by_prefix(read, prefix)
    if found is None:
        raise NotFound(f"There is no instance with the prefix {prefix!r}.")
    return found[0]


async def _load(store: Store, instance_id: int, source: str, text: str) -> None:
    with NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        await load_list(store, instance_id=instance_id, source=source, path=Path(file.name))


def _step(prefix: str) -> int:
    """Return which partners an instance gets: the live one every, the others every so many."""
    return 1 if prefix == PREFIX else len(PARTNERS) // _SOME


async def _fill(write: Write, *, prefix: str, contacts: list[tuple[Given, Check]]) -> None:
    """Fill an instance: the live one with everything, the others with a little."""
    erp, clerk, *_ = [await _join(write, prefix, name, roles) for name, roles in _MEMBERS.items()]
    today = date.fromisoformat(german_stamp(write.now)[:10])
    found = articles(today)
    if prefix != PREFIX:
        found = found[:: len(found) // _SOME]
    lists = {slug: await create_list(write, name=name, slug=slug) for slug, name in LISTS.items()}
    # What nobody has looked at yet comes last, as in life, and not on the first page that a newcomer sees.
    seen = [article for article in found if article.classification is not None]
    unseen = [article for article in found if article.classification is None]
    await _push_products(write, erp, lists, seen)
    await _find_out(write, seen, today)
    await _let_some_age(write, erp, seen)
    await _push_products(write, erp, lists, unseen)
    _check(await create_contacts(write, [ContactChange(erp, given, check) for given, check in contacts]))
    await _look_after_contacts(write, clerk, [given.contact_uid for given, _ in contacts])


async def _join(write: Write, prefix: str, name: str, roles: list[Role]) -> Caller:
    """Make a user of the account, or one that it has already, a member of the instance."""
    if prefix == PREFIX:
        user_id = await create_user(write, name=name, roles=roles)
    else:
        user_id = await add_user(write, name=name, account_id=await account_of(write), roles=roles)
    return Caller(write.instance_id, prefix, user_id, name, frozenset(roles))


async def _push_products(write: Write, caller: Caller, lists: dict[str, int], found: list[Article]) -> None:
    rows = []
    for article in found:
        body = {"list_id": lists[article.list_slug], "product": article.product}
        list_id, article_number, values = read_create(body, [])
        rows.append(NewProduct(caller=caller, list_id=list_id, article_number=article_number, values=values))
    _check(await create_products(write, rows))


async def _find_out(write: Write, found: list[Article], today: date) -> None:
    """Classify, and record what export control says."""
    classified = [
        standing.Classifying(
            article.article_number,
            _CLERK,
            read_classification(article.classification, today=today.isoformat()),
        )
        for article in found
    ]
    _check(await standing.classify_products(write, classified))
    controlled = [
        standing.Eccns(article.article_number, _EXPERT, article.eccns, "Herstellerangabe")
        for article in found
        if article.eccns
    ]
    _check(await standing.record_eccns(write, controlled))
    unlisted = [standing.Unlisting(article.article_number, _EXPERT, True) for article in found if article.is_unlisted]
    _check(await standing.unlist_products(write, unlisted))


async def _let_some_age(write: Write, caller: Caller, found: list[Article]) -> None:
    """Let the ERP system change what some classifications rest on, and take a few articles out of use."""
    numbers = [article.article_number for article in found]
    changed = [
        ProductUpdate(caller=caller, article_number=number, values={"feature3": "Ausführung geändert"})
        for number in numbers[4::11]
    ]
    _check(await update_products(write, changed))
    archived, deleted = numbers[1::150], numbers[2:3]
    _check(await standing.archive_products(write, [standing.Archiving(number, _OPERATOR, True) for number in archived]))
    _check(await standing.delete_products(write, [standing.Deed(number, _OPERATOR) for number in deleted]))


async def _look_after_contacts(write: Write, caller: Caller, uids: list[str]) -> None:
    """Note what was heard of some contacts, one after the other, and archive a few."""
    changes: list[tuple[str, dict[str, Any]]] = [
        *((uid, {"notes": [note]}) for uid in uids for note in NOTES.get(uid, [])),
        *((uid, {"is_archived": True}) for uid in uids if uid in ARCHIVED),
    ]
    _check(
        await update_contacts(write, [ContactChange(caller, _contact_update(uid, contact)) for uid, contact in changes])
    )


def _contact_update(contact_uid: str, contact: dict[str, Any]) -> Given:
    given = read_contact_update({"contact": contact}, [], contact_uid=contact_uid)
    return replace(given, contact_uid=contact_uid)


def _check(outcomes: Sequence[object]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, Refusal):
            raise outcome
