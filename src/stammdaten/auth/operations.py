"""Making accounts, instances, users and tokens, and taking rights away."""

import re
from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy import insert, update

from stammdaten.auth.callers import Role
from stammdaten.auth.queries import account_of, has_member, member_by_name, user_by_name
from stammdaten.auth.tables import accounts, instances, members, tokens, users
from stammdaten.auth.tokens import new_token, token_hash
from stammdaten.clock import EARLIEST_STAMP, utc_now, utc_stamp
from stammdaten.refusals import AlreadyExists, Fault, Invalid, NotFound, check_name
from stammdaten.store import Conflict, Statement, Write, WriteShared, flag, number, text, the_instance
from stammdaten.store.tables import clocks

_PREFIX = re.compile(r"[a-z0-9-]{1,63}")

_ADD_ACCOUNT = Statement(insert(accounts).values(name=text("name")).returning(accounts.c.id))
_ADD_INSTANCE = Statement(
    insert(instances)
    .values(
        account_id=number("account_id"),
        prefix=text("prefix"),
        name=text("name"),
        created_at=text("created_at"),
    )
    .returning(instances.c.id)
)
_ADD_CLOCK = Statement(
    insert(clocks).values(
        instance_id=number("new_instance_id"),
        product_stamp=EARLIEST_STAMP,
        contact_stamp=EARLIEST_STAMP + "Z",
        last_id=0,
        contacts=0,
        archived_contacts=0,
    )
)


async def create_account(write: WriteShared, *, name: str, prefix: str) -> list[str]:
    """Create an account with its three instances; return their prefixes.

    :raises Invalid: if the prefix is not made of `[a-z0-9-]`, or too long for the longest of the three.
    :raises AlreadyExists: if the name or one of the prefixes is in use.
    """
    prefixes = [prefix, f"{prefix}-training", f"{prefix}-test"]
    check_name("name", name)
    for each in prefixes:
        _check_prefix(each)
    account_id = await _add_account(write, name)
    for each, purpose in zip(prefixes, ("live", "training", "test"), strict=True):
        await _add_instance(write, account_id, each, f"{name} ({purpose})")
    return prefixes


async def create_instance(write: WriteShared, *, prefix: str, name: str) -> None:
    """Create an instance alone, in an account of its own.

    :raises Invalid: if the prefix is not made of `[a-z0-9-]`.
    :raises AlreadyExists: if the prefix is in use.
    """
    _check_prefix(prefix)
    check_name("name", name or prefix)
    account_id = await _add_account(write, prefix)
    await _add_instance(write, account_id, prefix, name or prefix)


def _check_prefix(prefix: str) -> None:
    if not _PREFIX.fullmatch(prefix):
        raise Invalid([Fault("prefix", f"must be 1 to 63 characters of a-z, 0-9 and -: {prefix!r}")])


async def _add_account(write: WriteShared, name: str) -> int:
    try:
        return int((await write.run(_ADD_ACCOUNT, name=name))[0][0])
    except Conflict as conflict:
        raise AlreadyExists(f"There is an account named {name!r} already.") from conflict


async def _add_instance(write: WriteShared, account_id: int, prefix: str, name: str) -> None:
    try:
        added = await write.run(
            _ADD_INSTANCE, account_id=account_id, prefix=prefix, name=name, created_at=utc_stamp(utc_now())
        )
    except Conflict as conflict:
        raise AlreadyExists(f"There is an instance with the prefix {prefix!r} already.") from conflict
    await write.run(_ADD_CLOCK, new_instance_id=added[0][0])


_ADD_USER = Statement(
    insert(users).values(account_id=number("account_id"), name=text("name"), is_disabled=False).returning(users.c.id)
)
_SET_ROLES = Statement(
    update(members).where(the_instance(members), members.c.id == number("member_id")).values(roles=text("new_roles"))
)
_DISABLE = Statement(update(users).where(users.c.id == number("user_id")).values(is_disabled=flag("disabled")))
_ADD_TOKEN = Statement(
    insert(tokens).values(
        hash=text("hash"),
        instance_id=number("instance_id"),
        member_id=number("member_id"),
        created_at=text("created_at"),
        expires_at=text("expires_at"),
        revoked_at="",
    )
)
_REVOKE = Statement(
    update(tokens)
    .where(
        tokens.c.instance_id == number("instance_id"),
        tokens.c.hash.startswith(text("start"), autoescape=False),
        tokens.c.revoked_at == "",
    )
    .values(revoked_at=text("new_revoked_at"))
    .returning(tokens.c.hash)
)
_HASH_START = re.compile(r"[0-9a-f]{8,64}")


