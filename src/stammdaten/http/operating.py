"""Pages for operators and readers: health, metrics, the contract and its documentation."""

import os

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from pydantic_core import to_json
from sqlalchemy import literal, select
from starlette.requests import Request
from starlette.responses import Response

from stammdaten.http.answers import JsonAnswer
from stammdaten.http.documentation import contract, contract_page
from stammdaten.http.routing import resource
from stammdaten.store import Statement

_ANSWERS = Statement(select(literal(1)))
_OK = to_json({"status": "ok"})


async def live(_: Request) -> JsonAnswer:
    """Say that the process runs."""
    return JsonAnswer(_OK)


async def ready(request: Request) -> JsonAnswer:
    """Say that the database answers.

    :raises Unavailable: if it does not.
    """
    async with request.scope["state"]["store"].reading_shared() as read:
        await read.rows(_ANSWERS)
    return JsonAnswer(_OK)


async def metrics(_: Request) -> Response:
    """Show what was counted, by all workers together, in the form of Prometheus."""
    return Response(generate_latest(counted()), headers={"Content-Type": CONTENT_TYPE_LATEST})


def counted() -> CollectorRegistry:
    """Return what this process counted, or, where several share a folder, what all of them did."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has no types there
    return registry


async def openapi(_: Request) -> Response:
    """Serve the contract as it is written."""
    return Response(contract(), media_type="application/yaml")


async def docs(_: Request) -> Response:
    """Show the contract as a page that needs nothing from elsewhere."""
    policy = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
    return Response(contract_page(), headers=policy, media_type="text/html")


ROUTES = [
    resource("/health/live", GET=live),
    resource("/health/ready", GET=ready),
    resource("/openapi.yaml", GET=openapi),
    resource("/docs", GET=docs),
]
METRICS = resource("/metrics", GET=metrics)
