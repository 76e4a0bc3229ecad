"""What a check makes of contacts: in the transaction that stores them, weighed against what was decided before."""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import delete

from stammdaten.contacts.shapes import Contact
from stammdaten.contacts.subjects import subject_of
from stammdaten.jobs.queue import ask_within, is_waiting
from stammdaten.screening.entries import content_hash
from stammdaten.screening.queries import KeptMatch, Standing, matches_of, standing
from stammdaten.screening.shapes import Check
from stammdaten.screening.tables import checks, matches
from stammdaten.screening.verdicts import Verdict, concluded, waiting
from stammdaten.store import Statement, Write, any_of, the_instance

SCREEN_WAITING = "screen waiting contacts"
_OUTDATED = "The contact or a sanctions list changed during the check; another follows."
_NOT_YET = "The check follows."

_FORGET = Statement(delete(matches).where(the_instance(matches), any_of(matches.c.contact_id, "contact_ids")))


class Screened:
    """The checks of one batch while they are stored; the clock's lock keeps decisions and other checks out."""

    def __init__(self, write: Write, now_standing: Standing, kept: dict[int, list[KeptMatch]]) -> None:
        self._write = write
        self._standing = now_standing
        self._kept = kept
        self._records: list[tuple[Any, ...]] = []
        # By id: a contact that is in the batch twice settles twice.
        self._added: dict[int, KeptMatch] = {}
        self._changed: dict[int, KeptMatch] = {}
        self._is_waiting = False

    @classmethod
    async def of(cls, write: Write, contact_ids: Iterable[int], *, are_new: bool = False) -> "Screened":
        """Read what checks rest on and what was decided of these contacts; of none, unless they are new, nothing."""
        ids = list(contact_ids)
        if not ids and not are_new:
            return cls(write, Standing(0, 0, 0), {})
        return cls(write, await standing(write), await matches_of(write, ids) if ids else {})

    def is_current(self, contact: Contact, check: Check) -> bool:
        """Tell whether a check is of the contact as it stands, against the lists in force."""
        kept = self._kept.get(contact.id, ())
        return check.standing == self._standing and check.subject == subject_of(contact, kept)

    def is_news(self, contact: Contact, check: Check) -> bool:
        """Tell whether a check found what the contact does not show, or shows as it was before the entry changed."""
        shown = {
            (one.source, one.entry_id, one.entry_hash) for one in self._kept.get(contact.id, ()) if one.is_standing
        }
        return any((one.source, one.entry_id, content_hash(one.document)) not in shown for one in check.found)

    def settle(self, contact: Contact, check: Check | None, *, why: str, user_name: str) -> Contact:
        """Let the contact say what the check found; a check that is missing, or outdated by now, is asked for."""
        if check is None or not check.is_made or not self.is_current(contact, check):
            self._is_waiting |= self._follows(check)
            reason = _NOT_YET if check is None else _OUTDATED if check.is_made else check.failed
            return _with(contact, waiting(reason, _shown(contact)))
        kept = self._kept.get(contact.id, ())
        verdict = concluded(check, kept, contact_id=contact.id, next_id=self._write.next_id, now=self._write.now_utc)
        self._added.update({match.id: match for match in verdict.added})
        for match in verdict.changed:
            (self._added if match.id in self._added else self._changed)[match.id] = match
        by_key = {(match.source, match.entry_id): match for match in (*kept, *verdict.changed, *verdict.added)}
        self._kept[contact.id] = list(by_key.values())
        self.record(contact, check, verdict, why=why, user_name=user_name)
        return _with(contact, verdict, checked_at=self._write.now_utc)

    def _follows(self, check: Check | None) -> bool:
        """Tell whether another check can say more; without a list none can: its loading checks who has no answer."""
        if check is None:
            return bool(self._standing.official or self._standing.blocked)
        return check.is_made or check.follows or check.standing != self._standing

    def record(self, contact: Contact, check: Check, verdict: Verdict, *, why: str, user_name: str) -> None:
        """Record a check for the audit."""
        highest = verdict.highest_score
        self._records.append(
            (
                self._write.next_id(),
                contact.id,
                contact.contact_uid,
                self._write.now_utc,
                why,
                user_name,
                check.subject.party.name,
                check.standing.official,
                check.standing.blocked,
                check.engine,
                str(check.rules.threshold),
                verdict.sanctions_check,
                verdict.status,
                "" if highest is None else str(highest),
                len(verdict.shown),
                check.failed,
            )
        )

    async def save(self) -> None:
        """Write matches and the record of checks, and ask for the checks that are missing."""
        write = self._write
        await write.insert(matches, list(self._added.values()))
        await write.update(matches, list(self._changed.values()))
        await write.insert(checks, self._records)
        if self._is_waiting:
            await ask_for_checks(write)


async def ask_for_checks(write: Write) -> None:
    """Ask for the checks of all contacts of the instance that wait for one, unless a job that has not begun will do."""
    if not await is_waiting(write, kind=SCREEN_WAITING, owner=write.instance_id):
        # A key of its own each time: a job that is under way may have passed these contacts already.
        key = f"{write.instance_id}:{write.next_id()}"
        await ask_within(write, kind=SCREEN_WAITING, key=key, now=write.now_utc, owner=write.instance_id)


async def forget_matches(write: Write, contact_ids: list[int]) -> None:
    """Remove what was found of contacts that are gone; the record of checks stays."""
    await write.run(_FORGET, contact_ids=contact_ids)


def _shown(contact: Contact) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = json.loads(contact.matches or "[]")
    return shown


def _with(contact: Contact, verdict: Verdict, *, checked_at: str | None = None) -> Contact:
    return contact._replace(
        status=verdict.status,
        sanctions_check=verdict.sanctions_check,
        sanctions_check_result=json.dumps(verdict.result, ensure_ascii=False),
        matches=json.dumps(verdict.shown, ensure_ascii=False) if verdict.shown else "",
        last_sanction_checked_at=checked_at or contact.last_sanction_checked_at,
    )
