"""The bearer token at the door: every path under /api passes here before anything else is looked at."""

from time import monotonic
from typing import NamedTuple
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from stammdaten.auth.callers import Caller
from stammdaten.auth.queries import caller_by_token_hash
from stammdaten.auth.tokens import bearer_token, token_hash
from stammdaten.clock import utc_now, utc_stamp
from stammdaten.refusals import NotAllowed, Unauthenticated
from stammdaten.store import Store

# Revocation holds everywhere within 2 seconds (decisions: Words); a look-up costs as much as the rest of a find.
_REMEMBERED_SECONDS = 1.5
_MOST_REMEMBERED = 10_000


class _Known(NamedTuple):
    caller: Caller
    expires_at: str
    forgotten_at: float


class Bearer:
    """ASGI middleware: puts the caller into the scope, or refuses.

    :raises Unauthenticated: if there is no good token.
    :raises NotAllowed: if the token is for another prefix, existing or not.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        # Only good tokens are remembered: a flood of bad ones fills nothing, and a new token works at once.
        self._known: dict[str, _Known] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass with its caller."""
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            caller = scope["caller"] = await self._caller(scope["state"]["store"], _authorization(scope))
            if unquote(scope["path"].split("/", 3)[2]) != caller.prefix:
                raise NotAllowed("This token is not for this prefix.")
        await self._app(scope, receive, send)

    async def _caller(self, store: Store, header: str | None) -> Caller:
        token = bearer_token(header)
        if token is None:
            raise Unauthenticated("A Bearer token is required.")
        hashed = token_hash(token)
        known = self._known.get(hashed)
        if known is None or known.forgotten_at < monotonic():
            known = await self._look_up(store, hashed)
        if known.expires_at and known.expires_at <= utc_stamp(utc_now()):
            raise Unauthenticated("A Bearer token is required.")
        return known.caller

    async def _look_up(self, store: Store, hashed: str) -> _Known:
        # Timed from before the look-up: a revocation during it must not be overlooked for longer.
        forgotten_at = monotonic() + _REMEMBERED_SECONDS
        async with store.reading_shared() as read:
            found = await caller_by_token_hash(read, hashed)
        if found is None:
            self._known.pop(hashed, None)
            raise Unauthenticated("A Bearer token is required.")
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        known = self._known[hashed] = _Known(*found, forgotten_at)
        return known


def _authorization(scope: Scope) -> str | None:
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    # Two of them: whose request it is cannot be told.
    return values[0].decode("latin-1") if len(values) == 1 else None
