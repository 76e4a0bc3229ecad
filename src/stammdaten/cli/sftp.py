"""`stammdaten sftp` and `stammdaten sftp-login`: the exchange of files by SFTP, and who may."""

import asyncio
import logging
import resource
import signal
from pathlib import Path
from typing import Annotated

import typer

from stammdaten.auth.logins import all_logins, create_login, new_password, password_hash, remove_login
from stammdaten.cli.running import Prefix, in_instance, noun, number_of, say, with_store, write_in
from stammdaten.exchange.daily import EXPORT_DAILY
from stammdaten.exchange.sftp.folders import make_space
from stammdaten.exchange.sftp.receiving import Receiving
from stammdaten.exchange.working import Exchange
from stammdaten.http.logs import configure_logging
from stammdaten.jobs.running import Worker
from stammdaten.refusals import Unavailable
from stammdaten.settings import read_settings
from stammdaten.store import Row, Store, Write

app = noun("SFTP logins: users who exchange files.")

_LOGIN = Annotated[
    str, typer.Argument(help="The name to log in with: 1 to 63 of a-z, 0-9 and -, unique in the service.")
]


def sftp() -> None:
    """Serve the exchange of files by SFTP until a signal comes, and do imports and exports meanwhile."""
    configure_logging()
    # It would log the names that are tried, which may be passwords in the wrong field, and client addresses.
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    with_store(_serve)


async def _serve(store: Store) -> None:
    # Imported here: asyncssh would weigh on every command.
    from stammdaten.exchange.sftp.connecting import listening, only_one  # noqa: PLC0415

    settings = read_settings()
    # The usual soft limit is for programs that cannot do with more; each connection and each open file takes one.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    exchange = Exchange(store, settings)
    receiving = Receiving(store, home=settings.home, limit=settings.import_limit, ordered=exchange.look)
    with only_one(settings.home):
        receiving.recover()
        beside: list[asyncio.Task[None]] = []
        try:
            async with listening(store, settings, receiving):
                beside += [
                    asyncio.create_task(receiving.run()),
                    asyncio.create_task(exchange.run()),
                    # Asks for the day's exports, which the exchange does: a serving process may not be there to ask.
                    asyncio.create_task(Worker(store, {}, (EXPORT_DAILY,)).run()),
                ]
                await stopped.wait()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)


@app.command()
def create(
    prefix: Prefix,
    user: Annotated[str, typer.Option(help="The member that it belongs to, whom histories name.")],
    login: _LOGIN,
    key: Annotated[
        list[Path] | None, typer.Option(help="A file with the public key of who logs in; several times for several.")
    ] = None,
) -> None:
    """Let a user exchange files under the name LOGIN: with the private key of each public one that --key gives.

    Without --key, with a password instead: it is the last line, shown once and kept nowhere.
    """
    password = "" if key else new_password()
    proof = "\n".join(_public_keys(key)) if key else password_hash(password)

    async def add(write: Write) -> None:
        await create_login(write, name=login, user_name=user, proof=proof)
        try:
            # Within the transaction: a login that was kept without its password being shown would be of no use.
            make_space(read_settings().home, prefix)
        except OSError as error:
            raise Unavailable(f"The folders of the instance cannot be made: {error.strerror}.") from error

    write_in(prefix, add)
    if password:
        say(password)


def _public_keys(files: list[Path]) -> list[str]:
    # Imported here: asyncssh would weigh on every command.
    from stammdaten.exchange.sftp.keys import public_key, read_key  # noqa: PLC0415

    return [public_key(read_key(file)) for file in files]


@app.command("list")
def list_logins(prefix: Prefix) -> None:
    """Show the logins: name, user, how they log in, and when they were made, separated by tabs."""

    async def read_all(store: Store, instance_id: int) -> list[Row]:
        async with store.reading(instance_id) as read:
            return await all_logins(read)

    for name, user, password, keys, created_at in in_instance(prefix, read_all):
        how = "password" if password else number_of(len(keys.splitlines()), "key", "keys")
        say(f"{name}\t{user}\t{how}\t{created_at}")


@app.command()
def remove(prefix: Prefix, login: _LOGIN) -> None:
    """Remove a login; its open connections end within some seconds."""
    write_in(prefix, lambda write: remove_login(write, name=login))
