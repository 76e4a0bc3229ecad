"""stammdaten as it is, but with batches of one: each request pays for a commit of its own.

Run as a program: `python -m bench.peers.one_commit`, with the settings of `stammdaten serve`.
"""

import sys

from starlette.types import ASGIApp

import stammdaten.app
from stammdaten.http.serving import serve
from stammdaten.settings import Settings, read_settings
from stammdaten.store import Store, open_store


async def _open_with_batches_of_one(settings: Settings) -> Store:
    return Store((await open_store(settings)).engine, largest_batch=1)


def create_app() -> ASGIApp:
    """Build the service on such a store."""
    # Only here: no setting of the service is worth having for a benchmark alone.
    stammdaten.app.open_store = _open_with_batches_of_one  # type: ignore[attr-defined]  # it is imported there
    return stammdaten.app.create_app()


if __name__ == "__main__":
    sys.exit(0 if serve(read_settings(), "bench.peers.one_commit:create_app") else 1)
