"""Creating and updating products, as the interface and the file import do it; many rows at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from stammdaten.auth.callers import Caller
from stammdaten.classification.rules import Status, needs_review
from stammdaten.history.operations import SERVICE
from stammdaten.lists.queries import list_names, lists_by_id
from stammdaten.products.drafts import Draft, Drafts, Event, attempt
from stammdaten.refusals import AlreadyExists, Fault, Invalid, NotAllowed, NotFound, Refusal
from stammdaten.store import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProduct:
    """A row of `create_products`: `values` are columns and what they hold."""

    caller: Caller
    list_id: int
    article_number: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductUpdate:
    """A row of `update_products`: `values` are the columns to set, the others stay."""

    caller: Caller
    article_number: str
    values: dict[str, Any]
    reset_classification: bool = False


class ProductImport(NamedTuple):
    """A row of `import_products`: `values` are the columns that a file gives; `is_archived` None leaves it as it is."""

    caller: Caller
    list_id: int
    article_number: str
    values: dict[str, Any]
    is_archived: bool | None = None


async def create_products(write: Write, rows: Sequence[NewProduct]) -> list[int | Refusal]:
    """Create products; the outcome of a row is the new product's id, or NotFound (list) or AlreadyExists."""
    drafts = await Drafts.of(write, [row.article_number for row in rows])
    lists = await lists_by_id(write, [row.list_id for row in rows])

    def create(row: NewProduct) -> int:
        if lists.get(row.list_id) is not False:  # unknown, or deleted
            raise NotFound("There is no product list with this list_id.")
        if drafts.live(row.article_number):
            raise AlreadyExists("A product with this article_number exists already.")
        values = {"list_id": row.list_id, "article_number": row.article_number, **row.values}
        event = Event("created", "Product Created", row.caller.user_name)
        draft = drafts.create(values, event, user_id=row.caller.user_id)
        return draft.product.id

    outcomes = attempt(create, rows)
    await drafts.save()
    return outcomes


async def update_products(write: Write, rows: Sequence[ProductUpdate]) -> list[int | Refusal]:
    """Update products; the outcome of a row is the id of the newest action on the product, NotFound or NotAllowed."""
    drafts = await Drafts.of(write, [row.article_number for row in rows])

    def update(row: ProductUpdate) -> int:
        draft = drafts.live(row.article_number)
        if draft is None:
            raise NotFound("There is no product with this article_number.")
        _check_may_reset(row, draft)
        before = draft.product
        drafts.change(draft, row.values, Event("updated", "Product Updated", row.caller.user_name))
        changed = [name for name in row.values if getattr(before, name) != row.values[name]]
        _follow(drafts, draft, row, changed)
        return draft.action_id

    outcomes = attempt(update, rows)
    await drafts.save()
    return outcomes


async def import_products(write: Write, rows: Sequence[ProductImport]) -> list[str | Refusal]:
    """Create products, or change what differs; the outcome of a row is `created`, `updated`, `unchanged` or a refusal.

    A row that changes nothing writes nothing. Refused are NotFound (list), NotAllowed (the product stands in another
    list), and Invalid (a new product without a designation).
    """
    drafts = await Drafts.of(write, [row.article_number for row in rows])
    lists = await lists_by_id(write, [row.list_id for row in rows])
    others = {draft.product.list_id for draft in drafts} - lists.keys()
    names = await list_names(write, others) if others else {}

    def import_one(row: ProductImport) -> str:
        if lists.get(row.list_id) is not False:  # unknown, or deleted
            raise NotFound("There is no product list of this slug.")
        draft = drafts.live(row.article_number)
        if draft is None:
            _import_new(drafts, row)
            return "created"
        if draft.product.list_id != row.list_id:
            raise NotAllowed(f"stands in the list {names[draft.product.list_id]!r}")
        return "updated" if _import_changes(drafts, draft, row) else "unchanged"

    outcomes = attempt(import_one, rows)
    await drafts.save()
    return outcomes


def _import_new(drafts: Drafts, row: ProductImport) -> None:
    if not row.values.get("designation"):
        raise Invalid([Fault("designation", "is required of a new article")])
    values = {"list_id": row.list_id, "article_number": row.article_number, **row.values}
    event = Event("created", "Product Created", row.caller.user_name)
    draft = drafts.create(values, event, user_id=row.caller.user_id)
    if row.is_archived:
        drafts.archive(draft, user_name=row.caller.user_name, is_archived=True)


def _import_changes(drafts: Drafts, draft: Draft, row: ProductImport) -> bool:
    before = draft.product
    values = {name: value for name, value in row.values.items() if getattr(before, name) != value}
    if values:
        drafts.change(draft, values, Event("updated", "Product Updated", row.caller.user_name))
        _adjust(drafts, draft, list(values))
    moved = row.is_archived is not None and row.is_archived != before.is_archived
    if moved:
        drafts.archive(draft, user_name=row.caller.user_name, is_archived=bool(row.is_archived))
    return bool(values) or moved


def _check_may_reset(row: ProductUpdate, draft: Draft) -> None:
    if row.reset_classification and draft.record and draft.record.is_fixed and not row.caller.may_reset_fixed:
        raise NotAllowed("A fixed classification may only be reset by a client-admin or an extended-clerk.")


def _follow(drafts: Drafts, draft: Draft, row: ProductUpdate, changed: list[str]) -> None:
    """Let the classification follow an update: the reset that was asked for, or else the automatic adjustment."""
    if draft.record is None:
        return
    if row.reset_classification:
        drafts.classify(draft, None, Event("reset", "Classification Reset", row.caller.user_name))
    else:
        _adjust(drafts, draft, changed)


def _adjust(drafts: Drafts, draft: Draft, changed: list[str]) -> None:
    if draft.record is not None and needs_review(draft.record, changed):
        record = replace(draft.record, status=Status.REVIEW)
        drafts.classify(draft, record, Event("adjusted", "Classification To Review", SERVICE))
