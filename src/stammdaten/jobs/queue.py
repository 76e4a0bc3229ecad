"""The queue of jobs: asked for once, claimed by one worker, kept alive while worked on, finished or tried again.

No well-kept library runs on both SQLite and PostgreSQL and asyncio (docs/decisions tells which were looked at).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, delete, exists, insert, or_, select, update

from stammdaten.jobs.tables import jobs
from stammdaten.store import Conflict, Read, Row, Statement, Store, WriteShared, any_of, number, text

_ADD = Statement(
    insert(jobs).values(
        kind=text("kind"),
        key=text("key"),
        instance_id=number("owner"),
        payload=text("payload"),
        state="waiting",
        # At once: a clock that was set back, or differs from server to server, must not hold it up.
        due_at="",
        claimed_by="",
        claimed_until="",
        attempts=0,
        progress="{}",
        report="",
        created_at=text("created_at"),
        finished_at="",
    )
)
_earlier = jobs.alias("earlier")
_is_due = and_(
    any_of(jobs.c.kind, "kinds"),
    or_(
        and_(jobs.c.state == "waiting", jobs.c.due_at <= text("now")),
        # Whoever claimed it is gone: a worker that lives keeps its claim ahead of the clock.
        and_(jobs.c.state == "running", jobs.c.claimed_until < text("now")),
    ),
    # Jobs of one kind and instance are done in the order they were asked for, also by several workers: of two files
    # for one list, the later one must win.
    ~exists().where(
        jobs.c.instance_id != 0,
        _earlier.c.instance_id == jobs.c.instance_id,
        _earlier.c.kind == jobs.c.kind,
        or_(_earlier.c.state == "waiting", _earlier.c.state == "running"),
        _earlier.c.id < jobs.c.id,
    ),
)
_DUE = Statement(select(jobs.c.id).where(_is_due).limit(1))
_next_due = (
    select(jobs.c.id)
    .where(_is_due)
    .order_by(jobs.c.due_at, jobs.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
    .scalar_subquery()
)
_CLAIM = Statement(
    update(jobs)
    .where(jobs.c.id == _next_due)
    .values(state="running", claimed_by=text("worker"), claimed_until=text("until"), attempts=jobs.c.attempts + 1)
    .returning(jobs.c.id, jobs.c.kind, jobs.c.instance_id, jobs.c.payload, jobs.c.progress, jobs.c.attempts)
)
_own = and_(jobs.c.id == number("job_id"), jobs.c.claimed_by == text("worker"), jobs.c.state == "running")
_KEEP = Statement(update(jobs).where(_own).values(claimed_until=text("until")).returning(jobs.c.id))
_PROGRESS = Statement(
    update(jobs).where(_own).values(claimed_until=text("until"), progress=text("new_progress")).returning(jobs.c.id)
)
_END = Statement(
    update(jobs)
    .where(_own)
    .values(
        state=text("new_state"),
        due_at=text("new_due_at"),
        report=text("new_report"),
        finished_at=text("new_finished_at"),
        claimed_by="",
        claimed_until="",
    )
)
_RELEASE = Statement(
    update(jobs)
    .where(_own)
    .values(
        state="waiting",
        due_at=text("new_due_at"),
        # It is no attempt that failed.
        attempts=jobs.c.attempts - 1,
        claimed_by="",
        claimed_until="",
    )
)
_WAITS = Statement(
    select(jobs.c.id)
    .where(
        jobs.c.state == "waiting",
        jobs.c.attempts == 0,
        jobs.c.kind == text("kind"),
        jobs.c.instance_id == number("owner"),
    )
    .limit(1)
)
_BY_KEY = Statement(select(jobs.c.state, jobs.c.report).where(jobs.c.kind == text("kind"), jobs.c.key == text("key")))
_FORGET = Statement(delete(jobs).where(jobs.c.state == "done", jobs.c.finished_at < text("before")))
_LIST = Statement(
    select(
        jobs.c.id,
        jobs.c.kind,
        jobs.c.key,
        jobs.c.state,
        jobs.c.attempts,
        jobs.c.progress,
        jobs.c.report,
        jobs.c.created_at,
        jobs.c.finished_at,
    )
    .order_by(jobs.c.id.desc())
    .limit(number("most"))
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job as a worker holds it, and the name of the claim."""

    id: int
    claim: str
    kind: str
    instance_id: int
    payload: dict[str, Any]
    progress: dict[str, Any]
    attempts: int


