"""Recording what happened; in the transaction of what happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic_core import to_json
from sqlalchemy import delete, func, select

from stammdaten.history.tables import actions, contact_history
from stammdaten.store import Statement, Write, any_of, number, the_instance

KEPT_RECORDS = 100
# Who acts when no user does, as histories name it.
SERVICE = "stammdaten"


class Action(NamedTuple):
    """What was done to a product, in the order of the table's columns.

    `changes` maps a field to what it held before and after; of a new product, those that hold something.
    """

    product_id: int
    id: int
    category: str
    text: str
    user_name: str
    at: str
    changes: dict[str, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class ContactRecord:
    """A contact as it was after something was done to it; `contact` is the rendered document."""

    id: int
    contact_id: int
    contact_uid: str
    category: str
    text: str
    user_name: str
    at: str
    contact: bytes


async def record_actions(write: Write, happened: Sequence[Action]) -> None:
    """Keep actions on products, for good."""
    await write.insert(
        actions,
        # `changes` is the last column.
        [(*action[:-1], to_json(action.changes).decode()) for action in happened],
    )


_ranked = (
    select(
        contact_history.c.id,
        func.row_number()
        .over(partition_by=contact_history.c.contact_id, order_by=contact_history.c.id.desc())
        .label("rank"),
    )
    .where(the_instance(contact_history), any_of(contact_history.c.contact_id, "contact_ids"))
    .subquery("ranked")
)
_FORGET_OLDEST = Statement(
    delete(contact_history).where(
        the_instance(contact_history),
        contact_history.c.id.in_(select(_ranked.c.id).where(_ranked.c.rank > number("kept"))),
    )
)


async def record_contacts(write: Write, records: Sequence[ContactRecord]) -> None:
    """Keep history records of contacts, of each contact the newest 100 (specification: Limits)."""
    await write.insert(
        contact_history,
        [
            (
                record.id,
                record.contact_id,
                record.contact_uid,
                record.category,
                record.text,
                record.user_name,
                record.at,
                record.contact,
            )
            for record in records
        ],
    )
    contact_ids = sorted({record.contact_id for record in records})
    if contact_ids:
        await write.run(_FORGET_OLDEST, contact_ids=contact_ids, kept=KEPT_RECORDS)
