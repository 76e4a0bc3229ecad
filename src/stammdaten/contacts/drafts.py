"""The contacts of one batch while they are changed, and how they are stored."""

from typing import Any

from sqlalchemy import delete

from stammdaten.contacts.queries import folded
from stammdaten.contacts.shapes import Contact, rendered_contact
from stammdaten.contacts.tables import contacts
from stammdaten.history.operations import ContactRecord, record_contacts
from stammdaten.store import Statement, Write, any_of, the_instance

_DELETE = Statement(delete(contacts).where(the_instance(contacts), any_of(contacts.c.id, "ids")))


class Drafts:
    """The contacts of one batch as they stand while its rows are applied; the clock's lock keeps other writers out."""

    def __init__(self, write: Write, kept: dict[str, Contact]) -> None:
        self._write = write
        self._kept = dict(kept)
        self.current = kept
        self._records: list[ContactRecord] = []

    def put(self, contact: Contact, *, category: str, text: str, user_name: str) -> bytes:
        """Let a contact stand as given, and record it; return it rendered."""
        document = self._record(contact, category, text, user_name, contact.updated_at)
        self.current[contact.contact_uid] = contact
        return document

    def keep(self, contact: Contact) -> None:
        """Let a contact stand as given without a record or a stamp: nothing of it that anybody follows has changed."""
        self.current[contact.contact_uid] = contact

    def remove(self, contact: Contact, *, user_name: str) -> None:
        """Take a contact away, and record that."""
        self._record(contact, "deleted", "Contact Deleted", user_name, self._write.contact_stamp())
        del self.current[contact.contact_uid]

    def _record(self, contact: Contact, category: str, text: str, user_name: str, at: str) -> bytes:
        document = rendered_contact(contact)
        self._records.append(
            ContactRecord(
                self._write.next_id(),
                contact.id,
                contact.contact_uid,
                category,
                text,
                user_name,
                at,
                document,
            )
        )
        return document

    async def save(self) -> None:
        """Write what changed: a statement for each kind of change, however many rows."""
        before = {contact.id: contact for contact in self._kept.values()}
        after = {contact.id: contact for contact in self.current.values()}
        gone = [contact for contact_id, contact in before.items() if contact_id not in after]
        new = [contact for contact_id, contact in after.items() if contact_id not in before]
        changed = [contact for contact in after.values() if before.get(contact.id, contact) is not contact]
        if gone:
            await self._write.run(_DELETE, ids=[contact.id for contact in gone])
        await self._write.update(contacts, [_row(contact) for contact in changed])
        await self._write.insert(contacts, [_row(contact) for contact in new])
        await record_contacts(self._write, self._records)
        self._count(added=[*new, *changed], removed=[*gone, *(before[contact.id] for contact in changed)])

    def _count(self, *, added: list[Contact], removed: list[Contact]) -> None:
        archived = sum(contact.is_archived for contact in added) - sum(contact.is_archived for contact in removed)
        self._write.count_contacts(current=len(added) - len(removed) - archived, archived=archived)


def derived(contact: Contact) -> tuple[str | bytes, ...]:
    """Return what is kept beside a contact's columns: the searched texts folded, and the rendered document."""
    searched = (contact.contact_uid, contact.full_name, contact.city, contact.country_or_region)
    return (*map(folded, searched), rendered_contact(contact))


def _row(contact: Contact) -> tuple[Any, ...]:
    return (*contact, *derived(contact))
