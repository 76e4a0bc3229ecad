"""`stammdaten serve`."""

import typer

from stammdaten.cli.running import with_store
from stammdaten.http.serving import serve as run_server
from stammdaten.screening.updating import check_sources
from stammdaten.settings import read_settings
from stammdaten.store import Store


def serve() -> None:
    """Serve until a signal comes; requests under way are finished first."""

    async def look(_: Store) -> None:
        """Open and close: creates a new embedded database, refuses an older schema before any worker starts."""

    settings = read_settings()
    check_sources(settings)
    with_store(look)
    if not run_server(settings, "stammdaten.app:create_app"):
        raise typer.Exit(1)
