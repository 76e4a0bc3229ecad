"""The whole service on one screen: what answers where, and what each request passes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from starlette.routing import Router
from starlette.types import ASGIApp

from stammdaten.auth.bearing import Bearer
from stammdaten.contacts import list_changes, rescreening
from stammdaten.contacts import routes as contacts
from stammdaten.contacts.screened import SCREEN_WAITING
from stammdaten.exchange import routes as exchange
from stammdaten.exchange.daily import EXPORT_DAILY
from stammdaten.exchange.working import Exchange
from stammdaten.http import operating
from stammdaten.http.logs import configure_logging
from stammdaten.http.observing import Observing
from stammdaten.http.refusing import Refusing
from stammdaten.http.routing import RawPaths, under
from stammdaten.jobs.running import Handler, Worker
from stammdaten.lists import routes as lists
from stammdaten.products import expiry
from stammdaten.products import routes as products
from stammdaten.screening.current import Screening
from stammdaten.screening.ruling import RESCREEN
from stammdaten.screening.shapes import RESCREEN_DUE
from stammdaten.screening.staging import LIST_CHANGED
from stammdaten.screening.updating import UPDATE, check_sources, updating_lists
from stammdaten.screening.yente import YenteServer
from stammdaten.settings import Settings, read_settings
from stammdaten.store import Store, open_store
from stammdaten.store.schema import check_schema

# Kinds of jobs that are asked for every day, and those that are never given up.
DAILY = (expiry.JOB, RESCREEN_DUE, EXPORT_DAILY)
TIRELESS = {LIST_CHANGED, SCREEN_WAITING, RESCREEN}


class State(TypedDict):
    """What the server hands to every request."""

    settings: Settings
    store: Store
    screening: Screening
    exchange: Exchange


def jobs(screening: Screening) -> dict[str, Handler]:
    """Return what outlives a request: kinds of jobs, and what does them."""
    return {
        expiry.JOB: expiry.expire_classifications,
        LIST_CHANGED: list_changes.screening_list_change(screening),
        SCREEN_WAITING: rescreening.screening_waiting(screening),
        RESCREEN: rescreening.screening_again(screening),
        RESCREEN_DUE: rescreening.screening_due(screening),
    }


def yente_server(settings: Settings) -> YenteServer | None:
    """Return the server that is asked instead of the lists in force here, if one is named."""
    if settings.yente_url is None:
        return None
    return YenteServer(url=settings.yente_url, dataset=settings.yente_dataset, api_key=settings.yente_key)


def create_app(settings: Settings | None = None) -> ASGIApp:
    """Build the service; a server that builds it in a process of its own gives no settings."""
    settings = settings or read_settings()
    check_sources(settings)
    configure_logging()

    @asynccontextmanager
    async def lifespan(_: Router) -> AsyncIterator[State]:
        async with await open_store(settings) as store:
            await check_schema(store)
            screening = Screening(store, yente_server(settings))
            exchanging = Exchange(store, settings)
            beside = [
                asyncio.create_task(screening.keep_up_to_date()),
                asyncio.create_task(Worker(store, jobs(screening), DAILY, TIRELESS).run()),
                # A worker of its own: downloads may take long, and contacts shall not wait for them.
                asyncio.create_task(Worker(store, {UPDATE: updating_lists(settings)}, (UPDATE,)).run()),
                asyncio.create_task(exchanging.run()),
            ]
            yield {"settings": settings, "store": store, "screening": screening, "exchange": exchanging}
            for task in beside:
                task.cancel()
            await asyncio.wait(beside)
            screening.close()

    routes = [
        *under("/api/{prefix}/v1", [*products.ROUTES, *contacts.ROUTES, *lists.ROUTES, *exchange.ROUTES]),
        *operating.ROUTES,
        *([] if settings.metrics_port else [operating.METRICS]),
    ]
    app: ASGIApp = Router(routes, lifespan=lifespan, redirect_slashes=False)
    # From the inside out: a request passes them from the last to the first.
    app = Bearer(app)
    app = Refusing(app)
    app = Observing(app, routes)
    return RawPaths(app)
