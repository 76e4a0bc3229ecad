"""`python -m stammdaten.exchange`: do the imports and exports that are due, and end."""

import asyncio
import os
import signal
from contextlib import suppress

from stammdaten.exchange.working import work_off
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
        await work_off(store, settings.home)


async def _main() -> None:
    working, ending = asyncio.create_task(_work()), asyncio.create_task(_end_with(os.getppid()))
    # Told to stop, it lets go of its job, so that whoever starts next need not wait until the claim has run out.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
    with suppress(asyncio.CancelledError):
        await working
    ending.cancel()


if __name__ == "__main__":
    os.nice(_NICE)  # whoever waits for an answer goes first
    configure_logging()
    asyncio.run(_main())
