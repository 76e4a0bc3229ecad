"""Product lists."""

from sqlalchemy import Column, Index, Table

from stammdaten.store.tables import Flag, Number, Words, metadata

lists = Table(
    "lists",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("slug", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("inserted_at", Words, nullable=False),
    Column("updated_at", Words, nullable=False),
    Column("is_deleted", Flag, nullable=False),
    Index("lists_slug_key", "instance_id", "slug", unique=True),
)
