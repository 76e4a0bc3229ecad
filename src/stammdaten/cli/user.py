"""`stammdaten user`: who works in an instance, and as what."""

from typing import Annotated

import typer

from stammdaten.auth.callers import Role
from stammdaten.auth.operations import add_user, create_user, disable_user, set_roles
from stammdaten.auth.queries import account_by_prefix
from stammdaten.cli.running import Prefix, in_instance, noun, say, write_in
from stammdaten.store import Store, Write

app = noun("Users: members of instances, with roles in each.")

Name = Annotated[str, typer.Option("--name", help="The user's name, unique in the account.")]
Roles = Annotated[list[Role] | None, typer.Option("--role", help="A role; give it several times for several.")]


@app.command()
def create(prefix: Prefix, name: Name, role: Roles = None) -> None:
    """Create a user and make them a member of the instance; prints their user_id there."""
    say(write_in(prefix, lambda write: create_user(write, name=name, roles=role or [])))


@app.command()
def add(
    prefix: Prefix,
    name: Name,
    role: Roles = None,
    origin: Annotated[str, typer.Option("--from", help="A prefix of the user's account, if another.")] = "",
) -> None:
    """Make an existing user a member of a further instance; prints their user_id there."""

    async def work(store: Store, instance_id: int) -> int:
        async with store.reading_shared() as read:
            account_id = await account_by_prefix(read, origin or prefix)

        async def add_member(write: Write) -> int:
            return await add_user(write, name=name, account_id=account_id, roles=role or [])

        return await store.writing(instance_id, add_member)

    say(in_instance(prefix, work))


@app.command("role")
def set_role(prefix: Prefix, name: Name, role: Roles = None) -> None:
    """Give a member these roles and no others."""
    write_in(prefix, lambda write: set_roles(write, name=name, roles=role or []))


@app.command()
def disable(prefix: Prefix, name: Name) -> None:
    """Shut a user out of all their instances."""
    write_in(prefix, lambda write: disable_user(write, name=name, disabled=True))


@app.command()
def enable(prefix: Prefix, name: Name) -> None:
    """Let a disabled user in again."""
    write_in(prefix, lambda write: disable_user(write, name=name, disabled=False))
