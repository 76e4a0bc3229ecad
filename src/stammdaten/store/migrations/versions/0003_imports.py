"""Imports of files, and logins to the SFTP server."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger()


def upgrade() -> None:
    """Create their tables."""
    op.create_table(
        "imports",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("slug", WORDS, nullable=False),
        sa.Column("file_name", WORDS, nullable=False),
        sa.Column("origin", WORDS, nullable=False),
        sa.Column("user_id", NUMBER, nullable=False),
        sa.Column("user_name", WORDS, nullable=False),
        sa.Column("is_dry_run", sa.Boolean(), nullable=False),
        sa.Column("state", WORDS, nullable=False),
        *(
            sa.Column(name, NUMBER, nullable=False)
            for name in ("line", "lines", "created", "updated", "unchanged", "refused", "warnings", "report_bytes")
        ),
        sa.Column("encoding", WORDS, nullable=False),
        sa.Column("error", WORDS, nullable=False),
        sa.Column("created_at", WORDS, nullable=False),
        sa.Column("finished_at", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("instance_id", "id", name="imports_pk"),
    )
    op.create_table(
        "sftp_logins",
        sa.Column("name", WORDS, nullable=False),
        sa.Column("instance_id", NUMBER, nullable=False),
        sa.Column("member_id", NUMBER, nullable=False),
        sa.Column("password_hash", WORDS, nullable=False),
        sa.Column("public_keys", WORDS, nullable=False),
        sa.Column("created_at", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("name", name="sftp_logins_pk"),
        sa.ForeignKeyConstraint(["instance_id"], ["instances.id"], name="sftp_logins_instance_id_fk"),
    )
    op.create_index("sftp_logins_member", "sftp_logins", ["instance_id", "member_id"])