async def create_user(write: Write, *, name: str, roles: Iterable[str]) -> int:
    """Create a user of the instance's account and make them a member; return their `user_id` there.

    :raises AlreadyExists: if the account has a user of that name.
    :raises Invalid: if a role is none of ours, or the name cannot be shown.
    """
    check_name("name", name)
    account_id = await account_of(write)
    try:
        added = await write.run(_ADD_USER, account_id=account_id, name=name)
    except Conflict as conflict:
        raise AlreadyExists(
            f"The account has a user named {name!r} already; 'user add' makes them a member here."
        ) from conflict
    return await _add_member(write, int(added[0][0]), name, roles)


async def add_user(write: Write, *, name: str, account_id: int, roles: Iterable[str]) -> int:
    """Make an existing user of an account a member of the instance; return their `user_id` there.

    :raises NotFound: if the account has no such user.
    :raises AlreadyExists: if they are a member already.
    """
    user_id = await user_by_name(write, account_id=account_id, name=name)
    if user_id is None:
        raise NotFound(f"The account has no user named {name!r}.")
    if await has_member(write, name):
        # Two of a name, from two accounts, could not be told apart by any command.
        raise AlreadyExists(f"{name!r} is a member of this instance already.")
    return await _add_member(write, user_id, name, roles)


async def _add_member(write: Write, user_id: int, name: str, roles: Iterable[str]) -> int:
    member_id = write.next_id()
    try:
        await write.insert(members, [(member_id, user_id, _checked(roles))])
    except Conflict as conflict:
        raise AlreadyExists(f"{name!r} is a member of this instance already.") from conflict
    return member_id


def _checked(roles: Iterable[str]) -> str:
    known = [role.value for role in Role]
    given = sorted(set(roles))
    if not set(given) <= set(known):
        raise Invalid([Fault("role", f"must be one of {', '.join(known)}")])
    return " ".join(given)


async def set_roles(write: Write, *, name: str, roles: Iterable[str]) -> None:
    """Give a member these roles and no others.

    :raises NotFound: if the instance has no such member.
    """
    member_id, _ = await member_by_name(write, name)
    await write.run(_SET_ROLES, member_id=member_id, new_roles=_checked(roles))


async def disable_user(write: Write, *, name: str, disabled: bool) -> None:
    """Shut a user out of all their instances, or let them in again.

    :raises NotFound: if the instance has no such member.
    """
    _, user_id = await member_by_name(write, name)
    await write.run(_DISABLE, user_id=user_id, disabled=disabled)


async def create_token(write: Write, *, user_name: str, days: float | None) -> str:
    """Issue a token to a member, for some days or for good; it is returned here and kept nowhere.

    :raises NotFound: if the instance has no such member.
    """
    member_id, _ = await member_by_name(write, user_name)
    token = new_token()
    now = utc_now()
    await write.run(
        _ADD_TOKEN,
        hash=token_hash(token),
        member_id=member_id,
        created_at=utc_stamp(now),
        expires_at="" if days is None else utc_stamp(now + timedelta(days=days)),
    )
    return token


async def revoke_token(write: Write, *, token_or_hash: str) -> None:
    """Revoke a token, given itself or the beginning of its hash as `token list` shows it.

    :raises NotFound: if the instance has no such token that is not revoked.
    :raises Invalid: if the hash has fewer than 8 digits.
    """
    start = token_or_hash if _HASH_START.fullmatch(token_or_hash) else token_hash(token_or_hash)
    revoked = await write.run(_REVOKE, start=start, new_revoked_at=utc_stamp(utc_now()))
    if not revoked:
        raise NotFound("There is no such token that is not revoked yet.")
