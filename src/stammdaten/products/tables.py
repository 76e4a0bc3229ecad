"""Products: the columns hold the truth, `document` the public JSON as it was rendered with the last change."""

from sqlalchemy import Column, Index, Table

from stammdaten.store.tables import Document, Flag, Number, Words, metadata, words

products = Table(
    "products",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("list_id", Number, nullable=False),
    Column("user_id", Number, nullable=False),
    Column("inserted_at", Words, nullable=False),
    Column("updated_at", Words, nullable=False),
    Column("is_deleted", Flag, nullable=False),
    Column("is_archived", Flag, nullable=False),
    Column("is_unlisted", Flag, nullable=False),
    Column("article_number", Words, nullable=False),
    words("designation"),
    words("designation2"),
    words("feature1"),
    words("feature2"),
    words("feature3"),
    words("feature4"),
    words("feature5"),
    words("feature6"),
    Column("is_prio", Flag, nullable=False),
    Column("is_eccn", Flag, nullable=False),
    words("eccn_comment"),
    words("machine_type"),
    words("assembly_group"),
    words("vendor"),
    Column("is_nuclear", Flag, nullable=False),
    Column("import_article", Flag, nullable=False),
    Column("is_military", Flag, nullable=False),
    words("supplier_ctn"),
    words("presystem_ctn"),
    words("type_of_sourcing"),
    words("system_material"),
    words("non_preferential"),
    words("preferential"),
    words("made_in"),
    Column("eccns", Words),  # JSON {codes: [...], comment}; NULL until the staff recorded something
    words("files"),  # JSON [{path, username, date}]; "" none
    Column("document", Document, nullable=False),
)

# What has an article number now. Not `= false`, which SQLite would take for a reason to go through `products_changes`
# of the whole instance instead of looking the numbers up: it has no better guess without statistics.
has_its_number = products.c.is_deleted.is_not(True)
lost_its_number = products.c.is_deleted.is_not(False)

# One live product a number; a deleted one frees it.
Index(
    "products_article_key",
    products.c.instance_id,
    products.c.article_number,
    unique=True,
    sqlite_where=has_its_number,
    postgresql_where=has_its_number,
)
Index(
    "products_deleted_article",
    products.c.instance_id,
    products.c.article_number,
    products.c.updated_at,
    sqlite_where=lost_its_number,
    postgresql_where=lost_its_number,
)
# What follows changes reads one range of these, or merges two: live, archived and deleted products lie apart, so that
# a page costs the same however many products of the other kinds there are. `id` makes skipping pages index-only.
Index(
    "products_changes",
    products.c.instance_id,
    products.c.is_deleted,
    products.c.is_archived,
    products.c.updated_at,
    products.c.id,
)
Index(
    "products_list_changes",
    products.c.instance_id,
    products.c.list_id,
    products.c.is_deleted,
    products.c.is_archived,
    products.c.updated_at,
    products.c.id,
)
