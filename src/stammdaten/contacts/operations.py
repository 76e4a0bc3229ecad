"""Creating, updating and deleting contacts, each with its history record; many rows at a time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete

from stammdaten.auth.callers import Caller
from stammdaten.contacts.queries import contacts_by_uid, folded
from stammdaten.contacts.shapes import (
    IDENTIFYING,
    MOST_NOTES,
    Contact,
    Given,
    rendered_contact,
)
from stammdaten.contacts.tables import contacts
from stammdaten.history.operations import ContactRecord, record_contacts
from stammdaten.refusals import AlreadyExists, Fault, Invalid, NotFound, Refusal
from stammdaten.screening.shapes import UNCHECKED
from stammdaten.store import Statement, Write, any_of, the_instance

_DELETE = Statement(delete(contacts).where(the_instance(contacts), any_of(contacts.c.id, "ids")))


@dataclass(frozen=True, slots=True)
class ContactChange:
    """A row of `create_contacts` and `update_contacts`: who gives what."""

    caller: Caller
    given: Given


@dataclass(frozen=True, slots=True)
class ContactDeletion:
    """A row of `delete_contacts`."""

    caller: Caller
    contact_uid: str


class _Drafts:
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


async def create_contacts(write: Write, rows: Sequence[ContactChange]) -> list[bytes | Refusal]:
    """Create contacts; the outcome of a row is the rendered contact, or AlreadyExists."""
    drafts = _Drafts(write, await contacts_by_uid(write, [row.given.contact_uid for row in rows]))
    outcomes = [_create(write, drafts, row) for row in rows]
    await drafts.save()
    return outcomes


def _create(write: Write, drafts: _Drafts, row: ContactChange) -> bytes | Refusal:
    uid, user_name = row.given.contact_uid, row.caller.user_name
    if uid in drafts.current:
        return AlreadyExists("Contact already exists")
    stamp = write.contact_stamp()
    contact = Contact(
        id=write.next_id(),
        contact_uid=uid,
        updated_at=stamp,
        masterdata_updated_at=stamp,
        user_id=row.caller.user_id,
        user_name=user_name,
        updated_by=user_name,
        notes=_noted("", row.given.notes, user_name, stamp),
        # Where screening comes in: nothing is checked yet, and so nothing is said to be.
        status=UNCHECKED.status,
        sanctions_check=UNCHECKED.sanctions_check,
        **row.given.values,
    )
    return drafts.put(contact, category="created", text="Contact Created", user_name=user_name)


async def update_contacts(write: Write, rows: Sequence[ContactChange]) -> list[bytes | Refusal]:
    """Update contacts; the outcome of a row is the rendered contact, NotFound or Invalid (too many notes)."""
    drafts = _Drafts(write, await contacts_by_uid(write, [row.given.contact_uid for row in rows]))
    outcomes = [_update(write, drafts, row) for row in rows]
    await drafts.save()
    return outcomes


def _update(write: Write, drafts: _Drafts, row: ContactChange) -> bytes | Refusal:
    contact, given, user_name = drafts.current.get(row.given.contact_uid), row.given, row.caller.user_name
    if contact is None:
        return NotFound("Contact not found")
    notes = _noted(contact.notes, given.notes, user_name, write.now_utc)
    if len(json.loads(notes or "[]")) > MOST_NOTES:
        return Invalid([Fault("contact.notes", f"must not grow over {MOST_NOTES} entries")])
    values: dict[str, Any] = {**given.values, "notes": notes}
    stamp = write.contact_stamp()
    moved = any(values[name] != getattr(contact, name) for name in IDENTIFYING & values.keys())
    values["masterdata_updated_at"] = stamp if moved else contact.masterdata_updated_at
    contact = contact._replace(**values, updated_at=stamp, updated_by=user_name)
    return drafts.put(contact, category="updated", text="Contact Updated", user_name=user_name)


async def delete_contacts(write: Write, rows: Sequence[ContactDeletion]) -> list[Refusal | None]:
    """Delete contacts, their history kept; the outcome of a row is None, or NotFound."""
    drafts = _Drafts(write, await contacts_by_uid(write, [row.contact_uid for row in rows]))
    outcomes: list[Refusal | None] = []
    for row in rows:
        contact = drafts.current.get(row.contact_uid)
        if contact is not None:
            drafts.remove(contact, user_name=row.caller.user_name)
        outcomes.append(None if contact is not None else NotFound("Contact not found"))
    await drafts.save()
    return outcomes


def _noted(kept: str, texts: list[str], user_name: str, at: str) -> str:
    """Append the texts that are not there yet; none is ever removed (decisions: Contacts)."""
    notes = json.loads(kept or "[]")
    known = {note["text"] for note in notes}
    fresh = [text for text in dict.fromkeys(texts) if text not in known]
    if not fresh:
        return kept
    notes += [{"text": text, "user_name": user_name, "created_at": at} for text in fresh]
    return json.dumps(notes, ensure_ascii=False)


def derived(contact: Contact) -> tuple[str | bytes, ...]:
    """Return what is kept beside a contact's columns: the searched texts folded, and the rendered document."""
    searched = (contact.contact_uid, contact.full_name, contact.city, contact.country_or_region)
    return (*map(folded, searched), rendered_contact(contact))


def _row(contact: Contact) -> tuple[Any, ...]:
    return (*contact, *derived(contact))
