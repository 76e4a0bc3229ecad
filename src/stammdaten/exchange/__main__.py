"""`python -m stammdaten.exchange PID`: do the imports and exports that are due, and end, or when that parent does.

A few at a time: a small file need not wait behind a large one of another instance, nor behind the exports of the day.
"""

import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress

from stammdaten.exchange.working import dedicated_worker
from stammdaten.http.logs import configure_logging
from stammdaten.jobs.running import Worker
from stammdaten.refusals import Unavailable
from stammdaten.settings import read_settings
from stammdaten.store import open_store
from stammdaten.store.schema import check_schema

_NICE = 5
_LOOK_SECONDS = 1
_AT_ONCE = 4

_log = logging.getLogger(__name__)


async def _end_with(parent: int) -> None:
    """End when the process that started this one has died: another version may serve the database by now."""
    while os.getppid() == parent:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(_LOOK_SECONDS)
    signal.raise_signal(signal.SIGTERM)


async def _work() -> None:
    settings = read_settings()
    try:
        async with await open_store(settings) as store:
            await check_schema(store)
            turns = _Turns(dedicated_worker(store, settings.home))
            async with asyncio.TaskGroup() as group:
                for _ in range(_AT_ONCE):
                    group.create_task(turns.take())
    except* Unavailable as away:
        _log.warning("imports and exports wait: %s", away.exceptions[0])


class _Turns:
    """Up to four jobs at once; over when none is at work and none is due."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._busy = 0
        self._over = asyncio.Event()

    async def take(self) -> None:
        while not self._over.is_set():
            self._busy += 1
            while await self._worker.work_once():
                pass
            self._busy -= 1
            if not self._busy:
                self._over.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._over.wait()


async def _main() -> None:
    working, ending = asyncio.create_task(_work()), asyncio.create_task(_end_with(int(sys.argv[1])))
    # Told to stop, it lets go of its job, so that whoever starts next need not wait until the claim has run out.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
    try:
        await working
    except asyncio.CancelledError:
        # Without waiting for a thread that unpacks a workbook: nobody wants it any more.
        os._exit(0)
    ending.cancel()


if __name__ == "__main__":
    os.nice(_NICE)  # whoever waits for an answer goes first
    configure_logging()
    asyncio.run(_main())
