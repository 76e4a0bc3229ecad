"""Contacts: the columns hold the truth, `document` the public JSON as it was rendered with the last change."""

from sqlalchemy import Column, Index, Table, text

from stammdaten.store.tables import Document, Flag, Number, Words, metadata, words

contacts = Table(
    "contacts",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("contact_uid", Words, nullable=False),
    Column("updated_at", Words, nullable=False),
    Column("masterdata_updated_at", Words, nullable=False),
    Column("is_watchlist", Flag, nullable=False),
    Column("is_archived", Flag, nullable=False),
    Column("gender", Words),
    words("first_name"),
    words("last_name"),
    words("email"),
    words("phone"),
    words("street"),
    words("postal_code"),
    words("city"),
    words("country_or_region"),
    words("comment"),
    words("notes"),  # JSON [{text, user_name, created_at}]; "" none
    Column("user_id", Number, nullable=False),
    words("user_name"),
    words("updated_by"),
    words("status"),
    words("sanctions_check"),
    words("sanctions_check_result"),  # JSON object
    words("matches"),  # JSON array; "" none
    Column("last_sanction_checked_at", Words),
    # The searched fields with their case folded, one column a field: a wildcard must not reach into the next field.
    words("folded_uid"),
    words("folded_name"),
    words("folded_city"),
    words("folded_country"),
    Column("document", Document, nullable=False),
    Index("contacts_uid_key", "instance_id", "contact_uid", unique=True),
    # Pages and counts by flag and time; `updated_at` never repeats in an instance, `id` follows it all the same.
    Index("contacts_changes", "instance_id", "is_archived", "updated_at", "id"),
    Index("contacts_watchlist", "instance_id", "is_watchlist", "is_archived", "updated_at", "id"),
    # Who waits for a check, and whose last check is longest ago.
    Index(
        "contacts_unchecked",
        "instance_id",
        "id",
        sqlite_where=text("sanctions_check = 'unchecked'"),
        postgresql_where=text("sanctions_check = 'unchecked'"),
    ),
    Index("contacts_checked", "instance_id", "last_sanction_checked_at", "id"),
)
