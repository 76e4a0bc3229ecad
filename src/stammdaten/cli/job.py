"""`stammdaten job`: work that outlives requests."""

from typing import Annotated

import typer

from stammdaten.cli.running import noun, printable, say, with_store
from stammdaten.jobs.queue import newest_jobs
from stammdaten.store import Row, Store

app = noun("Jobs: work that outlives requests.")


@app.callback()
def job() -> None:
    """Jobs: work that outlives requests."""


@app.command("list")
def list_jobs(most: Annotated[int, typer.Option(help="How many, newest first.", min=1)] = 30) -> None:
    """Show jobs: id, kind, key, state, attempts, progress, report, created, finished, separated by tabs."""

    async def read_all(store: Store) -> list[Row]:
        async with store.reading_shared() as read:
            return await newest_jobs(read, most=most)

    for row in with_store(read_all):
        say("\t".join(printable(str(value)) or "-" for value in row))
