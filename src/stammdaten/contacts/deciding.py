"""Decisions about matches: a person says whether a contact is the party that a list names."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stammdaten.contacts.drafts import Drafts
from stammdaten.contacts.queries import contacts_by_uid
from stammdaten.contacts.shapes import Contact
from stammdaten.http.fields import TEXT
from stammdaten.refusals import Fault, Invalid, NotFound, Refusal
from stammdaten.screening.queries import KeptMatch, matches_of
from stammdaten.screening.shapes import DECISIONS
from stammdaten.screening.tables import checks, matches
from stammdaten.screening.verdicts import decided, status_of
from stammdaten.store import Write


@dataclass(frozen=True, slots=True)
class Decision:
    """A row of `decide_matches`: what somebody says of a match, and why."""

    contact_uid: str
    match_id: int
    decision: str
    comment: str
    user_name: str


async def decide_matches(write: Write, rows: Sequence[Decision]) -> list[bytes | Refusal]:
    """Decide matches; the outcome of a row is the rendered contact, NotFound or Invalid."""
    drafts = Drafts(write, await contacts_by_uid(write, [row.contact_uid for row in rows]))
    kept = await matches_of(write, [contact.id for contact in drafts.current.values()])
    known = {match.id: match for found in kept.values() for match in found}
    before = dict(known)
    records: list[tuple[Any, ...]] = []
    outcomes = [_decide(write, drafts, known, records, row) for row in rows]
    await drafts.save()
    await write.update(matches, [match for match in known.values() if before[match.id] is not match])
    await write.insert(checks, records)
    return outcomes


def _decide(
    write: Write, drafts: Drafts, known: dict[int, KeptMatch], records: list[tuple[Any, ...]], row: Decision
) -> bytes | Refusal:
    faults = list(_faults(row))
    if faults:
        return Invalid(faults)
    contact = drafts.current.get(row.contact_uid)
    if contact is None:
        return NotFound("Contact not found")
    shown: list[dict[str, Any]] = json.loads(contact.matches or "[]")
    match = next((match for match in shown if match["id"] == row.match_id), None)
    if match is None:
        return NotFound("The contact has no such match.")
    kept = known[row.match_id]._replace(
        decision=row.decision, decided_by=row.user_name, decided_at=write.now_utc, comment=row.comment.strip()
    )
    known[row.match_id] = kept
    match |= decided(kept)
    after = _with_matches(contact, shown)._replace(updated_at=write.contact_stamp())
    records.append(_record(write, after, row, match))
    return drafts.put(after, category="decided", text="Match Decided", user_name=row.user_name)


def _faults(row: Decision) -> list[Fault]:
    found = []
    if row.decision not in DECISIONS:
        found.append(Fault("decision", f"must be one of {', '.join(DECISIONS)}"))
    if not row.comment.strip() or len(row.comment) > TEXT or "\0" in row.comment:
        found.append(Fault("comment", f"is required: at most {TEXT} characters that say why"))
    return found


def _with_matches(contact: Contact, shown: list[dict[str, Any]]) -> Contact:
    result = json.loads(contact.sanctions_check_result or "{}")
    status = status_of(shown, result)
    return contact._replace(matches=json.dumps(shown, ensure_ascii=False), status=status)


def _record(write: Write, contact: Contact, row: Decision, match: dict[str, Any]) -> tuple[Any, ...]:
    said = f"{row.decision}: {match['list']} {match['entry_id']} {match['matched_name']}: {row.comment.strip()}"
    return (
        *(write.next_id(), contact.id, contact.contact_uid, write.now_utc, "decided", row.user_name),
        *(contact.full_name, 0, 0, "", "", contact.sanctions_check, contact.status, str(match["score"]), 1, said),
    )
