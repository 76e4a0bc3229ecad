"""`stammdaten list`: product lists."""

from typing import Annotated

import typer

from stammdaten.cli.running import Prefix, noun, say, write_in
from stammdaten.http.fields import LARGEST_NUMBER
from stammdaten.lists.operations import create_list, delete_list

app = noun("Product lists.")


@app.command()
def create(
    prefix: Prefix,
    name: Annotated[str, typer.Argument(help="What people call it.")],
    slug: Annotated[str | None, typer.Option(help="Made of the name if not given; maps CSV files to the list.")] = None,
) -> None:
    """Create a product list; the last line is its id."""
    say(write_in(prefix, lambda write: create_list(write, name=name, slug=slug)))


@app.command()
def delete(
    prefix: Prefix,
    list_id: Annotated[
        int, typer.Argument(help="The list's id, as `list create` printed it.", min=1, max=LARGEST_NUMBER)
    ],
) -> None:
    """Mark a list as deleted: it takes no new products, and keeps those it has."""
    write_in(prefix, lambda write: delete_list(write, list_id=list_id))
