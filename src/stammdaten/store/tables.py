"""The column types of all tables, and the clock row of each instance; knows no statement.

Every table of an instance has `instance_id` in front of its primary key and of every index: instances never meet, and
can be spread over servers without touching a query. There are no foreign keys between the tables of an instance: all
its writers wait for its clock row in turn and look before they write, and `stammdaten check` looks for orphans.
"""

from sqlalchemy import BigInteger, Boolean, Column, Identity, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pk",
        "fk": "%(table_name)s_%(column_0_name)s_fk",
    }
)

# "C" sorts by bytes, as SQLite does: stamps and ids must sort alike on both engines.
Words = Text().with_variant(Text(collation="C"), "postgresql")
# An instance's ids, from its counter. Never INTEGER: SQLite would alias it to the rowid, PostgreSQL would end at 2^31.
Number = BigInteger()
Flag = Boolean()
Document = LargeBinary()


def shared_id() -> Column[int]:
    """Declare the id of what all instances share, which no interface shows; the database counts it up."""
    # SQLite counts up only a column that is INTEGER to the letter.
    return Column("id", BigInteger().with_variant(Integer(), "sqlite"), Identity(), primary_key=True)


def words(name: str) -> Column[str]:
    """Declare a text column that is never NULL; nothing recorded is the empty text."""
    return Column(name, Words, nullable=False)


# Invariant: whoever changes anything of an instance holds this row's lock from before its first read to its commit.
# Hence stamps and ids are given in commit order, and what a writer reads cannot change before it writes.
clocks = Table(
    "clocks",
    metadata,
    Column("instance_id", BigInteger, primary_key=True, autoincrement=False),
    Column("product_stamp", Words, nullable=False),
    Column("contact_stamp", Words, nullable=False),
    Column("last_id", Number, nullable=False),
    # Counting 100,000 contacts for every page would cost more than the page.
    Column("contacts", Number, nullable=False),
    Column("archived_contacts", Number, nullable=False),
    # Room to update in place: on PostgreSQL the row moves to no other page, and no index is touched.
    postgresql_with={"fillfactor": "10"},
)
