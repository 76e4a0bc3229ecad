"""Logins to the SFTP server: who they belong to, their passwords and keys; knows no SSH."""

import hashlib
import hmac
import re
import secrets
from contextlib import suppress
from typing import NamedTuple

from sqlalchemy import delete, insert, select

from stammdaten.auth.callers import Caller, check_may_import
from stammdaten.auth.queries import bearers, caller_of, member_by_name
from stammdaten.auth.tables import members, sftp_logins, users
from stammdaten.clock import utc_now, utc_stamp
from stammdaten.refusals import AlreadyExists, Fault, Invalid, NotAllowed, NotFound
from stammdaten.store import Conflict, Read, Row, Statement, Write, number, text, the_instance

_NAME = re.compile(r"[a-z0-9-]{1,63}")
_COST = {"n": 2**14, "r": 8, "p": 1}


class Login(NamedTuple):
    """A login: whom it makes its bearer, and how they prove it."""

    name: str
    caller: Caller
    password_hash: str
    public_keys: tuple[str, ...]
    created_at: str


_LOGIN = Statement(
    bearers(sftp_logins, sftp_logins.c.password_hash, sftp_logins.c.public_keys, sftp_logins.c.created_at).where(
        sftp_logins.c.name == text("name")
    ),
    across_instances="the login tells whose instance it is; before it is found there is none",
)
_LOGINS = Statement(
    select(
        sftp_logins.c.name,
        users.c.name,
        sftp_logins.c.password_hash,
        sftp_logins.c.public_keys,
        sftp_logins.c.created_at,
    )
    .join(members, (members.c.id == sftp_logins.c.member_id) & the_instance(members))
    .join(users, users.c.id == members.c.user_id)
    .where(sftp_logins.c.instance_id == number("instance_id"))
    .order_by(sftp_logins.c.created_at, sftp_logins.c.name)
)
_ADD = Statement(
    insert(sftp_logins).values(
        name=text("name"),
        instance_id=number("instance_id"),
        member_id=number("member_id"),
        password_hash=text("password_hash"),
        public_keys=text("public_keys"),
        created_at=text("created_at"),
    )
)
_REMOVE = Statement(
    delete(sftp_logins)
    .where(sftp_logins.c.instance_id == number("instance_id"), sftp_logins.c.name == text("name"))
    .returning(sftp_logins.c.name)
)


async def login_by_name(read: Read, name: str) -> Login | None:
    """Return a login, if its user may exchange files now: not disabled, and with a role that may import."""
    found = await read.row(_LOGIN, name=name) if _NAME.fullmatch(name) else None
    if found is None:
        return None
    caller = caller_of(found)
    password_hash, public_keys, created_at = found[5:]
    with suppress(NotAllowed):
        check_may_import(caller)
        return Login(name, caller, password_hash, tuple(public_keys.splitlines()), created_at)
    return None


async def all_logins(read: Read) -> list[Row]:
    """Return name, user name, hash of the password, keys and creation time of each of the instance's logins."""
    return await read.rows(_LOGINS)


async def create_login(write: Write, *, name: str, user_name: str, proof: str) -> None:
    """Let a member exchange files by SFTP; `proof` is the hash of a password, or public keys, one a line.

    :raises Invalid: if the name is not made of `[a-z0-9-]`.
    :raises NotFound: if the instance has no such member.
    :raises NotAllowed: if the member may not import files.
    :raises AlreadyExists: if a login of that name exists, in whichever instance.
    """
    if not _NAME.fullmatch(name):
        raise Invalid([Fault("login", f"must be 1 to 63 characters of a-z, 0-9 and -: {name!r}")])
    member_id, _ = await member_by_name(write, user_name)
    is_hash = proof.startswith("scrypt$")
    try:
        await write.run(
            _ADD,
            name=name,
            member_id=member_id,
            password_hash=proof if is_hash else "",
            public_keys="" if is_hash else proof,
            created_at=utc_stamp(utc_now()),
        )
    except Conflict as conflict:
        raise AlreadyExists(f"There is an SFTP login named {name!r} already.") from conflict
    if await login_by_name(write, name) is None:
        raise NotAllowed("An SFTP login is for users who may import: with the role client-admin or api-user.")


async def remove_login(write: Write, *, name: str) -> None:
    """Remove a login.

    :raises NotFound: if the instance has no such login.
    """
    if not await write.run(_REMOVE, name=name):
        raise NotFound(f"This instance has no SFTP login named {name!r}.")


def new_password() -> str:
    """Make a password: 256 random bits."""
    return secrets.token_urlsafe(32)


def password_hash(password: str) -> str:
    """Hash a password as it is kept; costs tens of milliseconds and 16 MiB."""
    salt = secrets.token_bytes(16)
    return f"scrypt${salt.hex()}${hashlib.scrypt(password.encode(), salt=salt, **_COST).hex()}"


def is_password(given: str, kept: str) -> bool:
    """Whether a password has this hash; takes as long where none is kept, so that time tells no names."""
    _, salt, hashed = (kept or f"scrypt${'00' * 16}$").split("$")
    computed = hashlib.scrypt(given.encode(), salt=bytes.fromhex(salt), **_COST).hex()
    return hmac.compare_digest(computed, hashed)
