"""The commands, one file a noun; each opens the store, calls the operation that the interface calls, and ends."""

import sys

import typer

from stammdaten.cli import (
    account,
    contact,
    database,
    demo,
    exchange,
    instance,
    job,
    list_,
    product,
    sanctions,
    serve,
    sftp,
    token,
    user,
)
from stammdaten.cli.running import failing
from stammdaten.settings import SettingsError

app = typer.Typer(
    name="stammdaten",
    help="Product master data and compliance contacts for foreign trade.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for noun, commands in {
    "account": account,
    "instance": instance,
    "user": user,
    "token": token,
    "list": list_,
    "product": product,
    "contact": contact,
    "sanctions": sanctions,
    "job": job,
    "sftp-login": sftp,
}.items():
    app.add_typer(commands.app, name=noun)
for command in (serve.serve, database.migrate, database.check, database.backup, database.restore, demo.demo):
    app.command()(command)


app.command("import")(exchange.import_)
app.command("export")(exchange.export)
app.command("sftp")(sftp.sftp)


def main() -> None:
    """Run a command; what is wrong goes to standard error, with exit code 2 (usage) or 1."""
    try:
        with failing():
            app()
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
