"""Paths and what answers them: one route a path, so that a wrong method is told all that are allowed."""

from collections.abc import Awaitable, Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Awaitable[Response]]


def resource(path: str, **endpoints: Endpoint) -> Route:
    """Route a path by method: `resource("/products", GET=list_products, POST=create_product)`."""

    async def dispatch(request: Request) -> Response:
        return await endpoints["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, dispatch, methods=list(endpoints))


def under(path: str, routes: Iterable[Route]) -> list[Route]:
    """Put routes under a path; a flat table is matched faster than mounts."""
    return [Route(path + route.path, route.endpoint, methods=list(route.methods or ())) for route in routes]


class RawPaths:
    """ASGI middleware: routes on the path as it was sent, so that a uid may hold `/` (decisions: Contacts)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request pass with its path not decoded."""
        if scope["type"] == "http":
            scope["path"] = scope["raw_path"].decode("latin-1")
        await self._app(scope, receive, send)
