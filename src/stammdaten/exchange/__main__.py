"""`python -m stammdaten.exchange`: do the imports and exports that are due, and end."""

import asyncio
import os

from stammdaten.exchange.working import work_off
from stammdaten.http.logs import configure_logging
from stammdaten.settings import read_settings
from stammdaten.store import open_store
from stammdaten.store.schema import check_schema

_NICE = 5


async def _work() -> None:
    settings = read_settings()
    async with await open_store(settings) as store:
        await check_schema(store)
        await work_off(store, settings.home)


if __name__ == "__main__":
    os.nice(_NICE)  # whoever waits for an answer goes first
    configure_logging()
    asyncio.run(_work())
