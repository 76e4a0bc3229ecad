"""Forgetting deleted contacts for good, when nobody needs their history any more."""

from sqlalchemy import delete, select

from stammdaten.contacts.tables import contacts
from stammdaten.history.tables import contact_history
from stammdaten.refusals import NotFound
from stammdaten.store import Statement, Write, text, the_instance

_PURGE = Statement(
    delete(contact_history)
    .where(
        the_instance(contact_history),
        contact_history.c.contact_uid == text("contact_uid"),
        # The contact that has the uid now keeps its records.
        contact_history.c.contact_id.not_in(
            select(contacts.c.id).where(the_instance(contacts), contacts.c.contact_uid == text("contact_uid"))
        ),
    )
    .returning(contact_history.c.id)
)


async def purge_history(write: Write, contact_uid: str) -> int:
    """Remove the records of deleted contacts of this uid; return how many.

    :raises NotFound: if there are none.
    """
    purged = await write.run(_PURGE, contact_uid=contact_uid)
    if not purged:
        raise NotFound("There is no history of a deleted contact under this contact_uid.")
    return len(purged)
