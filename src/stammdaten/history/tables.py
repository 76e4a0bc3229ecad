"""Actions on products, and the history records of contacts."""

from sqlalchemy import Column, Index, Table

from stammdaten.store.tables import Document, Number, Words, metadata, words

actions = Table(
    "actions",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    # In the key, so that the history of a product needs no further index: each costs every import a tenth.
    Column("product_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("category", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("user_name", Words, nullable=False),
    Column("at", Words, nullable=False),
    Column("changes", Words, nullable=False),  # JSON: {field: [before, after]}
)

contact_history = Table(
    "contact_history",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("contact_id", Number, nullable=False),
    words("contact_uid"),  # kept beside the id: after a deletion nothing else tells whose history it was
    Column("category", Words, nullable=False),
    Column("text", Words, nullable=False),
    Column("user_name", Words, nullable=False),
    Column("at", Words, nullable=False),
    Column("contact", Document, nullable=False),  # the contact as rendered at that time
    Index("contact_history_contact", "instance_id", "contact_id", "id"),
    Index("contact_history_uid", "instance_id", "contact_uid", "id"),
)
