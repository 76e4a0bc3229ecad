"""Request ids, the log line and the metrics of each request, and the headers that every answer carries."""

import re
from collections.abc import Iterable
from random import getrandbits
from time import perf_counter

from prometheus_client import Counter, Histogram
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stammdaten.http.logs import log_request

REQUESTS = Counter("stammdaten_requests_total", "Requests by route and status.", ["method", "route", "status"])
SECONDS = Histogram(
    "stammdaten_request_seconds",
    "Time from the first byte of a request to the last of its answer.",
    ["route"],
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)

# No answer is for a browser's eyes or a shared cache; pages that are, say so themselves.
SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
STRICT_CONTENT = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}
NOT_ROUTED = "none"
_CLIENT_CLOSED = 499


class Observing:
    """ASGI middleware, outermost: what it logs is what was answered. Never a token, a body or a query."""

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        # Templates, not paths: a label for each article number would fill the memory, and tell whose it is.
        self._templates: dict[object, str] = {
            route.endpoint: route.path for route in routes if isinstance(route, Route)
        }
        self._seconds = {template: SECONDS.labels(template) for template in self._templates.values()}
        self._counts: dict[tuple[str, str, int], Counter] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass and note how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        request_id = _request_id(scope)
        status = _CLIENT_CLOSED

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"] = [
                    *message["headers"],
                    (b"x-request-id", request_id),
                    *SECURITY_HEADERS,
                ]
                if not any(name == b"content-security-policy" for name, _ in headers):
                    headers.append(STRICT_CONTENT)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._note(scope, request_id, status, perf_counter() - started)

    def _note(self, scope: Scope, request_id: bytes, status: int, seconds: float) -> None:
        template = self._templates.get(scope.get("endpoint"), NOT_ROUTED)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        key = (method, template, status)
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = REQUESTS.labels(method, template, str(status))
        count.inc()
        if template != NOT_ROUTED:
            self._seconds[template].observe(seconds)
        caller = scope.get("caller")
        log_request(
            method=method,
            route=template,
            prefix=caller.prefix if caller else None,
            status=status,
            ms=round(seconds * 1000, 2),
            user=caller.user_name if caller else None,
            request_id=request_id.decode(),
        )


def _request_id(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return bytes(value)
    return new_request_id()


def new_request_id() -> bytes:
    """Make an id that no other request will have; it guards nothing, so it need not be hard to guess."""
    return b"%032x" % getrandbits(128)
