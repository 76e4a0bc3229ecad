"""What routes ask of a request: its body, numbers and words of its query, path segments as they were sent."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus, unquote_to_bytes

from starlette.requests import ClientDisconnect, Request

from stammdaten.http.bodies import json_body, unstorable
from stammdaten.http.fields import LARGEST_NUMBER
from stammdaten.refusals import Fault, Invalid, Malformed, TooLarge, Unavailable

LARGEST_BODY = 1024 * 1024
LARGEST_PAGE = 2**31 - 1
# A thread for less would cost more than the writing.
_WRITTEN_AT_ONCE = 1 << 20

_WHOLE = re.compile(r"[0-9]{1,19}")
_FALSE = {"", "false", "0", "no", "off"}


async def read_json(request: Request) -> tuple[Any, list[Fault]]:
    """Return the body's value, and where it holds what cannot be kept.

    :raises TooLarge: if it is over 1 MiB.
    :raises Malformed: if it cannot be read.
    """
    body = b"".join([part async for part in _parts(request, most=LARGEST_BODY)])
    value = json_body(body)
    return value, unstorable(body, value)


async def write_body(request: Request, file: Path, *, most: int) -> None:
    """Write the body into a new file as it comes.

    :raises TooLarge: if it is over `most` bytes.
    :raises Malformed: if it is empty, or ended before it was complete.
    :raises Unavailable: if the disk does not take it.
    """
    piece = bytearray()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as written:
            async for part in _parts(request, most=most):
                piece += part
                if len(piece) >= _WRITTEN_AT_ONCE:
                    await asyncio.to_thread(written.write, piece)
                    piece = bytearray()
            written.write(piece)
            if not written.tell():
                raise Malformed("The body must be the file; it is empty.")
    except OSError as error:
        raise Unavailable("The file cannot be kept at the moment; please try again.") from error


async def _parts(request: Request, *, most: int) -> AsyncIterator[bytes]:
    announced = request.headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()) or int(announced[:20]) > most:
        raise _too_large(most)
    length = 0
    try:
        async for part in request.stream():
            length += len(part)
            if length > most:
                raise _too_large(most)
            yield part
    except ClientDisconnect as gone:
        raise Malformed("The body ended before it was complete.") from gone


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The body must not be larger than {most} bytes.")


def read_query(request: Request) -> dict[str, str]:
    """Return the query's parameters; of one given twice, the last counts."""
    pairs = request.scope["query_string"].decode("utf-8", "replace").split("&")
    return {unquote_plus(name): unquote_plus(value) for name, _, value in (pair.partition("=") for pair in pairs)}


def whole_number(query: dict[str, str], name: str, *, most: int = LARGEST_NUMBER) -> int | None:
    """Read a whole number from 1; None where it is not given.

    :raises Invalid: if it is anything else.
    """
    given = query.get(name)
    if given is None:
        return None
    if not _WHOLE.fullmatch(given) or not 1 <= int(given) <= most:
        raise Invalid([Fault(name, f"must be a whole number from 1 to {most}")])
    return int(given)


def page_number(query: dict[str, str]) -> int:
    """Read `page`; the first when omitted.

    :raises Invalid: if it is no whole number from 1.
    """
    return whole_number(query, "page", most=LARGEST_PAGE) or 1


def is_truthy(given: str | None) -> bool:
    """Read a word as `deleted` is read: false for `false`, `0`, `no`, `off` and empty, everything else is true."""
    return given is not None and given.lower() not in _FALSE


def path_text(segment: str) -> str | None:
    """Decode a path segment as it was sent; None if it is no UTF-8, which no name of ours is."""
    try:
        return unquote_to_bytes(segment).decode("utf-8")
    except UnicodeDecodeError:
        return None
