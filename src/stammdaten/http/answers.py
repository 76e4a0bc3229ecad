"""The answers that endpoints give: rendered JSON, and files that are sent as they are made."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.types import Receive, Scope, Send


class JsonAnswer:
    """Send rendered JSON; a third of the work of a Starlette response, which counts where a page costs so little."""

    __slots__ = ("_body", "_status")

    def __init__(self, body: bytes, status: int = 200) -> None:
        self._body = body
        self._status = status

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(self._body))]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": self._body})


class FileAnswer:
    """Send a file of unknown length, part by part.

    A client that goes away ends it between two parts, never amid a look into the store, as a cancelled task would. If
    the next part cannot be made, the connection breaks: no client can take what came for the whole file.
    """

    def __init__(self, parts: AsyncGenerator[bytes, None], *, name: str, media_type: str) -> None:
        self._parts = parts
        self._headers = [
            (b"content-type", media_type.encode()),
            (b"content-disposition", f'attachment; filename="{name}"'.encode()),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._parts) as parts:
            # Before the status is sent: where nothing can be made, the client is told so.
            part = b"" if scope["method"] == "HEAD" else await anext(parts, b"")
            await send({"type": "http.response.start", "status": 200, "headers": self._headers})
            gone = asyncio.create_task(_gone(receive))
            try:
                while part and not gone.done():
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                    # The server waits only for a slow client: a fast one would hold up all others.
                    await asyncio.sleep(0)
                    part = await anext(parts, b"")
            finally:
                gone.cancel()
            if not part:
                await send({"type": "http.response.body"})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
