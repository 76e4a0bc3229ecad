"""A constant answer of a given size from the same server as stammdaten's: the HTTP part of the floor.

Start with `uvicorn bench.peers.constant:app`; BENCH_ANSWER_BYTES is the size of the body. A bare ASGI
application: no framework, no authentication, no logging, nothing that could be left out.
"""

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]

_BODY = b'"' + b"x" * (int(os.environ.get("BENCH_ANSWER_BYTES", "31000")) - 2) + b'"'
_START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(_BODY)).encode()),
    ],
}
_END = {"type": "http.response.body", "body": _BODY}


async def app(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Answer every request with the same body, after its own body was read."""
    if scope["type"] == "lifespan":
        for answer in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{answer}.complete"})
        return
    if scope["method"] != "GET":
        while (await receive()).get("more_body"):
            pass
    await send(_START)
    await send(_END)
