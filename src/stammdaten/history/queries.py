"""What happened, newest first; the interface has no endpoint for it, commands show it."""

from typing import Any

from sqlalchemy import select

from stammdaten.history.tables import actions, contact_history
from stammdaten.store import Read, Row, Statement, number, text, the_instance

_ACTIONS = Statement(
    select(actions.c.id, actions.c.category, actions.c.text, actions.c.user_name, actions.c.at, actions.c.changes)
    .where(the_instance(actions), actions.c.product_id == number("product_id"))
    .order_by(actions.c.id.desc())
)
_RECORDS = Statement(
    select(
        contact_history.c.category,
        contact_history.c.text,
        contact_history.c.user_name,
        contact_history.c.at,
        contact_history.c.contact,
    )
    .where(the_instance(contact_history), contact_history.c.contact_uid == text("contact_uid"))
    .order_by(contact_history.c.id.desc())
)


async def actions_on(read: Read, product_id: int) -> list[Row]:
    """Return id, category, text, user name, stamp and changes (JSON) of each action on a product."""
    return await read.rows(_ACTIONS, product_id=product_id)


async def records_of(read: Read, contact_uid: str) -> list[tuple[Any, ...]]:
    """Return category, text, user name, stamp and contact (JSON) of each record under a uid, deleted contacts' too."""
    return [tuple(row) for row in await read.rows(_RECORDS, contact_uid=contact_uid)]
