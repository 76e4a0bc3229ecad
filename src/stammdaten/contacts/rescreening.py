"""Screening contacts again: those who wait, all of them, those whose check is long ago, those whom a list changed.

Invariant: a list that comes into force finds every contact. Whoever stores a contact looks, under the lock of the
instance's clock, whether the lists are those of its check; the job takes that lock once before it reads the contacts.
So a contact is either stored before that, and read, or stored after it, against the new list.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, select

from stammdaten.auth.queries import instance_ids
from stammdaten.clock import utc_now, utc_stamp
from stammdaten.contacts.drafts import Drafts
from stammdaten.contacts.queries import contacts_by_id
from stammdaten.contacts.screened import Screened
from stammdaten.contacts.shapes import Contact
from stammdaten.contacts.subjects import subject_of
from stammdaten.contacts.tables import contacts
from stammdaten.history.operations import SERVICE
from stammdaten.jobs.running import Handler, Job
from stammdaten.refusals import Unavailable
from stammdaten.screening.current import Screening
from stammdaten.screening.queries import matches_of, rules
from stammdaten.screening.shapes import Check
from stammdaten.store import Statement, Store, Write, number, text, the_instance

# Small enough to hold up no writer for long.
_AT_ONCE = 200
_ATTEMPTS = 20


def _ids(*conditions: ColumnElement[bool]) -> tuple[Statement, Statement]:
    """Compose what finds contacts by id: first those on the watchlist, then all.

    All, not the others: whoever is put on the watchlist meanwhile would be passed over by both.
    """
    found = select(contacts.c.id).where(the_instance(contacts), contacts.c.id > number("after"), *conditions)
    return (
        Statement(found.where(contacts.c.is_watchlist).order_by(contacts.c.id).limit(_AT_ONCE)),
        Statement(found.order_by(contacts.c.id).limit(_AT_ONCE)),
    )


_ALL = _ids()
_WAITING = _ids(contacts.c.sanctions_check == "unchecked")
_DUE = _ids(
    (contacts.c.sanctions_check == "unchecked")
    | (contacts.c.sanctions_check == "failed")
    | (contacts.c.last_sanction_checked_at < text("long_ago"))
)


async def screen_contacts(
    store: Store, screening: Screening, instance_id: int, contact_ids: Sequence[int], *, why: str
) -> int:
    """Check contacts and store what was found; return of how many the answer changed.

    :raises Unavailable: if the lists keep changing, or the database is away.
    """
    left, changed = list(contact_ids), 0
    for _ in range(_ATTEMPTS):
        if not left:
            return changed
        checks = await _checks(store, screening, instance_id, left)
        if any(check.follows for check in checks.values()):
            await screening.bring_up_to_date()
            continue
        left, some = await store.writing(instance_id, partial(_store_checks, checks=checks, why=why))
        changed += some
    if left:
        raise Unavailable("The sanctions lists change faster than contacts can be screened; please try again.")
    return changed


async def _checks(store: Store, screening: Screening, instance_id: int, contact_ids: Iterable[int]) -> dict[int, Check]:
    async with store.reading(instance_id) as read:
        found = await contacts_by_id(read, contact_ids)
        kept = await matches_of(read, found)
    subjects = [subject_of(contact, kept.get(contact.id, ())) for contact in found.values()]
    return dict(zip(found, await screening.check(instance_id, subjects, is_job=True), strict=True))


async def _store_checks(write: Write, *, checks: dict[int, Check], why: str) -> tuple[list[int], int]:
    """Store what was found; return the contacts that changed meanwhile, and of how many others the answer changed."""
    standing = await contacts_by_id(write, checks)
    drafts = Drafts(write, {contact.contact_uid: contact for contact in standing.values()})
    screened = await Screened.of(write, standing)
    left, changed = [], 0
    for contact in standing.values():
        check = checks[contact.id]
        if not screened.is_current(contact, check):
            left.append(contact.id)
        elif check.is_made and not (
            check.are_lists_too_old and _has_answer(contact) and not screened.is_news(contact, check)
        ):
            # Standing answers stay where lists are too old for new ones (decisions: Sanctions status), but for what
            # was found all the same: nobody would look for it again when the lists are young enough.
            after = screened.settle(contact, check, why=why, user_name=SERVICE)
            changed += _keep(write, drafts, contact, after)
    await drafts.save()
    await screened.save()
    return left, changed


def _keep(write: Write, drafts: Drafts, before: Contact, after: Contact) -> bool:
    """Let a contact stand as checked; only a new answer is stamped and recorded."""
    if _answer(before) == _answer(after):
        drafts.keep(after)
        return False
    after = after._replace(updated_at=write.contact_stamp())
    drafts.put(after, category="screened", text="Contact Screened", user_name=SERVICE)
    return True


def _answer(contact: Contact) -> tuple[str, str, str]:
    return contact.status, contact.sanctions_check, contact.matches


def _has_answer(contact: Contact) -> bool:
    return contact.sanctions_check not in ("unchecked", "failed")


# ------------------------------------------------------------------------------------ the jobs


def screening_waiting(screening: Screening) -> Handler:
    """Return the job that checks the contacts of an instance that wait for it."""

    async def handle(store: Store, job: Job) -> str:
        instance_id = job.claimed.instance_id
        # Who stored a contact while this job still waited asked for no other: their transactions end first.
        await store.writing(instance_id, no_change)
        return await _screen_all(store, screening, job, [(instance_id, _WAITING, {})], why="waited")

    return handle


def screening_again(screening: Screening) -> Handler:
    """Return the job that checks all contacts of an instance, because its settings changed."""

    async def handle(store: Store, job: Job) -> str:
        instance_id = job.claimed.instance_id
        why = job.claimed.payload.get("why", "asked for")
        return await _screen_all(store, screening, job, [(instance_id, _ALL, {})], why=why)

    return handle


def screening_due(screening: Screening) -> Handler:
    """Return the daily job that checks whose last check is long ago, or could not be done."""

    async def handle(store: Store, job: Job) -> str:
        async with store.reading_shared() as read:
            instances = await instance_ids(read)
        wanted = []
        for instance_id in instances:
            async with store.reading(instance_id) as read:
                days = (await rules(read)).rescreen_days
            wanted.append((instance_id, _DUE, {"long_ago": _days_ago(days)}))
        return await _screen_all(store, screening, job, wanted, why="scheduled")

    return handle


async def _screen_all(
    store: Store,
    screening: Screening,
    job: Job,
    wanted: list[tuple[int, tuple[Statement, Statement], dict[str, str]]],
    *,
    why: str,
) -> str:
    """Go through contacts some at a time, from where the job was left."""
    await screening.bring_up_to_date()
    progress: dict[str, Any] = {"step": 0, "after": 0, "screened": 0, "changed": 0, **job.claimed.progress}
    steps = [(instance_id, found, values) for instance_id, both, values in wanted for found in both]
    for step in range(progress["step"], len(steps)):
        instance_id, found, values = steps[step]
        after = progress["after"]
        while ids := await _some(store, instance_id, found, after=after, **values):
            progress["changed"] += await screen_contacts(store, screening, instance_id, ids, why=why)
            progress["screened"] += len(ids)
            after = ids[-1]
            progress |= {"step": step, "after": after}
            await job.keep(progress)
        progress |= {"step": step + 1, "after": 0}
    return f"{progress['screened']} contacts screened, {progress['changed']} answers changed"


async def no_change(_: Write) -> None:
    """Wait for the lock of the instance's clock, and for all who hold it, alone."""


async def _some(store: Store, instance_id: int, found: Statement, **values: Any) -> list[int]:
    async with store.reading(instance_id, slow=True) as read:
        return [row[0] for row in await read.rows(found, **values)]


def _days_ago(days: int) -> str:
    return utc_stamp(utc_now() - timedelta(days=days))
