"""Paths and what answers them: one route a path, so that a wrong method is told all that are allowed."""

from collections.abc import Awaitable, Callable, Iterable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

# An endpoint returns what sends its answer: a JsonAnswer or a Starlette response.
Endpoint = Callable[[Request], Awaitable[ASGIApp]]


class Resource:
    """What answers at one path, by method; an ASGI app, since Starlette wraps a plain function in three layers more."""

    def __init__(self, endpoints: dict[str, Endpoint]) -> None:
        self._endpoints = endpoints
        if "GET" in endpoints:
            self._endpoints = {"HEAD": endpoints["GET"], **endpoints}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request.

        :raises HTTPException: with 405 if the method is none of the path's.
        """
        endpoint = self._endpoints.get(scope["method"])
        if endpoint is None:
            raise HTTPException(405, headers={"Allow": ", ".join(self._endpoints)})
        answer = await endpoint(Request(scope, receive))
        await answer(scope, receive, send)


def resource(path: str, **endpoints: Endpoint) -> Route:
    """Route a path by method: `resource("/products", GET=list_products, POST=create_product)`."""
    return Route(path, Resource(endpoints))


def under(path: str, routes: Iterable[Route]) -> list[Route]:
    """Put routes under a path; a flat table is matched faster than mounts."""
    return [Route(path + route.path, route.endpoint) for route in routes]


class RawPaths:
    """ASGI middleware: routes on the path as it was sent, so that a uid may hold `/` (decisions: Contacts)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass with its path not decoded."""
        if scope["type"] == "http":
            scope["path"] = scope["raw_path"].decode("latin-1")
        await self._app(scope, receive, send)
