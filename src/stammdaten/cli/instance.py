"""`stammdaten instance`: data spaces that never meet."""

from typing import Annotated

import typer

from stammdaten.auth.operations import create_instance
from stammdaten.auth.queries import all_instances
from stammdaten.cli.running import noun, say, with_store, write_shared
from stammdaten.store import Row, Store

app = noun("Instances: an account's data spaces, which never meet.")


@app.command()
def create(
    prefix: Annotated[str, typer.Argument(help="1 to 63 characters of a-z, 0-9 and -, unique in the service.")],
    name: Annotated[str, typer.Option(help="What people call it.")] = "",
) -> None:
    """Create one instance alone, in an account of its own."""
    write_shared(lambda write: create_instance(write, prefix=prefix, name=name))
    say(prefix)


@app.command("list")
def list_instances() -> None:
    """Show the instances: prefix, name, account and when each was created, separated by tabs."""

    async def read_all(store: Store) -> list[Row]:
        async with store.reading_shared() as read:
            return await all_instances(read)

    for row in with_store(read_all):
        say("\t".join(row))
