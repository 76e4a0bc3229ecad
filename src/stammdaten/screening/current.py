"""What a process has in memory for its checks: the lists in force, indexed; knows nothing of contacts.

A check names what it rests on (`Standing`). Whoever stores its outcome compares that with what is in force in the same
transaction: between the two a list may have changed, and then the outcome must not be taken for an answer.
"""

import asyncio
import gc
import logging
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

import httpx2 as httpx

from stammdaten.clock import utc_now
from stammdaten.refusals import Unavailable
from stammdaten.screening.consulting import NO_LIST, Consulted, Lists, Remote, by_letter
from stammdaten.screening.matching import ENGINE, Index, Match, comparable
from stammdaten.screening.measuring import ListWatch
from stammdaten.screening.queries import Rules, Standing, current_versions, entries_of, rules, standing
from stammdaten.screening.shapes import Check, Subject
from stammdaten.screening.yente import NotAnswered, YenteServer, ask
from stammdaten.store import SHARED, Store

T = TypeVar("T")

# A check that meets a list it does not know wakes the look at once.
_LOOK_SECONDS = 30
_MOST_BLOCK_LISTS = 64
_REQUESTS_AT_ONCE = 4
_log = logging.getLogger(__name__)


class Screening:
    """The lists in force as this process knows them."""

    def __init__(self, store: Store, yente: YenteServer | None = None) -> None:
        self._store = store
        self._yente = yente
        self.engine = ENGINE
        self._official: Lists | None = None
        self._block_lists: OrderedDict[int, Lists] = OrderedDict()
        # One: checks are pure CPU, and a second would only take turns with the first.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="screening")
        self._loading = asyncio.Lock()
        self._loading_block_list = asyncio.Lock()
        self._outdated = asyncio.Event()
        self._watch = ListWatch()

    async def keep_up_to_date(self) -> None:
        """Follow the lists until cancelled."""
        while True:
            try:
                await self.bring_up_to_date()
            except Unavailable:
                _log.warning("sanctions lists wait: the database is away")
            except Exception:
                # Checks go on failing closed meanwhile; the next look is in a moment.
                _log.exception("sanctions lists: an unexpected error")
            self._outdated.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._outdated.wait()

    async def bring_up_to_date(self) -> None:
        """Load the official lists, unless those in force are known already.

        :raises Unavailable: if the database is away.
        """
        if self._yente is not None:
            await self._watch.look(self._store, ())
            return
        async with self._loading:
            self._official = await self._up_to_date(SHARED, self._official)
        await self._watch.look(self._store, self._official.versions)

    async def check(self, instance_id: int, subjects: Sequence[Subject], *, is_job: bool = False) -> list[Check]:
        """Check contacts of one instance, in a thread; only a job asks a server that may be slow.

        :raises Unavailable: if the database is away, or such a server.
        """
        async with self._store.reading(instance_id) as read:
            now_standing = await standing(read)
            wanted = await rules(read) if now_standing.settings else Rules()
        blocked = await self._block_list(instance_id, now_standing)
        reason, follows = self._reason_for_none(now_standing, is_job=is_job)
        if reason:
            return [
                Check(subject=subject, standing=now_standing, failed=reason, is_made=False, follows=follows)
                for subject in subjects
            ]
        remote = None if self._yente is None else await self._ask(self._yente, subjects, wanted)
        using = Consulted(now_standing, wanted, self._official, blocked, utc_now())
        # Pure CPU, beside the event loop.
        return await asyncio.get_running_loop().run_in_executor(
            self._thread,
            lambda: [using.check(subject, remote[place] if remote else None) for place, subject in enumerate(subjects)],
        )

    @property
    def is_remote(self) -> bool:
        """Whether the official lists are those of a yente server, which tells nobody when they change."""
        return self._yente is not None

    def _reason_for_none(self, wanted: Standing, *, is_job: bool) -> tuple[str, bool]:
        """Return why no check can be made now, and whether one follows; "" if it can."""
        if self._yente is not None:
            return ("", False) if is_job else ("The check is done by another server; it follows.", True)
        if not wanted.official and not wanted.blocked:
            return NO_LIST, False
        if self._official is None or self._official.activation != wanted.official:
            self._outdated.set()
            return "The sanctions lists are being loaded; the check follows.", True
        return "", False

    async def _ask(self, server: YenteServer, subjects: Sequence[Subject], wanted: Rules) -> list[Remote]:
        turn = asyncio.Semaphore(_REQUESTS_AT_ONCE)

        async def ask_one(client: httpx.AsyncClient, subject: Subject) -> list[Match]:
            if not comparable(subject.party):
                return []
            async with turn:
                return await ask(server, subject.party, least=wanted.threshold, client=client)

        async with httpx.AsyncClient(trust_env=False) as client:
            try:
                found = await asyncio.gather(*(ask_one(client, subject) for subject in subjects))
            except NotAnswered as error:
                raise Unavailable(str(error)) from error
        return [Remote(f"yente:{server.dataset}", matches) for matches in found]

    async def index_of(self, owner: int) -> Index | None:
        """Return the official lists (0), or an instance's block list, as last brought up to date."""
        if owner == SHARED:
            return None if self._official is None else self._official.index
        async with self._store.reading(owner) as read:
            blocked = await self._block_list(owner, await standing(read))
        return None if blocked is None else blocked.index

    def close(self) -> None:
        """Let go of the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _block_list(self, instance_id: int, wanted: Standing) -> Lists | None:
        if not wanted.blocked:
            return None
        known = self._block_lists.get(instance_id)
        if known is None or known.activation < wanted.blocked:
            # One at a time: a dozen requests that come first would each build an index of their own.
            async with self._loading_block_list:
                known = self._block_lists.get(instance_id)
                if known is None or known.activation < wanted.blocked:
                    known = await self._up_to_date(instance_id, known)
                    self._block_lists[instance_id] = known
        self._block_lists.move_to_end(instance_id)
        while len(self._block_lists) > _MOST_BLOCK_LISTS:
            self._block_lists.popitem(last=False)
        return known

    async def _up_to_date(self, instance_id: int, known: Lists | None) -> Lists:
        async with self._store.reading(instance_id) as read:
            versions = tuple(await current_versions(read))
        activation = max((version.activation for version in versions), default=0)
        if known is not None and known.activation == activation:
            # When a list was last confirmed may have moved all the same.
            return Lists(activation, versions, known.index, known.names)
        listed: list[tuple[str, str]] = []
        async with self._store.reading(instance_id, slow=True) as read:
            for version in versions:
                async for rows in entries_of(read, version):
                    listed += [(version.source, row[3]) for row in rows]
        index = await asyncio.to_thread(_indexed, listed)
        _log.info("sanctions lists in memory: %s entries, %s names", index.entries, index.names)
        return Lists(activation, versions, index, by_letter(listed) if instance_id != SHARED else {})


def _indexed(listed: list[tuple[str, str]]) -> Index:
    index = Index.of(listed)
    # What lives as long as the process is not looked through by the garbage collector again and again: that would take
    # 0.1 s each time, in the midst of somebody's request.
    gc.collect()
    gc.freeze()
    return index
