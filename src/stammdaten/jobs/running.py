"""The worker of a process: plans the day's jobs, takes what is due, and keeps its claims alive."""

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Collection, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any, TypeVar, cast

from stammdaten.clock import german_stamp, utc_now, utc_stamp
from stammdaten.jobs.queue import Claimed, ClaimLost, ask, claim, end, forget_done, is_due, keep_claim, release
from stammdaten.refusals import Unavailable
from stammdaten.store import Store, WriteShared
from stammdaten.threads import to_its_end

_LOOK_SECONDS = 5
_CLAIM_SECONDS = 60
_AWAY_SECONDS = 30
_MOST_ATTEMPTS = 5
_LONGEST_WAIT = 9
_KEPT_DAYS = 30

T = TypeVar("T")

_log = logging.getLogger(__name__)


class GaveWay(Exception):  # noqa: N818 - the news, not an error
    """The job was given back, since others have waited for their turn; it goes on behind its progress."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a handler sees of its job: whose, with what, how far it was when another worker left it."""

    claimed: Claimed
    _store: Store
    _kinds: Collection[str]

    async def keep(self, progress: dict[str, Any] | None = None) -> None:
        """Note how far the work is; a worker that takes over begins there.

        :raises ClaimLost: if another worker has the job by now; the handler stops.
        """
        await self._store.writing_shared(lambda write: self.keep_within(write, progress))

    async def keep_within(self, write: WriteShared, progress: dict[str, Any] | None = None) -> None:
        """Do the same in the transaction that does the work.

        :raises ClaimLost: as above.
        """
        until = _in(_CLAIM_SECONDS)
        await keep_claim(write, job_id=self.claimed.id, worker=self.claimed.claim, until=until, progress=progress)

    async def give_way(self) -> None:
        """Stop where jobs wait that this worker could do; for handlers that go on behind their progress.

        :raises GaveWay: if so.
        """
        async with self._store.reading_shared() as read:
            if await is_due(read, kinds=self._kinds, now=_in(0)):
                raise GaveWay


# Returns the report; may run again from its last progress, so what it did must bear being done twice.
Handler = Callable[[Store, Job], Awaitable[str]]


class Worker:
    """Does jobs of the kinds it has handlers for; asks for the daily ones once a (German) day.

    A job that fails is tried five times; a tireless one for ever, since nothing else would do what it leaves undone.
    That something is unavailable is no failure: it waits until that is there again.
    """

    def __init__(
        self, store: Store, handlers: Mapping[str, Handler], daily: tuple[str, ...], tireless: Container[str] = ()
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._daily = daily
        self._tireless = tireless
        self._planned_day = ""
        self._claims = count(1)
        self._name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            try:
                await self._plan_day()
                while await self.work_once():
                    pass
            except Unavailable:
                _log.warning("jobs wait: the database is away")
            except Exception:
                # Jobs must go on after whatever one look met; the next look is in a few seconds.
                _log.exception("jobs: an unexpected error")
            await asyncio.sleep(_LOOK_SECONDS)

    async def _plan_day(self) -> None:
        now = utc_now()
        today = german_stamp(now)[:10]
        if today == self._planned_day:
            return
        for kind in self._daily:
            await ask(self._store, kind=kind, key=today, now=utc_stamp(now))
        before = utc_stamp(now - timedelta(days=_KEPT_DAYS))
        await self._store.writing_shared(lambda write: forget_done(write, before=before))
        self._planned_day = today

    async def work_once(self) -> bool:
        """Take a due job and do it; return whether there was one."""

        async def take(write: WriteShared) -> Claimed | None:
            now = utc_stamp(utc_now())
            # Named one by one: this worker may itself take over what it was taken for dead at.
            worker = f"{self._name}:{next(self._claims)}"
            return await claim(write, kinds=self._handlers, worker=worker, now=now, until=_in(_CLAIM_SECONDS))

        claimed = await self._written(take)
        if claimed is None:
            return False
        await self._do(claimed)
        return True

    async def _do(self, claimed: Claimed) -> None:
        if claimed.attempts > _MOST_ATTEMPTS and claimed.kind not in self._tireless:
            # One that fails is given up in time. Whoever did this one died each time, and so might this process.
            await self._let_go(claimed, report="given up: each attempt ended without a word", succeeded=False)
            return
        job = Job(claimed, self._store, self._handlers.keys())
        alive = asyncio.create_task(_keep_alive(job))
        try:
            report = await self._handlers[claimed.kind](self._store, job)
        except asyncio.CancelledError:
            # Told to stop: the next worker need not wait until the claim has run out. If it must, it is told all the
            # same: whoever catches errors around here would go on for ever.
            with suppress(Exception):
                await self._release(claimed)
            raise
        except ClaimLost:
            _log.warning("job %s was taken over by another worker", claimed.id)
        except GaveWay:
            await self._release(claimed)
        except Unavailable as error:
            _log.warning("job %s (%s) waits: %s", claimed.id, claimed.kind, error)
            await self._release(claimed, seconds=_AWAY_SECONDS)
        except Exception as error:
            _log.exception("job %s (%s) failed", claimed.id, claimed.kind)
            await self._let_go(claimed, report=f"{type(error).__name__}: {error}", succeeded=False)
        else:
            await self._let_go(claimed, report=report, succeeded=True)
        finally:
            alive.cancel()
            # `await alive` could not tell its cancellation from ours.
            await asyncio.wait([alive])

    async def _release(self, claimed: Claimed, *, seconds: float = 0) -> None:
        due_at = _in(seconds)
        await self._written(lambda write: release(write, job_id=claimed.id, worker=claimed.claim, due_at=due_at))

    async def _let_go(self, claimed: Claimed, *, report: str, succeeded: bool) -> None:
        is_over = succeeded or (claimed.attempts >= _MOST_ATTEMPTS and claimed.kind not in self._tireless)
        state = "done" if succeeded else "failed" if is_over else "waiting"

        async def write_end(write: WriteShared) -> None:
            await end(
                write,
                job_id=claimed.id,
                worker=claimed.claim,
                state=state,
                report=report,
                # Each failure waits twice as long, from half a minute to two hours.
                due_at=_in(15 * 2 ** min(claimed.attempts, _LONGEST_WAIT)),
                finished_at=utc_stamp(utc_now()) if is_over else "",
            )

        await self._written(write_end)

    async def _written(self, work: Callable[[WriteShared], Awaitable[T]]) -> T:
        """Write to the end; who is told to stop meanwhile learns so at its next wait, and knows what it holds.

        Otherwise it might hold a job and not know, and nobody would work on that until the claim has run out.
        """
        writing = asyncio.ensure_future(self._store.writing_shared(work))
        try:
            return await to_its_end(writing)
        except asyncio.CancelledError:
            cast("asyncio.Task[object]", asyncio.current_task()).cancel()
            return writing.result()


async def _keep_alive(job: Job) -> None:
    while True:
        await asyncio.sleep(_CLAIM_SECONDS / 3)
        try:
            await job.keep()
        except (Unavailable, ClaimLost):
            pass  # the job meets either itself
        except Exception:
            # The next time may be better; a claim that nobody keeps would be lost without a word.
            _log.exception("job %s: an unexpected error while its claim was kept", job.claimed.id)


def _in(seconds: float) -> str:
    return utc_stamp(utc_now() + timedelta(seconds=seconds))
