"""Sanctions lists, matches, checks and settings of screening."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger()


def upgrade() -> None:
    """Create them; contacts stay as they are, waiting for their first check."""
    _create(
        "list_versions",
        "source state #activation list_date file_hash #entries #names #added #changed #removed unknown",
        "loaded_at checked_at origin claimed_until",
    )
    _index("list_versions_state", "list_versions", "source state", where="state <> 'past'", unique=True)
    _index("list_versions_activation", "list_versions", "activation", where="activation > 0", unique=True)
    _create("listed_entries", "source entry_id content_hash #removed_in document")
    _index("listed_entries_source", "listed_entries", "source id")
    _index("listed_entries_removed", "listed_entries", "removed_in", where="removed_in > 0")
    _create(
        "matches",
        "#contact_id source entry_id ?is_standing decision decided_by decided_at comment party_hash",
        "entry_hash",
    )
    _index("matches_contact", "matches", "contact_id source entry_id", unique=True)
    _index("matches_entry", "matches", "source entry_id")
    _index("matches_open", "matches", "contact_id", where="is_standing AND decision = 'open'")
    _create(
        "checks",
        "#contact_id contact_uid at why user_name name #official #blocked engine threshold outcome",
        "status highest_score #matches comment",
    )
    _index("checks_contact", "checks", "contact_id id")
    _create("screening_settings", "threshold certain #most_age_days #rescreen_days sources set_by set_at")
    _index("contacts_unchecked", "contacts", "id", where="sanctions_check = 'unchecked'")
    _index("contacts_checked", "contacts", "last_sanction_checked_at id")


def _create(table: str, *columns: str) -> None:
    """Create a table of an instance; `#` marks a number, `?` a flag, all else is text, and nothing is NULL."""
    kinds: dict[str, sa.types.TypeEngine[Any]] = {"#": NUMBER, "?": sa.Boolean()}
    op.create_table(
        table,
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        *(
            sa.Column(column.lstrip("#?"), kinds.get(column[0], WORDS), nullable=False)
            for column in " ".join(columns).split()
        ),
        sa.PrimaryKeyConstraint("instance_id", "id", name=f"{table}_pk"),
    )


def _index(name: str, table: str, columns: str, *, where: str | None = None, unique: bool = False) -> None:
    condition = sa.text(where) if where else None
    op.create_index(
        name,
        table,
        ["instance_id", *columns.split()],
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
