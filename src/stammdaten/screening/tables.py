"""Lists and their entries, matches and their decisions, the record of checks, and settings; columns and nothing else.

A list is official, and shared, or a block list, and of one instance. Both stand in the same tables: what is shared has
the instance 0, which no instance has, so that the shared door finds the official lists and an instance's door its own.
"""

from sqlalchemy import Column, Index, Table, text

from stammdaten.store.tables import Flag, Number, metadata, words

# A version is `loading` until its entries are complete; in one step it then becomes `current` and the one before
# `past`. `activation` counts these steps over all lists of an instance: whoever knows it knows what is in force.
list_versions = Table(
    "list_versions",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    words("source"),
    words("state"),
    Column("activation", Number, nullable=False),  # 0 until it was in force
    words("list_date"),  # the list's own; "" where it gives none
    words("file_hash"),
    Column("entries", Number, nullable=False),
    Column("names", Number, nullable=False),
    Column("added", Number, nullable=False),
    Column("changed", Number, nullable=False),
    Column("removed", Number, nullable=False),
    words("unknown"),  # JSON {what was not understood: how often}
    words("loaded_at"),  # UTC
    words("checked_at"),  # UTC: when it was last known to be the newest
    words("origin"),  # JSON {url: {etag, last_modified}}; "" for files
    words("claimed_until"),  # UTC: past it, whoever was loading is gone
    Index(
        "list_versions_state",
        "instance_id",
        "source",
        "state",
        unique=True,
        sqlite_where=text("state <> 'past'"),
        postgresql_where=text("state <> 'past'"),
    ),
    Index(
        "list_versions_activation",
        "instance_id",
        "activation",
        unique=True,
        sqlite_where=text("activation > 0"),
        postgresql_where=text("activation > 0"),
    ),
)

# An entry stands in the versions from the one that brought it, whose id leads its own (`ENTRIES_A_VERSION`), to the
# one that took it away or brought it changed. So a new version writes no more than what is new.
listed_entries = Table(
    "listed_entries",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    words("source"),
    words("entry_id"),
    words("content_hash"),
    Column("removed_in", Number, nullable=False),  # id of a version; 0 while it stands
    words("document"),  # JSON, see `entries.written`
    Index("listed_entries_source", "instance_id", "source", "id"),
    Index(
        "listed_entries_removed",
        "instance_id",
        "removed_in",
        sqlite_where=text("removed_in > 0"),
        postgresql_where=text("removed_in > 0"),
    ),
)
ENTRIES_A_VERSION = 2**24

# A contact and an entry that it was found to be like, once for ever: a decision outlives the match.
matches = Table(
    "matches",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("contact_id", Number, nullable=False),
    words("source"),
    words("entry_id"),
    Column("is_standing", Flag, nullable=False),  # found by the contact's last check
    words("decision"),  # open, confirmed, rejected
    words("decided_by"),
    words("decided_at"),
    words("comment"),
    words("party_hash"),  # what the last check saw: the contact's identifying data, and the entry's content
    words("entry_hash"),
    Index("matches_contact", "instance_id", "contact_id", "source", "entry_id", unique=True),
    Index("matches_entry", "instance_id", "source", "entry_id"),
    Index(
        "matches_open",
        "instance_id",
        "contact_id",
        sqlite_where=text("is_standing AND decision = 'open'"),
        postgresql_where=text("is_standing AND decision = 'open'"),
    ),
)

# Every check and every decision, for the customs audit.
checks = Table(
    "checks",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("contact_id", Number, nullable=False),  # 0: all contacts, against what changed in a list
    words("contact_uid"),
    words("at"),  # UTC
    words("why"),
    words("user_name"),
    words("name"),  # as it was compared
    Column("official", Number, nullable=False),  # activations: which versions were in force
    Column("blocked", Number, nullable=False),
    words("engine"),
    words("threshold"),
    words("outcome"),
    words("status"),
    words("highest_score"),
    Column("matches", Number, nullable=False),
    words("comment"),
    Index("checks_contact", "instance_id", "contact_id", "id"),
)

# The newest row counts; the others say what counted before.
screening_settings = Table(
    "screening_settings",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    words("threshold"),
    words("certain"),
    Column("most_age_days", Number, nullable=False),
    Column("rescreen_days", Number, nullable=False),
    words("sources"),  # JSON array; "" all that are loaded
    words("set_by"),
    words("set_at"),  # UTC
)
