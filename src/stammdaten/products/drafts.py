"""The products of one batch, as they stand while its rows are applied in order; written out set-wise at the end."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass
from typing import Any, NamedTuple, Self, TypeVar

from sqlalchemy import delete

from stammdaten.classification.rules import Classification
from stammdaten.classification.tables import classifications
from stammdaten.clock import german_stamp
from stammdaten.history.operations import Action, record_actions
from stammdaten.products.queries import live_products
from stammdaten.products.shapes import Product, rendered_product
from stammdaten.products.tables import products
from stammdaten.refusals import Refusal
from stammdaten.store import Statement, Write, any_of, the_instance

T = TypeVar("T")
R = TypeVar("R")

_DELETE_RECORDS = Statement(
    delete(classifications).where(the_instance(classifications), any_of(classifications.c.id, "ids"))
)


@dataclass(slots=True)
class Draft:
    """A product and its classification record, and what happened to them in this batch."""

    product: Product
    record: Classification | None
    is_new: bool = False
    is_changed: bool = False
    is_reclassified: bool = False
    action_id: int = 0


class Event(NamedTuple):
    """What is done to a product, and by whom, as its history will tell."""

    category: str
    text: str
    user_name: str


class Drafts:
    """What a batch makes of products: look first, apply each row, save once.

    Nothing of it is lost between looking and saving: the clock row's lock keeps every other writer of the instance
    out, and it was taken before the look.
    """

    def __init__(self, write: Write, kept: Iterable[tuple[Product, Classification | None]]) -> None:
        self._write = write
        self._drafts = [Draft(product, record) for product, record in kept]
        self._live = {draft.product.article_number: draft for draft in self._drafts if not draft.product.is_deleted}
        self._actions: list[Action] = []

    @classmethod
    async def of(cls, write: Write, article_numbers: Iterable[str]) -> Self:
        """Look up the live products that have these numbers."""
        return cls(write, (await live_products(write, article_numbers)).values())

    def __iter__(self) -> Any:
        return iter(self._drafts)

    @property
    def now(self) -> str:
        """The German wall clock, in the form of the stamps."""
        return german_stamp(self._write.now)

    def live(self, article_number: str) -> Draft | None:
        """Return the product that has a number now, in this batch."""
        return self._live.get(article_number)

    def create(self, values: dict[str, Any], event: Event, *, user_id: int) -> Draft:
        """Add a product with these columns; the number must be free."""
        stamp = self._write.product_stamp()
        product = Product(
            id=self._write.next_id(),
            user_id=user_id,
            inserted_at=stamp,
            updated_at=stamp,
            is_deleted=False,
            is_archived=False,
            is_unlisted=False,
            **values,
        )
        draft = Draft(product, None, is_new=True, is_changed=True)
        self._drafts.append(draft)
        self._live[product.article_number] = draft
        # Empty fields are left out: they say nothing, and an import writes millions of them.
        self._act(draft, event, stamp, {name: (None, value) for name, value in values.items() if value})
        return draft

    def change(self, draft: Draft, values: dict[str, Any], event: Event) -> None:
        """Set columns, stamp the product and write an action, even where nothing differs."""
        before = draft.product
        stamp = self._write.product_stamp()
        draft.product = before._replace(**values, updated_at=stamp)
        draft.is_changed = True
        changes = {name: (old, value) for name, value in values.items() if (old := getattr(before, name)) != value}
        self._act(draft, event, stamp, changes)

    def archive(self, draft: Draft, *, user_name: str, is_archived: bool) -> None:
        """Archive a product, or bring it back."""
        done = ("archived", "Product Archived") if is_archived else ("unarchived", "Product Unarchived")
        self.change(draft, {"is_archived": is_archived}, Event(*done, user_name))

    def delete(self, draft: Draft, event: Event) -> None:
        """Mark a product as deleted; its number is free at once, in this batch too."""
        self.change(draft, {"is_deleted": True}, event)
        del self._live[draft.product.article_number]

    def restore(self, product: Product, record: Classification | None, event: Event) -> Draft:
        """Bring a deleted product back; the number must be free."""
        draft = Draft(product, record)
        self._drafts.append(draft)
        self._live[product.article_number] = draft
        self.change(draft, {"is_deleted": False}, event)
        return draft

    def classify(self, draft: Draft, record: Classification | None, event: Event) -> None:
        """Replace or remove the classification record, stamp the product and write an action."""
        before = draft.record
        stamp = self._write.product_stamp()
        draft.product = draft.product._replace(updated_at=stamp)
        draft.record = record
        draft.is_changed = draft.is_reclassified = True
        self._act(draft, event, stamp, _record_changes(before, record))

    def _act(self, draft: Draft, event: Event, stamp: str, changes: dict[str, Any]) -> None:
        draft.action_id = self._write.next_id()
        self._actions.append(Action(draft.product.id, draft.action_id, *event, stamp, changes))

    async def save(self) -> None:
        """Write what changed: a statement for each table, however many rows."""
        reclassified = [draft for draft in self._drafts if draft.is_reclassified]
        if reclassified:
            await self._write.run(_DELETE_RECORDS, ids=[draft.product.id for draft in reclassified])
            await self._write.insert(
                classifications,
                [(draft.product.id, *astuple(draft.record)) for draft in reclassified if draft.record],
            )
        # Updates first: they free the numbers that creates of the same batch take.
        changed = [draft for draft in self._drafts if draft.is_changed]
        await self._write.update(products, [_row(draft) for draft in changed if not draft.is_new])
        await self._write.insert(products, [_row(draft) for draft in changed if draft.is_new])
        await record_actions(self._write, self._actions)


def _row(draft: Draft) -> tuple[Any, ...]:
    return (*draft.product, rendered_product(draft.product, draft.record))


def _record_changes(before: Classification | None, after: Classification | None) -> dict[str, Any]:
    old, new = before and asdict(before), after and asdict(after)
    if not old or not new:
        return {"classification": (old, new)}
    return {f"classification.{name}": (old[name], new[name]) for name in old if old[name] != new[name]}


def attempt(apply: Callable[[T], R], rows: Iterable[T]) -> list[R | Refusal]:
    """Apply a rule to each row in order; what it refuses is that row's outcome and nobody else's."""
    outcomes: list[R | Refusal] = []
    for row in rows:
        try:
            outcomes.append(apply(row))
        except Refusal as refusal:
            outcomes.append(refusal)
    return outcomes