class ClaimLost(Exception):  # noqa: N818 - the news, not an error
    """Another worker has taken the job over: this one was thought dead."""


async def ask(  # noqa: PLR0913 - what a job is
    store: Store, *, kind: str, key: str, now: str, owner: int = 0, payload: dict[str, Any] | None = None
) -> bool:
    """Ask for a job, due now; asking again with the same key changes nothing. Return whether it is new."""
    try:
        await store.writing_shared(
            lambda write: ask_within(write, kind=kind, key=key, now=now, owner=owner, payload=payload)
        )
    except Conflict:
        return False
    return True


async def ask_within(  # noqa: PLR0913 - what a job is
    write: WriteShared, *, kind: str, key: str, now: str, owner: int = 0, payload: dict[str, Any] | None = None
) -> None:
    """Ask for a job in the transaction that makes it necessary.

    :raises Conflict: if it was asked for with this key.
    """
    await write.run(_ADD, kind=kind, key=key, owner=owner, payload=json.dumps(payload or {}), created_at=now)


async def is_waiting(read: Read, *, kind: str, owner: int) -> bool:
    """Tell whether a job of this kind and instance was asked for, that nobody has begun yet."""
    return bool(await read.rows(_WAITS, kind=kind, owner=owner))


async def is_due(read: Read, *, kinds: Iterable[str], now: str) -> bool:
    """Tell whether there is a job of these kinds to take."""
    return bool(await read.rows(_DUE, kinds=sorted(kinds), now=now))


async def job_by_key(read: Read, *, kind: str, key: str) -> tuple[str, str] | None:
    """Return state and report of a job; None if there is none, or no longer."""
    found = await read.row(_BY_KEY, kind=kind, key=key)
    return None if found is None else (found[0], found[1])


async def claim(write: WriteShared, *, kinds: Iterable[str], worker: str, now: str, until: str) -> Claimed | None:
    """Take the job of these kinds that is due longest, until some time; None if none is due."""
    found = await write.run(_CLAIM, kinds=sorted(kinds), worker=worker, now=now, until=until)
    if not found:
        return None
    job_id, kind, instance_id, payload, progress, attempts = found[0]
    return Claimed(job_id, worker, kind, instance_id, json.loads(payload), json.loads(progress), attempts)


async def keep_claim(
    write: WriteShared, *, job_id: int, worker: str, until: str, progress: dict[str, Any] | None = None
) -> None:
    """Hold on to a job, and note how far it is.

    :raises ClaimLost: if another worker has it.
    """
    statement, values = _KEEP, {"job_id": job_id, "worker": worker, "until": until}
    if progress is not None:
        statement, values = _PROGRESS, values | {"new_progress": json.dumps(progress)}
    if not await write.run(statement, **values):
        raise ClaimLost(job_id)


async def end(  # noqa: PLR0913 - how a job stands
    write: WriteShared, *, job_id: int, worker: str, state: str, report: str, due_at: str, finished_at: str
) -> None:
    """Let go of a job: `done`, `failed`, or `waiting` to be tried again."""
    await write.run(
        _END,
        job_id=job_id,
        worker=worker,
        new_state=state,
        new_report=report,
        new_due_at=due_at,
        new_finished_at=finished_at,
    )


async def release(write: WriteShared, *, job_id: int, worker: str, due_at: str) -> None:
    """Give a job back that was begun, for whoever is there next."""
    await write.run(_RELEASE, job_id=job_id, worker=worker, new_due_at=due_at)


async def forget_done(write: WriteShared, *, before: str) -> None:
    """Remove jobs that were done before some time."""
    await write.run(_FORGET, before=before)


async def newest_jobs(read: Read, *, most: int) -> list[Row]:
    """Return id, kind, key, state, attempts, progress, report and times of the newest jobs."""
    return await read.rows(_LIST, most=most)
