"""Who a token belongs to, and which accounts, instances and users there are."""

from typing import Any

from sqlalchemy import Column, Select, Table, select

from stammdaten.auth.callers import Caller
from stammdaten.auth.tables import accounts, instances, members, tokens, users
from stammdaten.refusals import NotFound
from stammdaten.store import Read, Row, Statement, number, text, the_instance


def bearers(credentials: Table, *columns: Column[Any]) -> Select[Any]:
    """Compose whom tokens or logins make their bearer, for `caller_of`, with columns behind; nobody who is disabled."""
    return (
        select(credentials.c.instance_id, instances.c.prefix, members.c.id, users.c.name, members.c.roles, *columns)
        .join_from(credentials, instances, instances.c.id == credentials.c.instance_id)
        .join(
            members,
            (members.c.instance_id == credentials.c.instance_id) & (members.c.id == credentials.c.member_id),
        )
        .join(users, users.c.id == members.c.user_id)
        .where(~users.c.is_disabled)
    )


def caller_of(row: Row) -> Caller:
    """Read the caller out of a row of `bearers`."""
    instance_id, prefix, member_id, user_name, roles = row[:5]
    return Caller(instance_id, prefix, member_id, user_name, frozenset(roles.split()))


_CALLER = Statement(
    bearers(tokens, tokens.c.expires_at).where(tokens.c.hash == text("hash"), tokens.c.revoked_at == ""),
    across_instances="the token tells whose instance it is; before it is found there is none",
)


async def caller_by_token_hash(read: Read, hashed: str) -> tuple[Caller, str] | None:
    """Return whom a token makes its bearer, and when it expires (UTC text, "" never); None if it is no good."""
    found = await read.row(_CALLER, hash=hashed)
    if found is None:
        return None
    return caller_of(found), found[5]


_INSTANCE = Statement(select(instances.c.id, instances.c.account_id).where(instances.c.prefix == text("prefix")))
_INSTANCES = Statement(
    select(instances.c.prefix, instances.c.name, accounts.c.name, instances.c.created_at)
    .join(accounts, accounts.c.id == instances.c.account_id)
    .order_by(instances.c.prefix)
)


async def instance_by_prefix(read: Read, prefix: str) -> tuple[int, int] | None:
    """Return the ids of an instance and of its account."""
    found = await read.row(_INSTANCE, prefix=prefix)
    return None if found is None else (found[0], found[1])


async def all_instances(read: Read) -> list[Row]:
    """Return prefix, name, account name and creation time of each instance."""
    return await read.rows(_INSTANCES)


_ACCOUNT = Statement(select(instances.c.account_id).where(instances.c.id == number("instance_id")))
_USER = Statement(select(users.c.id).where(users.c.account_id == number("account_id"), users.c.name == text("name")))
_MEMBER = Statement(
    select(members.c.id, members.c.user_id)
    .join(users, users.c.id == members.c.user_id)
    .where(the_instance(members), users.c.name == text("name"))
)
_TOKENS = Statement(
    select(tokens.c.hash, users.c.name, tokens.c.created_at, tokens.c.expires_at, tokens.c.revoked_at)
    .join(members, (members.c.id == tokens.c.member_id) & the_instance(members))
    .join(users, users.c.id == members.c.user_id)
    .where(tokens.c.instance_id == number("instance_id"))
    .order_by(tokens.c.created_at, tokens.c.hash)
)


async def account_of(read: Read) -> int:
    """Return the account that the instance belongs to."""
    found = await read.rows(_ACCOUNT)
    return int(found[0][0])


async def user_by_name(read: Read, *, account_id: int, name: str) -> int | None:
    """Return the id of an account's user, as all instances share it."""
    found = await read.row(_USER, account_id=account_id, name=name)
    return None if found is None else int(found[0])


async def member_by_name(read: Read, name: str) -> tuple[int, int]:
    """Return a member's id in the instance, and the user's shared id.

    :raises NotFound: if the instance has no such member.
    """
    found = await read.row(_MEMBER, name=name)
    if found is None:
        raise NotFound(f"This instance has no user named {name!r}.")
    return found[0], found[1]


async def has_member(read: Read, name: str) -> bool:
    """Whether the instance has a member of that name."""
    return await read.row(_MEMBER, name=name) is not None


async def all_tokens(read: Read) -> list[Row]:
    """Return hash, user name, times of creation, expiry and revocation of each of the instance's tokens."""
    return await read.rows(_TOKENS)


_INSTANCE_IDS = Statement(select(instances.c.id).order_by(instances.c.id))


async def instance_ids(read: Read) -> list[int]:
    """Return the ids of all instances, for work that goes through them one by one."""
    return [row[0] for row in await read.rows(_INSTANCE_IDS)]


async def account_by_prefix(read: Read, prefix: str) -> int:
    """Return the account of an instance.

    :raises NotFound: if there is no such instance.
    """
    found = await instance_by_prefix(read, prefix)
    if found is None:
        raise NotFound(f"There is no instance with the prefix {prefix!r}.")
    return found[1]
