"""Accounts, their instances, users, their membership in instances, token hashes, and logins to the SFTP server."""

from sqlalchemy import Column, ForeignKey, Index, Table, UniqueConstraint

from stammdaten.store.tables import Flag, Number, Words, metadata, shared_id, words

accounts = Table(
    "accounts",
    metadata,
    shared_id(),
    Column("name", Words, nullable=False),
    UniqueConstraint("name", name="accounts_name_key"),
)

instances = Table(
    "instances",
    metadata,
    shared_id(),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False),
    Column("prefix", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("created_at", Words, nullable=False),
    UniqueConstraint("prefix", name="instances_prefix_key"),
)

# A user belongs to an account; what they are in an instance, and the id they have there, is a membership.
users = Table(
    "users",
    metadata,
    shared_id(),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False),
    Column("name", Words, nullable=False),
    Column("is_disabled", Flag, nullable=False),
    UniqueConstraint("account_id", "name", name="users_name_key"),
)

# `id` is what the interface calls `user_id`: it comes from the instance's counter and means nothing elsewhere.
members = Table(
    "members",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("user_id", Number, ForeignKey("users.id"), nullable=False),
    words("roles"),  # separated by blanks
    Index("members_user_key", "instance_id", "user_id", unique=True),
)

# The token itself is nowhere: only its hash, of which nothing can be guessed, since tokens are 256 random bits.
tokens = Table(
    "tokens",
    metadata,
    Column("hash", Words, primary_key=True),
    Column("instance_id", Number, ForeignKey("instances.id"), nullable=False),
    Column("member_id", Number, nullable=False),
    Column("created_at", Words, nullable=False),
    Column("expires_at", Words, nullable=False),  # "" never
    Column("revoked_at", Words, nullable=False),  # "" not revoked
    Index("tokens_member", "instance_id", "member_id"),
)

# Unique in the whole service: a name alone tells whose login it is.
sftp_logins = Table(
    "sftp_logins",
    metadata,
    Column("name", Words, primary_key=True),
    Column("instance_id", Number, ForeignKey("instances.id"), nullable=False),
    Column("member_id", Number, nullable=False),
    Column("password_hash", Words, nullable=False),  # "" for who logs in by key
    Column("public_keys", Words, nullable=False),  # in OpenSSH's form, one a line
    Column("created_at", Words, nullable=False),
    Index("sftp_logins_member", "instance_id", "member_id"),
)
