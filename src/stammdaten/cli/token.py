"""`stammdaten token`: API keys."""

from typing import Annotated

import typer

from stammdaten.auth.operations import create_token, revoke_token
from stammdaten.auth.queries import all_tokens
from stammdaten.cli.running import Prefix, in_instance, noun, say, write_in
from stammdaten.store import Row, Store

app = noun("Tokens: API keys of users.")

_SHOWN_HASH = 16


@app.command()
def create(
    prefix: Prefix,
    user: Annotated[str, typer.Option(help="The user it is issued to.")],
    expires_in: Annotated[
        float | None, typer.Option(help="Days until it expires; never if not given.", min=0, max=36_500)
    ] = None,
) -> None:
    """Issue a token; the last line is the token, shown once and kept nowhere."""
    say(write_in(prefix, lambda write: create_token(write, user_name=user, days=expires_in)))


@app.command("list")
def list_tokens(prefix: Prefix) -> None:
    """Show the tokens: begin of the hash, user, created, expires, revoked, separated by tabs."""

    async def read_all(store: Store, instance_id: int) -> list[Row]:
        async with store.reading(instance_id) as read:
            return await all_tokens(read)

    for hashed, *others in in_instance(prefix, read_all):
        say("\t".join([hashed[:_SHOWN_HASH], *(other or "-" for other in others)]))


@app.command()
def revoke(
    prefix: Prefix,
    token: Annotated[str, typer.Argument(help="Begin of the hash from `token list`, or the token.")],
) -> None:
    """Revoke a token; it stops working everywhere within 2 seconds."""
    write_in(prefix, lambda write: revoke_token(write, token_or_hash=token))
