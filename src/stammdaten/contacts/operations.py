"""Creating, updating and deleting contacts, each with its history record; many rows at a time."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stammdaten.auth.callers import Caller
from stammdaten.contacts.drafts import Drafts
from stammdaten.contacts.queries import contacts_by_uid
from stammdaten.contacts.screened import Screened, forget_matches
from stammdaten.contacts.shapes import IDENTIFYING, MOST_NOTES, Contact, Given
from stammdaten.refusals import AlreadyExists, Fault, Invalid, NotFound, Refusal
from stammdaten.screening.shapes import Check
from stammdaten.store import Write


@dataclass(frozen=True, slots=True)
class ContactChange:
    """A row of `create_contacts` and `update_contacts`: who gives what, and what the check of it found.

    Without a check the contact waits for one, gray, if it needs any.
    """

    caller: Caller
    given: Given
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class ContactDeletion:
    """A row of `delete_contacts`."""

    caller: Caller
    contact_uid: str


async def create_contacts(write: Write, rows: Sequence[ContactChange]) -> list[bytes | Refusal]:
    """Create contacts; the outcome of a row is the rendered contact, or AlreadyExists."""
    drafts = Drafts(write, await contacts_by_uid(write, [row.given.contact_uid for row in rows]))
    screened = await Screened.of(write, [], are_new=True)
    outcomes = [_create(write, drafts, screened, row) for row in rows]
    await drafts.save()
    await screened.save()
    return outcomes


def _create(write: Write, drafts: Drafts, screened: Screened, row: ContactChange) -> bytes | Refusal:
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
        **row.given.values,
    )
    contact = screened.settle(contact, row.check, why="created", user_name=user_name)
    return drafts.put(contact, category="created", text="Contact Created", user_name=user_name)


async def update_contacts(write: Write, rows: Sequence[ContactChange]) -> list[bytes | Refusal]:
    """Update contacts; the outcome of a row is the rendered contact, NotFound or Invalid (too many notes)."""
    drafts = Drafts(write, await contacts_by_uid(write, [row.given.contact_uid for row in rows]))
    # What identifies nobody needs no check, and most updates are of that kind.
    identified = {row.given.contact_uid for row in rows if IDENTIFYING & row.given.values.keys()}
    screened = await Screened.of(write, [drafts.current[uid].id for uid in identified & drafts.current.keys()])
    outcomes = [_update(write, drafts, screened, row) for row in rows]
    await drafts.save()
    await screened.save()
    return outcomes


def _update(write: Write, drafts: Drafts, screened: Screened, row: ContactChange) -> bytes | Refusal:
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
    if moved:
        contact = screened.settle(contact, row.check, why="updated", user_name=user_name)
    return drafts.put(contact, category="updated", text="Contact Updated", user_name=user_name)


async def delete_contacts(write: Write, rows: Sequence[ContactDeletion]) -> list[Refusal | None]:
    """Delete contacts, their history kept; the outcome of a row is None, or NotFound."""
    drafts = Drafts(write, await contacts_by_uid(write, [row.contact_uid for row in rows]))
    outcomes: list[Refusal | None] = []
    gone: list[int] = []
    for row in rows:
        contact = drafts.current.get(row.contact_uid)
        if contact is not None:
            drafts.remove(contact, user_name=row.caller.user_name)
            gone.append(contact.id)
        outcomes.append(None if contact is not None else NotFound("Contact not found"))
    await drafts.save()
    await forget_matches(write, gone)
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
