"""`stammdaten demo`: an account to look at, and a first call that works when pasted."""

import sys
from typing import Annotated

import typer

from stammdaten.cli.running import say, with_store
from stammdaten.cli.serve import serve as serve_now
from stammdaten.demo.making import ERP, PREFIX, TOKEN_DAYS, issue_token, make_demo
from stammdaten.refusals import NotAllowed, NotFound
from stammdaten.settings import Settings, read_settings
from stammdaten.store import Store

# What a server listens on when it listens everywhere is no address to call.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound


def demo(
    serve: Annotated[bool, typer.Option("--serve", help="Serve afterwards.")] = False,  # noqa: FBT002 - an option
) -> None:
    """Create a demo account in a new database, print the address, a token and a first call."""
    try:
        token = with_store(_prepare)
    except (NotAllowed, NotFound) as refusal:
        if not serve:
            raise
        sys.stderr.write(f"{refusal}\n")
    else:
        _show(_address(read_settings()), token)
    # Before the server takes over: what waits in the buffer would be seen only when it ends.
    sys.stdout.flush()
    if serve:
        serve_now()


async def _prepare(store: Store) -> str:
    await make_demo(store)
    return await issue_token(store)


def _address(settings: Settings) -> str:
    host = _EVERYWHERE.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def _show(address: str, token: str) -> None:
    say("Address:")
    say(address)
    say(f"Token of the user {ERP}, for {TOKEN_DAYS} days:")
    say(token)
    say("A first call:")
    say(f'curl -H "Authorization: Bearer {token}" "{address}/api/{PREFIX}/v1/products?timestamp=2020-01-01"')
