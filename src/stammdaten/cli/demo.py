"""`stammdaten demo`: an account to look at, and a first call that works when pasted."""

from typing import Annotated

import typer


def demo(
    serve: Annotated[bool, typer.Option("--serve", help="Serve afterwards.")] = False,  # noqa: FBT002 - an option
) -> None:
    """Create a demo account in a new database, print the address, a token and a first call."""
