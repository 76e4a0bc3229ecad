"""From refusals to answers: which status and which body a path gets is decided here and nowhere else.

Contact paths answer `{"message"}` (with `errors` for 422), all others `{"reason"}` (specification, Errors).
"""

import logging
import re
from typing import Any

from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from stammdaten.refusals import (
    AlreadyExists,
    Invalid,
    Malformed,
    NotAllowed,
    NotFound,
    Refusal,
    TooLarge,
    Unauthenticated,
    Unavailable,
)

_CONTACTS = re.compile(r"/api/[^/]*/v1/contacts(?:/|$)")
_RETRY_SECONDS = "5"

_STATUS: dict[type[Refusal], int] = {
    Malformed: 400,
    Invalid: 400,
    Unauthenticated: 401,
    NotAllowed: 403,
    NotFound: 404,
    AlreadyExists: 409,
    TooLarge: 413,
    Unavailable: 503,
}
# The specification gives contacts codes of their own for these two (Errors, Contact endpoints).
_CONTACT_STATUS = _STATUS | {Invalid: 422, AlreadyExists: 400}
_HEADERS = {
    401: {"WWW-Authenticate": "Bearer"},
    503: {"Retry-After": _RETRY_SECONDS},
}
_ROUTING_TEXTS = {404: "There is nothing at this path.", 405: "This path does not take this method."}

_log = logging.getLogger(__name__)


def is_contact_path(path: str) -> bool:
    """Whether a path answers as contacts do."""
    return _CONTACTS.match(path) is not None


def refusal_body(path: str, text: str) -> dict[str, Any]:
    """Shape a refusal for a path."""
    return {"message" if is_contact_path(path) else "reason": text}


def _status(refusal: Refusal, codes: dict[type[Refusal], int]) -> int:
    return next(codes[kind] for kind in type(refusal).__mro__ if kind in codes)


def _answer(path: str, refusal: Refusal) -> Response:
    body = refusal_body(path, str(refusal))
    status = _status(refusal, _CONTACT_STATUS if "message" in body else _STATUS)
    if isinstance(refusal, Invalid) and "message" in body:
        errors: dict[str, list[str]] = {}
        for fault in refusal.faults:
            errors.setdefault(fault.path, []).append(f"{fault.path} {fault.sentence}")
        body["errors"] = errors
    return Response(to_json(body), status, _HEADERS.get(status), "application/json")


class Refusing:
    """ASGI middleware: turns what the rooms raise into answers; what nobody expected is a 500 and a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, whatever is raised."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Without an app in the scope, the router would answer in plain text instead of raising.
        scope["app"] = self._app
        try:
            await self._app(scope, receive, send)
        except Refusal as refusal:
            if isinstance(refusal, Unavailable):
                # The caller learns that it is away; the operator must learn why.
                _log.warning("unavailable: %s", refusal.__cause__ or refusal)
            answer = _answer(scope["path"], refusal)
        except HTTPException as error:  # the router's own
            body = to_json(refusal_body(scope["path"], _ROUTING_TEXTS[error.status_code]))
            answer = Response(body, error.status_code, error.headers, "application/json")
        except Exception:
            _log.exception("an unexpected error")
            # If the answer had begun already, the server refuses this one and closes the connection.
            body = to_json(refusal_body(scope["path"], "The service failed unexpectedly."))
            answer = Response(body, 500, media_type="application/json")
        else:
            return
        await answer(scope, receive, send)
