"""The whole service on one screen: what answers where, and what each request passes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TypedDict

from starlette.routing import Router
from starlette.types import ASGIApp

from stammdaten.auth.bearing import Bearer
from stammdaten.contacts import routes as contacts
from stammdaten.http import operating
from stammdaten.http.logs import configure_logging
from stammdaten.http.observing import Observing
from stammdaten.http.refusing import Refusing
from stammdaten.http.routing import RawPaths, under
from stammdaten.jobs.running import Worker
from stammdaten.lists import routes as lists
from stammdaten.products import expiry
from stammdaten.products import routes as products
from stammdaten.settings import Settings, read_settings
from stammdaten.store import Store, open_store
from stammdaten.store.schema import check_schema

# What outlives a request: kinds of jobs, what does them, and which are asked for every day.
JOBS = {expiry.JOB: expiry.expire_classifications}
DAILY = (expiry.JOB,)


class State(TypedDict):
    """What the server hands to every request."""

    store: Store


def create_app(settings: Settings | None = None) -> ASGIApp:
    """Build the service; a server that builds it in a process of its own gives no settings."""
    settings = settings or read_settings()
    configure_logging()

    @asynccontextmanager
    async def lifespan(_: Router) -> AsyncIterator[State]:
        async with await open_store(settings) as store:
            await check_schema(store)
            working = asyncio.create_task(Worker(store, JOBS, DAILY).run())
            yield {"store": store}
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working

    routes = [
        *under("/api/{prefix}/v1", [*products.ROUTES, *contacts.ROUTES, *lists.ROUTES]),
        *operating.ROUTES,
        *([] if settings.metrics_port else [operating.METRICS]),
    ]
    app: ASGIApp = Router(routes, lifespan=lifespan, redirect_slashes=False)
    # From the inside out: a request passes them from the last to the first.
    app = Bearer(app)
    app = Refusing(app)
    app = Observing(app, routes)
    return RawPaths(app)
