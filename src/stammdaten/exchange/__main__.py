"""`python -m stammdaten.exchange PID`: do the imports and exports that are due, and end, or when that parent does."""

import asyncio
import os
import signal
import sys

from stammdaten.exchange.working import dedicated_worker
from stammdaten.http.logs import configure_logging
from stammdaten.settings import read_settings
from stammdaten.store import open_store
from stammdaten.store.schema import check_schema

_NICE = 5
_LOOK_SECONDS = 1


async def _end_with(parent: int) -> None:
    """End when the process that started this one has died: another version may serve the database by now."""
    while os.getppid() == parent:  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(_LOOK_SECONDS)
    signal.raise_signal(signal.SIGTERM)


async def _work() -> None:
    settings = read_settings()
    async with await open_store(settings) as store:
        await check_schema(store)
        worker = dedicated_worker(store, settings.home)
        while await worker.work_once():
            pass


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
