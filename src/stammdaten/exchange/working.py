"""Imports and exports in a process of their own: their millions of rows must not slow the answers of a serving one."""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from stammdaten.clock import utc_now, utc_stamp
from stammdaten.exchange.daily import EXPORT_DAILY, exporting_daily
from stammdaten.exchange.exporting import EXPORT, exporting
from stammdaten.exchange.importing import importing
from stammdaten.exchange.orders import IMPORT
from stammdaten.jobs.queue import is_due
from stammdaten.jobs.running import Handler, Worker
from stammdaten.refusals import Unavailable
from stammdaten.settings import Settings
from stammdaten.store import Store

_LOOK_SECONDS = 5
_END_SECONDS = 10

_log = logging.getLogger(__name__)


def exchange_jobs(home: Path) -> Mapping[str, Handler]:
    """Return the kinds of jobs of the exchange, and what does them."""
    return {IMPORT: importing(home), EXPORT: exporting(home), EXPORT_DAILY: exporting_daily(home)}


def exchange_worker(store: Store, home: Path) -> Worker:
    """Return a worker for the jobs of the exchange; an import itself says when it is given up."""
    return Worker(store, exchange_jobs(home), (), {IMPORT})


def dedicated_worker(store: Store, home: Path, *kinds: str) -> Worker:
    """Tune this process for rows, and return its worker for the jobs of the exchange, or for some kinds of them."""
    # Looking for garbage took a fifth of the time: a row makes hundreds of objects and no cycle.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    jobs = exchange_jobs(home)
    return Worker(store, {kind: jobs[kind] for kind in kinds or jobs}, (), {IMPORT})


class Exchange:
    """Looks for jobs of the exchange, and starts a process that does what is there and ends."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._asked = asyncio.Event()
        # Of workbooks that a serving process makes itself, for an answer: one at a time.
        self.packing = asyncio.Semaphore(1)

    def look(self) -> None:
        """Look now: something was asked for."""
        self._asked.set()

    async def run(self) -> None:
        """Look and start until cancelled."""
        while True:
            self._asked.clear()
            try:
                if await self._is_due():
                    await self._work_off()
            except Unavailable:
                _log.warning("imports and exports wait: the database is away")
            except Exception:
                # They must go on after whatever one look met, e.g. no process to be had; the next is in a few seconds.
                _log.exception("imports and exports: an unexpected error")
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._asked.wait()

    async def _is_due(self) -> bool:
        async with self._store.reading_shared() as read:
            return await is_due(read, kinds=exchange_jobs(self._settings.home), now=utc_stamp(utc_now()))

    async def _work_off(self) -> None:
        settings = self._settings
        environment = {
            **os.environ,
            "STAMMDATEN_HOME": str(settings.home.resolve()),
            "STAMMDATEN_DATABASE_URL": settings.database_url or "",
        }
        command = (sys.executable, "-m", "stammdaten.exchange", str(os.getpid()))
        process = await asyncio.create_subprocess_exec(*command, env=environment)
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            # What it was at goes on behind its last batch, with whoever takes it over.
            with suppress(ProcessLookupError):
                process.terminate()
                await asyncio.wait([asyncio.create_task(process.wait())], timeout=_END_SECONDS)
                process.kill()
            await process.wait()
            raise
        if code:
            _log.error("the process for imports and exports ended with %s", code)
