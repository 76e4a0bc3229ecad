"""Forgetting deleted contacts for good, when nobody needs their history any more."""

from sqlalchemy import delete, select

from stammdaten.contacts.tables import contacts
from stammdaten.history.tables import contact_history
from stammdaten.refusals import NotFound
from stammdaten.screening.tables import checks
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
_PURGE_CHECKS = Statement(
    delete(checks).where(
        the_instance(checks),
        checks.c.contact_uid == text("contact_uid"),
        checks.c.contact_id.not_in(
            select(contacts.c.id).where(the_instance(contacts), contacts.c.contact_uid == text("contact_uid"))
        ),
    )
)


async def purge_history(write: Write, contact_uid: str) -> int:
    """Remove the records of deleted contacts of this uid, and those of their checks; return how many of the former.

    :raises NotFound: if there are none.
    """
    purged = await write.run(_PURGE, contact_uid=contact_uid)
    if not purged:
        raise NotFound("There is no history of a deleted contact under this contact_uid.")
    await write.run(_PURGE_CHECKS, contact_uid=contact_uid)
    return len(purged)
