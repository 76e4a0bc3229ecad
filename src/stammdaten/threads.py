"""Waiting for threads; knows not what they do."""

import asyncio
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(working: asyncio.Future[T]) -> T:
    """Wait for work that nothing stops; who is cancelled meanwhile waits all the same, and is cancelled then.

    What the work uses may be lent to the next, or closed, as soon as this is over.
    """
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        raise
