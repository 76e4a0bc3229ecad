"""The classification record of each classified product; what can be derived is not kept."""

from sqlalchemy import Column, Index, Table

from stammdaten.store.tables import Flag, Number, Words, metadata, words

classifications = Table(
    "classifications",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),  # the product's id
    words("type"),
    words("ctn"),
    words("tradename2"),
    words("status"),
    words("reason"),
    words("features"),
    words("comment"),
    Column("is_fixed", Flag, nullable=False),
    Column("is_av3", Flag, nullable=False),
    words("bti"),
    Column("bti_found", Words),  # NULL: not found in the BTI data
    words("valid_from"),
    words("valid_until"),
    # The daily job asks for what ended before today and is not marked yet.
    Index("classifications_validity", "instance_id", "status", "valid_until"),
)
