"""`stammdaten account`: customers."""

from typing import Annotated

import typer

from stammdaten.auth.operations import create_account
from stammdaten.cli.running import noun, say, write_shared

app = noun("Accounts: customers, each with three instances.")


@app.callback()
def account() -> None:
    """Accounts: customers, each with three instances."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the customer is called; unique in the service.")],
    prefix: Annotated[str, typer.Option(help="Prefix of the live instance, of a-z, 0-9 and -.")],
) -> None:
    """Create an account with instances for live work, training (PREFIX-training) and tests (PREFIX-test)."""
    for each in write_shared(lambda write: create_account(write, name=name, prefix=prefix)):
        say(each)
