"""All tables as they were first released."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger()
SHARED_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create them."""
    op.create_table(
        "accounts",
        sa.Column("id", SHARED_ID, sa.Identity(), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="accounts_pk"),
        sa.UniqueConstraint("name", name="accounts_name_key"),
    )
    op.create_table(
        "actions",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("product_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("category", WORDS, nullable=False),
        sa.Column("text", WORDS, nullable=False),
        sa.Column("user_name", WORDS, nullable=False),
        sa.Column("at", WORDS, nullable=False),
        sa.Column("changes", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("instance_id", "product_id", "id", name="actions_pk"),
    )
    op.create_table(
        "classifications",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("type", WORDS, nullable=False),
        sa.Column("ctn", WORDS, nullable=False),
        sa.Column("tradename2", WORDS, nullable=False),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("reason", WORDS, nullable=False),
        sa.Column("features", WORDS, nullable=False),
        sa.Column("comment", WORDS, nullable=False),
        sa.Column("is_fixed", sa.Boolean(), nullable=False),
        sa.Column("is_av3", sa.Boolean(), nullable=False),
        sa.Column("bti", WORDS, nullable=False),
        sa.Column("bti_found", WORDS, nullable=True),
        sa.Column("valid_from", WORDS, nullable=False),
        sa.Column("valid_until", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("instance_id", "id", name="classifications_pk"),
    )
    op.create_index(
        "classifications_validity", "classifications", ["instance_id", "status", "valid_until"], unique=False
    )
    op.create_table(
        "clocks",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("product_stamp", WORDS, nullable=False),
        sa.Column("contact_stamp", WORDS, nullable=False),
        sa.Column("last_id", NUMBER, nullable=False),
        sa.Column("contacts", NUMBER, nullable=False),
        sa.Column("archived_contacts", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("instance_id", name="clocks_pk"),
        postgresql_with={"fillfactor": "10"},
    )
    op.create_table(
        "contact_history",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("contact_id", NUMBER, nullable=False),
        sa.Column("contact_uid", WORDS, nullable=False),
        sa.Column("category", WORDS, nullable=False),
        sa.Column("text", WORDS, nullable=False),
        sa.Column("user_name", WORDS, nullable=False),
        sa.Column("at", WORDS, nullable=False),
        sa.Column("contact", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("instance_id", "id", name="contact_history_pk"),
    )
    op.create_index("contact_history_contact", "contact_history", ["instance_id", "contact_id", "id"], unique=False)
    op.create_index("contact_history_uid", "contact_history", ["instance_id", "contact_uid", "id"], unique=False)
    op.create_table(
        "contacts",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("contact_uid", WORDS, nullable=False),
        sa.Column("updated_at", WORDS, nullable=False),
        sa.Column("masterdata_updated_at", WORDS, nullable=False),
        sa.Column("is_watchlist", sa.Boolean(), nullable=False),
        sa.Column("is_archived", sa.Boolean(), nullable=False),
        sa.Column("gender", WORDS, nullable=True),
        sa.Column("first_name", WORDS, nullable=False),
        sa.Column("last_name", WORDS, nullable=False),
        sa.Column("email", WORDS, nullable=False),
        sa.Column("phone", WORDS, nullable=False),
        sa.Column("street", WORDS, nullable=False),
        sa.Column("postal_code", WORDS, nullable=False),
        sa.Column("city", WORDS, nullable=False),
        sa.Column("country_or_region", WORDS, nullable=False),
        sa.Column("comment", WORDS, nullable=False),
        sa.Column("notes", WORDS, nullable=False),
        sa.Column("user_id", NUMBER, nullable=False),
        sa.Column("user_name", WORDS, nullable=False),
        sa.Column("updated_by", WORDS, nullable=False),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("sanctions_check", WORDS, nullable=False),
        sa.Column("sanctions_check_result", WORDS, nullable=False),
        sa.Column("matches", WORDS, nullable=False),
        sa.Column("last_sanction_checked_at", WORDS, nullable=True),
        sa.Column("folded_uid", WORDS, nullable=False),
        sa.Column("folded_name", WORDS, nullable=False),
        sa.Column("folded_city", WORDS, nullable=False),
        sa.Column("folded_country", WORDS, nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("instance_id", "id", name="contacts_pk"),
    )
    op.create_index("contacts_changes", "contacts", ["instance_id", "is_archived", "updated_at", "id"], unique=False)
    op.create_index("contacts_uid_key", "contacts", ["instance_id", "contact_uid"], unique=True)
    op.create_index(
        "contacts_watchlist",
        "contacts",
        ["instance_id", "is_watchlist", "is_archived", "updated_at", "id"],
        unique=False,
    )
    op.create_table(
        "jobs",
        sa.Column("id", SHARED_ID, sa.Identity(), nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.Column("key", WORDS, nullable=False),
        sa.Column("instance_id", NUMBER, nullable=False),
        sa.Column("payload", WORDS, nullable=False),
        sa.Column("state", WORDS, nullable=False),
        sa.Column("due_at", WORDS, nullable=False),
        sa.Column("claimed_by", WORDS, nullable=False),
        sa.Column("claimed_until", WORDS, nullable=False),
        sa.Column("attempts", NUMBER, nullable=False),
        sa.Column("progress", WORDS, nullable=False),
        sa.Column("report", WORDS, nullable=False),
        sa.Column("created_at", WORDS, nullable=False),
        sa.Column("finished_at", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="jobs_pk"),
    )
    op.create_index("jobs_due", "jobs", ["state", "due_at"], unique=False)
    op.create_index("jobs_key", "jobs", ["kind", "key"], unique=True)
    op.create_table(
        "lists",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("slug", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("inserted_at", WORDS, nullable=False),
        sa.Column("updated_at", WORDS, nullable=False),
        sa.Column("is_deleted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("instance_id", "id", name="lists_pk"),
    )
    op.create_index("lists_slug_key", "lists", ["instance_id", "slug"], unique=True)
    op.create_table(
        "products",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("list_id", NUMBER, nullable=False),
        sa.Column("user_id", NUMBER, nullable=False),
        sa.Column("inserted_at", WORDS, nullable=False),
        sa.Column("updated_at", WORDS, nullable=False),
        sa.Column("is_deleted", sa.Boolean(), nullable=False),
        sa.Column("is_archived", sa.Boolean(), nullable=False),
        sa.Column("is_unlisted", sa.Boolean(), nullable=False),
        sa.Column("article_number", WORDS, nullable=False),
        sa.Column("designation", WORDS, nullable=False),
        sa.Column("designation2", WORDS, nullable=False),
        sa.Column("feature1", WORDS, nullable=False),
        sa.Column("feature2", WORDS, nullable=False),
        sa.Column("feature3", WORDS, nullable=False),
        sa.Column("feature4", WORDS, nullable=False),
        sa.Column("feature5", WORDS, nullable=False),
        sa.Column("feature6", WORDS, nullable=False),
        sa.Column("is_prio", sa.Boolean(), nullable=False),
        sa.Column("is_eccn", sa.Boolean(), nullable=False),
        sa.Column("eccn_comment", WORDS, nullable=False),
        sa.Column("machine_type", WORDS, nullable=False),
        sa.Column("assembly_group", WORDS, nullable=False),
        sa.Column("vendor", WORDS, nullable=False),
        sa.Column("is_nuclear", sa.Boolean(), nullable=False),
        sa.Column("import_article", sa.Boolean(), nullable=False),
        sa.Column("is_military", sa.Boolean(), nullable=False),
        sa.Column("supplier_ctn", WORDS, nullable=False),
        sa.Column("presystem_ctn", WORDS, nullable=False),
        sa.Column("type_of_sourcing", WORDS, nullable=False),
        sa.Column("system_material", WORDS, nullable=False),
        sa.Column("non_preferential", WORDS, nullable=False),
        sa.Column("preferential", WORDS, nullable=False),
        sa.Column("made_in", WORDS, nullable=False),
        sa.Column("eccns", WORDS, nullable=True),
        sa.Column("files", WORDS, nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("instance_id", "id", name="products_pk"),
    )
    op.create_index(
        "products_article_key",
        "products",
        ["instance_id", "article_number"],
        unique=True,
        sqlite_where=sa.text("is_deleted IS NOT 1"),
        postgresql_where=sa.text("is_deleted IS NOT true"),
    )
    op.create_index(
        "products_changes",
        "products",
        ["instance_id", "is_deleted", "is_archived", "updated_at", "id"],
        unique=False,
    )
    op.create_index(
        "products_deleted_article",
        "products",
        ["instance_id", "article_number", "updated_at"],
        unique=False,
        sqlite_where=sa.text("is_deleted IS NOT 0"),
        postgresql_where=sa.text("is_deleted IS NOT false"),
    )
    op.create_index(
        "products_list_changes",
        "products",
        ["instance_id", "list_id", "is_deleted", "is_archived", "updated_at", "id"],
        unique=False,
    )
    op.create_table(
        "instances",
        sa.Column("id", SHARED_ID, sa.Identity(), nullable=False),
        sa.Column("account_id", NUMBER, nullable=False),
        sa.Column("prefix", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("created_at", WORDS, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="instances_account_id_fk"),
        sa.PrimaryKeyConstraint("id", name="instances_pk"),
        sa.UniqueConstraint("prefix", name="instances_prefix_key"),
    )
    op.create_table(
        "users",
        sa.Column("id", SHARED_ID, sa.Identity(), nullable=False),
        sa.Column("account_id", NUMBER, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("is_disabled", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="users_account_id_fk"),
        sa.PrimaryKeyConstraint("id", name="users_pk"),
        sa.UniqueConstraint("account_id", "name", name="users_name_key"),
    )
    op.create_table(
        "members",
        sa.Column("instance_id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("id", NUMBER, autoincrement=False, nullable=False),
        sa.Column("user_id", NUMBER, nullable=False),
        sa.Column("roles", WORDS, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="members_user_id_fk"),
        sa.PrimaryKeyConstraint("instance_id", "id", name="members_pk"),
    )
    op.create_index("members_user_key", "members", ["instance_id", "user_id"], unique=True)
    op.create_table(
        "tokens",
        sa.Column("hash", WORDS, nullable=False),
        sa.Column("instance_id", NUMBER, nullable=False),
        sa.Column("member_id", NUMBER, nullable=False),
        sa.Column("created_at", WORDS, nullable=False),
        sa.Column("expires_at", WORDS, nullable=False),
        sa.Column("revoked_at", WORDS, nullable=False),
        sa.ForeignKeyConstraint(["instance_id"], ["instances.id"], name="tokens_instance_id_fk"),
        sa.PrimaryKeyConstraint("hash", name="tokens_pk"),
    )
    op.create_index("tokens_member", "tokens", ["instance_id", "member_id"], unique=False)
