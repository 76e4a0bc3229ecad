"""The store, and everything that is made of its statements.

That no statement forgets whose instance it is about, that what is migrated is what is declared, that pages are read off
an index, how many statements anything costs, and what a batch promises.

The service holds its statements to the instance filter when they are made. Here a second opinion, which reads the SQL
text that the databases get and shares nothing with the first, looks at every statement there is; both are asked about
statements that are wrong on purpose.
"""

import asyncio
import gc
import itertools
import json
import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from itertools import product
from time import sleep
from typing import Any, TypeVar

import alembic.autogenerate
import asyncpg
import pytest
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from prometheus_client import Metric
from sqlalchemy import (
    Connection,
    UniqueConstraint,
    and_,
    create_engine,
    delete,
    exists,
    func,
    insert,
    literal,
    not_,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.sql.elements import ClauseElement

# Every room, so that every statement is made.
from stammdaten.auth import logins  # noqa: F401 - the app does not import it; its statements count too
from stammdaten.auth.tables import members, users
from stammdaten.classification.tables import classifications
from stammdaten.contacts.operations import (
    ContactChange,
    ContactDeletion,
    create_contacts,
    delete_contacts,
    update_contacts,
)
from stammdaten.contacts.queries import _page_and_total as contact_pages
from stammdaten.contacts.shapes import Given
from stammdaten.lists.tables import lists
from stammdaten.products import queries
from stammdaten.products.operations import NewProduct, ProductUpdate, create_products, update_products
from stammdaten.products.queries import Standing
from stammdaten.products.standing import Archiving, Deed, archive_products, delete_products
from stammdaten.products.tables import products
from stammdaten.refusals import AlreadyExists, NotFound, Refusal
from stammdaten.settings import Settings
from stammdaten.store import Statement, Store, Write, migrating, number, open_store, schema, the_instance
from stammdaten.store.batches import LARGEST_BATCH, Operation
from stammdaten.store.doors import READ_CLOCK, Row
from stammdaten.store.measuring import BATCH_ROWS, DATABASE_SECONDS
from stammdaten.store.postgresql import _LOCK_CLOCK, PostgresConnection
from stammdaten.store.sqlite import SqliteEngine
from stammdaten.store.statements import NotScoped, insert_sql, update_sql
from stammdaten.store.tables import metadata
from tests.cast import Member, caller_of, make_contact, make_product

T = TypeVar("T")

ENGINES = ("sqlite", "postgresql")
both = pytest.mark.parametrize("dialect", ENGINES)

# What all instances share. A table that is not named here is an instance's, and is held to its key.
SHARED_TABLES = {"accounts", "instances", "users", "tokens", "sftp_logins", "jobs"}
INSTANCE_TABLES = {name: table for name, table in metadata.tables.items() if name not in SHARED_TABLES}
# The statements that may look across instances, each by its reason.
ACROSS_INSTANCES = {
    "the token tells whose instance it is; before it is found there is none",
    "the login tells whose instance it is; before it is found there is none",
    "official lists are kept under the instance 0",
    "a metric, which tells only how many there are in all",
}


def all_statements() -> list[Statement]:
    """Return every statement of the service; those of the contact pages are made when first wanted."""
    for searched, since, watched in product((False, True), repeat=3):
        contact_pages(searched=searched, since=since, watched=watched)
    return [statement for statement in Statement.made if not getattr(statement, "of_a_test", False)]


# ------------------------------------------------------------------------------------- the second opinion

# Clauses of a query that begin outside all brackets; what follows one belongs to it until the next begins.
_CLAUSES = re.compile(
    r"\b(SELECT|FROM|LEFT OUTER JOIN|FULL OUTER JOIN|JOIN|ON|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|OFFSET|FOR UPDATE"
    r"|RETURNING|UPDATE|SET|DELETE|USING|INSERT INTO|VALUES|WITH|UNION ALL|UNION|EXCEPT|INTERSECT)\b"
)


# Brackets that hold no query, once they have been looked at.
OPEN, CLOSE = "\N{LEFT WHITE PARENTHESIS}", "\N{RIGHT WHITE PARENTHESIS}"


def blocks(sql: str) -> Iterator[str]:
    """Yield each SELECT, UPDATE, DELETE or INSERT of a text on its own, subqueries taken out of their surroundings."""
    sql = re.sub(r"'[^']*'", "''", sql)
    found = True
    while found:
        # The innermost brackets that hold a query, again and again.
        found = False
        for brackets in re.finditer(r"\(([^()]*)\)", sql):
            found = True
            inner = brackets[1].strip()
            if re.match(r"(SELECT|WITH)\b", inner):
                yield from re.split(r"\bUNION ALL\b|\bUNION\b", inner)
                mark = "<query>"
            else:
                mark = f"{OPEN}{brackets[1]}{CLOSE}"
            sql = sql[: brackets.start()] + mark + sql[brackets.end() :]
            break
    yield from re.split(r"\bUNION ALL\b|\bUNION\b", sql)


def outside_brackets(text: str, separator: str) -> list[str]:
    """Split a text where a separator stands outside all brackets."""
    parts, depth, start = [], 0, 0
    for token in re.finditer(f"{OPEN}|{CLOSE}|{separator}", text):
        if token[0] == OPEN:
            depth += 1
        elif token[0] == CLOSE:
            depth -= 1
        elif depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    return [*parts, text[start:]]


def clauses(block: str) -> list[tuple[str, str]]:
    """Return the clauses of a block in order: the word it begins with, and the rest."""
    hidden, depth = [], 0
    for character in block:
        depth -= character == CLOSE
        hidden.append(character if depth == 0 else "_")
        depth += character == OPEN
    begins = [*_CLAUSES.finditer("".join(hidden))]
    ends = [following.start() for following in begins[1:]] + [len(block)]
    return [(begin[1], block[begin.end() : end].strip()) for begin, end in zip(begins, ends, strict=True)]


def named(item: str) -> tuple[str, str]:
    """Return the table of an item of FROM, and the name it has there."""
    words = item.replace(OPEN, " ").split()
    return (words[0], words[-1]) if len(words) > 1 and words[1] == "AS" else (words[0], words[0])


def unscoped(sql: str) -> list[str]:
    """Return the instances' tables that a text reads or changes without saying whose; parameters stand as `:name`."""
    return [table for block in blocks(sql) for table in _unscoped(block)]


def _unscoped(block: str) -> Iterator[str]:
    used: list[tuple[str, str]] = []
    scoped: set[str] = set()
    join = ""
    for clause, rest in clauses(block):
        if clause in {"FROM", "USING", "UPDATE"} or clause.endswith("JOIN"):
            if clause != "UPDATE" or rest:
                used += [named(item) for item in outside_brackets(rest, ",") if item.strip()]
            join = clause
        if clause in {"WHERE", "ON"}:
            names = {found[1] for found in map(_SCOPE.fullmatch, outside_brackets(rest, r"\bAND\b")) if found}
            if clause == "ON" and join == "LEFT OUTER JOIN":
                # Such a condition leaves out nothing of what stands before it.
                names &= {used[-1][1]}
            if clause == "ON" and join == "FULL OUTER JOIN":
                names = set()
            scoped |= names
    return (table for table, name in used if table in INSTANCE_TABLES and name not in scoped)


_SCOPE = re.compile(r"\s*(\w+)\.instance_id = :instance_id(?:::BIGINT)?\s*")


def readable(statement: Statement, dialect: str) -> str:
    """Return the text that an engine gets, its parameters by name."""
    compiled = statement.compiled(dialect)
    if dialect == "sqlite":
        sql = re.sub(r"'[^']*'", "''", compiled.sql)
        assert sql.count("?") == len(compiled.names)
        names = iter(compiled.names)
        return re.sub(r"\?", lambda _: f":{next(names)}", sql)
    return re.sub(r"\$(\d+)", lambda place: f":{compiled.names[int(place[1]) - 1]}", compiled.sql)


# ------------------------------------------------------------------------------------ wrong on purpose

_one = products.c.id == number("product_id")
_same = classifications.c.id == products.c.id
_other = products.alias("other")
_their_lists = select(lists.c.id).where(lists.c.id == products.c.list_id)

WRONG: dict[str, ClauseElement] = {
    "nothing": select(products.c.id),
    "another condition": select(products.c.id).where(_one),
    "a count": select(func.count()).select_from(products),
    "one of two": select(products.c.id).where(or_(the_instance(products), _one)),
    "one of two, inside": select(products.c.id).where(_one, or_(the_instance(products), _one)),
    "the others": select(products.c.id).where(not_(the_instance(products))),
    "not equal": select(products.c.id).where(products.c.instance_id != number("instance_id")),
    "at least": select(products.c.id).where(products.c.instance_id >= number("instance_id")),
    "a constant": select(products.c.id).where(products.c.instance_id == 5),
    "another parameter": select(products.c.id).where(products.c.instance_id == number("owner")),
    "another column": select(products.c.id).where(products.c.list_id == number("instance_id")),
    "another table's": select(products.c.id).where(the_instance(lists)),
    "join, left side alone": select(products.c.id).join(classifications, _same).where(the_instance(products)),
    "join, right side alone": select(products.c.id).join(classifications, and_(the_instance(classifications), _same)),
    "join, of the same instance": (
        select(products.c.id)
        .join(classifications, and_(classifications.c.instance_id == products.c.instance_id, _same))
        .where(the_instance(products))
    ),
    "join from a shared table": select(users.c.id).join(members, members.c.user_id == users.c.id),
    "outer join, left side alone": (
        select(products.c.id).outerjoin(classifications, _same).where(the_instance(products))
    ),
    "outer join, left side in ON alone": (
        select(products.c.id).outerjoin(classifications, and_(the_instance(products, classifications), _same))
    ),
    "full join, in ON alone": (
        select(products.c.id).join(classifications, and_(the_instance(products, classifications), _same), full=True)
    ),
    "two tables": select(products.c.id, lists.c.name).where(the_instance(products), products.c.list_id == lists.c.id),
    "subquery of IN": select(products.c.id).where(the_instance(products), products.c.list_id.in_(select(lists.c.id))),
    "subquery of a column": (
        select(products.c.id, select(func.max(lists.c.id)).scalar_subquery().label("most")).where(
            the_instance(products)
        )
    ),
    "EXISTS": select(products.c.id).where(the_instance(products), exists(_their_lists)),
    "subquery of FROM": select(select(products.c.id).subquery("page").c.id),
    "common table expression": select(select(products.c.id).cte("page").c.id),
    "lateral": (
        select(products.c.id)
        .join(_their_lists.correlate(products).lateral("page"), literal(True))
        .where(the_instance(products))
    ),
    "second of a union": union_all(select(products.c.id).where(the_instance(products)), select(products.c.id)),
    "alias": select(_other.c.id),
    "alias beside the table": select(_other.c.id).where(the_instance(products), _other.c.id == products.c.id),
    "update": update(products).values(is_prio=True),
    "update, another condition": update(products).where(_one).values(is_prio=True),
    "update, one of two": update(products).where(or_(the_instance(products), _one)).values(is_prio=True),
    "update from another table": (
        update(products).where(the_instance(products), products.c.list_id == lists.c.id).values(vendor=lists.c.name)
    ),
    "update to a subquery": (
        update(products).where(the_instance(products)).values(vendor=select(func.max(lists.c.name)).scalar_subquery())
    ),
    "delete": delete(products),
    "delete, another condition": delete(products).where(_one),
    "delete, one of two": delete(products).where(or_(the_instance(products), _one)),
    "delete, subquery": (delete(products).where(the_instance(products), products.c.list_id.in_(select(lists.c.id)))),
    "delete beside another table": delete(products).where(the_instance(products), products.c.list_id == lists.c.id),
    "insert of what is selected": insert(lists).from_select(["id"], select(products.c.id)),
}
# SQLite has no such thing; the rule is asked all the same.
UNKNOWN_TO_SQLITE = {"delete beside another table", "lateral"}

RIGHT: dict[str, ClauseElement] = {
    "select": select(products.c.id).where(the_instance(products), _one),
    "conditions in conditions": select(products.c.id).where(and_(_one, and_(the_instance(products), _one))),
    "join": select(products.c.id).join(classifications, and_(the_instance(products, classifications), _same)),
    "outer join": (
        select(products.c.id)
        .outerjoin(classifications, and_(the_instance(classifications), _same))
        .where(the_instance(products))
    ),
    "subquery": (
        select(products.c.id).where(
            the_instance(products), products.c.list_id.in_(select(lists.c.id).where(the_instance(lists)))
        )
    ),
    "alias": select(_other.c.id).where(_other.c.instance_id == number("instance_id")),
    "shared": select(users.c.id),
    "update": update(products).where(the_instance(products), _one).values(is_prio=True),
    "delete": delete(products).where(the_instance(products)),
}


def made(element: ClauseElement, *, across_instances: str = "") -> Statement:
    """Make a statement for a test, which those of the service are not to be mixed with."""
    statement = Statement(element, across_instances=across_instances)
    Statement.made.remove(statement)
    return statement


class TestStatement:
    """`Statement`: what is refused when it is made."""

    @pytest.mark.parametrize("element", [pytest.param(element, id=name) for name, element in WRONG.items()])
    def test_is_not_made_without_the_instance_filter(self, element: ClauseElement) -> None:
        with pytest.raises(NotScoped):
            made(element)

    @pytest.mark.parametrize("element", [pytest.param(element, id=name) for name, element in RIGHT.items()])
    def test_is_made_with_the_instance_filter(self, element: ClauseElement) -> None:
        assert made(element).element is element

    def test_is_made_across_instances_for_a_reason(self) -> None:
        assert made(WRONG["nothing"], across_instances="a reason").across_instances == "a reason"


class TestSecondOpinion:
    """The reader of SQL texts below, so that it is known to see."""

    @pytest.mark.parametrize(
        ("name", "dialect"),
        [
            (name, dialect)
            for name, dialect in product(WRONG, ENGINES)
            if (dialect, name) not in {("sqlite", n) for n in UNKNOWN_TO_SQLITE}
        ],
    )
    def test_sees_what_is_wrong(self, name: str, dialect: str) -> None:
        assert unscoped(readable(made(WRONG[name], across_instances="a test"), dialect))

    @both
    @pytest.mark.parametrize("name", RIGHT)
    def test_lets_what_is_right_pass(self, name: str, dialect: str) -> None:
        assert unscoped(readable(made(RIGHT[name], across_instances="a test"), dialect)) == []


class TestAllStatements:
    """Every statement that the service makes."""

    @both
    def test_filter_every_table_of_an_instance(self, dialect: str) -> None:
        wrong = {
            text: tables
            for statement in all_statements()
            if not statement.across_instances and (tables := unscoped(text := readable(statement, dialect)))
        }

        assert wrong == {}

    def test_look_across_instances_only_for_known_reasons(self) -> None:
        reasons = [statement.across_instances for statement in all_statements() if statement.across_instances]

        assert sorted(reasons) == sorted(ACROSS_INSTANCES)

    @both
    def test_add_no_rows_to_instances_past_the_door(self, dialect: str) -> None:
        """What adds rows takes the instance from the door (`Write.insert`); a new instance's clock alone cannot."""
        texts = [readable(statement, dialect) for statement in all_statements()]

        added = {found[1] for text in texts if (found := re.match(r"INSERT INTO (\w+)", text))}

        assert added & INSTANCE_TABLES.keys() == {"clocks"}

    @both
    @pytest.mark.parametrize("name", INSTANCE_TABLES)
    def test_of_many_rows_begin_with_the_instance(self, name: str, dialect: str) -> None:
        table = INSTANCE_TABLES[name]
        first = r"\?" if dialect == "sqlite" else r"\$1(::bigint)?"

        inserted, updated = insert_sql(table, dialect), update_sql(table, dialect)

        assert re.match(rf"INSERT INTO {name} \(instance_id, [^)]*\) (VALUES \(|SELECT ){first}, ", inserted)
        assert re.search(rf"WHERE ({name}\.)?instance_id = ({first}|\?1) AND ({name}\.)?id = ", updated)
        assert "instance_id" not in updated.partition(" SET ")[2].partition(" WHERE ")[0]

    def test_are_understood_by_the_database(self, fresh: Settings) -> None:
        # How the clock is locked is PostgreSQL's own: SQLite locks the file.
        own = {_LOCK_CLOCK} if fresh.database_url is None else set()
        statements = [statement for statement in all_statements() if statement not in own]

        assert len(statements) > 50
        refused = asyncio.run(refused_by(fresh, statements))

        assert refused == {}


async def refused_by(settings: Settings, statements: Sequence[Statement]) -> dict[str, str]:
    """Let a database prepare statements; return what it says of those it does not understand."""
    refused: dict[str, str] = {}
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3")) as file:
            for statement in statements:
                compiled = statement.compiled("sqlite")
                try:
                    file.execute(f"EXPLAIN {compiled.sql}", [None] * len(compiled.names))
                except sqlite3.Error as error:
                    refused[compiled.sql] = str(error)
        return refused
    server = await asyncpg.connect(settings.database_url)
    try:
        for statement in statements:
            sql = statement.compiled("postgresql").sql
            try:
                await server.prepare(sql)
            except asyncpg.PostgresError as error:
                refused[sql] = str(error)
    finally:
        await server.close()
    return refused


# -------------------------------------------------------------------------------------------------- schema


class TestTables:
    """The tables as they are declared."""

    def test_are_either_an_instance_s_or_known_to_be_shared(self) -> None:
        of_instances = {name for name, table in metadata.tables.items() if next(iter(table.c)).name == "instance_id"}

        assert metadata.tables.keys() - of_instances == SHARED_TABLES

    @pytest.mark.parametrize("name", INSTANCE_TABLES)
    def test_lead_each_key_and_index_with_the_instance(self, name: str) -> None:
        table = INSTANCE_TABLES[name]
        unique = [constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint)]

        keys = [list(key.columns) for key in (table.primary_key, *unique)]
        keys += [list(index.columns) for index in table.indexes]
        leading = {key[0].name for key in keys}

        assert leading == {"instance_id"}
        assert not table.c.instance_id.nullable

    @pytest.mark.parametrize("name", INSTANCE_TABLES)
    def test_refer_to_no_other_instance(self, name: str) -> None:
        """A reference from an instance may lead to what all share, never to another instance's row."""
        targets = {key.column.table.name for key in INSTANCE_TABLES[name].foreign_keys}

        assert targets <= SHARED_TABLES


def on_database(settings: Settings, work: Callable[[Connection], T]) -> T:
    """Run work on a database by SQLAlchemy."""
    if settings.database_url is None:
        file = settings.home / "stammdaten.sqlite3"
        engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(file), poolclass=NullPool)
        with engine.connect() as connection:
            return work(connection)

    async def run() -> T:
        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=lambda: asyncpg.connect(settings.database_url),
            poolclass=NullPool,
        )
        async with engine.begin() as connection:
            return await connection.run_sync(work)

    return asyncio.run(run())


def differences(connection: Connection) -> list[Any]:
    """Return what Alembic would put into a next migration."""
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(alembic.autogenerate.compare_metadata(context, metadata))


# What Alembic does not compare: conditions of indexes, collations, storage parameters, names of keys.
CATALOGUE = {
    "sqlite": [
        "SELECT name, type FROM {schema}.sqlite_master WHERE name NOT LIKE 'sqlite_%'",
        """SELECT m.name, c.name, c.type, c."notnull", c.dflt_value, c.pk
             FROM {schema}.sqlite_master m, pragma_table_info(m.name, '{schema}') c WHERE m.type = 'table'""",
        """SELECT m.name, i.name, i."unique", i.origin, i.partial, c.seqno, c.name, c."desc", c.coll
             FROM {schema}.sqlite_master m, pragma_index_list(m.name, '{schema}') i,
                  pragma_index_xinfo(i.name, '{schema}') c WHERE m.type = 'table'""",
        """SELECT name, substr(sql, instr(sql, ' WHERE ')) FROM {schema}.sqlite_master
            WHERE type = 'index' AND sql LIKE '% WHERE %'""",
    ],
    "postgresql": [
        """SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name, is_identity
             FROM information_schema.columns WHERE table_schema = '{schema}'""",
        """SELECT tablename, indexname, replace(indexdef, '{schema}.', '') FROM pg_indexes
            WHERE schemaname = '{schema}'""",
        """SELECT conrelid::regclass::text, conname, contype::text, replace(pg_get_constraintdef(oid), '{schema}.', '')
             FROM pg_constraint WHERE connamespace = '{schema}'::regnamespace""",
        """SELECT relname, reloptions FROM pg_class
            WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'""",
    ],
}


def catalogue(connection: Connection, engine: str, where: str) -> list[str]:
    """Return what a database knows of the tables in a schema, line by line."""
    found = []
    for query in CATALOGUE[engine]:
        rows = connection.exec_driver_sql(query.format(schema=where))
        # Names of tables come with their schema, where that is not the one looked in first.
        found += [" | ".join(str(value).removeprefix(f"{where}.") for value in row) for row in rows]
    return sorted(line for line in found if not line.startswith("alembic_version"))


class TestMigratedSchema:
    """What the migrations make of an empty database."""

    def test_leaves_nothing_to_migrate(self, fresh: Settings) -> None:
        assert on_database(fresh, differences) == []

    def test_is_what_the_tables_declare(self, fresh: Settings, engine: str) -> None:
        def compare(connection: Connection) -> tuple[list[str], list[str]]:
            if engine == "sqlite":
                connection.exec_driver_sql("ATTACH ':memory:' AS declared")
                migrated = catalogue(connection, engine, "main")
                metadata.create_all(connection.execution_options(schema_translate_map={None: "declared"}))
                return migrated, catalogue(connection, engine, "declared")
            migrated = catalogue(connection, engine, "public")
            connection.exec_driver_sql("CREATE SCHEMA declared")
            connection.exec_driver_sql("SET LOCAL search_path TO declared")
            metadata.create_all(connection, checkfirst=False)
            return migrated, catalogue(connection, engine, "declared")

        migrated, declared = on_database(fresh, compare)

        assert len(migrated) > 100
        assert sorted(set(migrated) - set(declared)) == sorted(set(declared) - set(migrated)) == []

    def test_has_the_newest_revision(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(migrating._MIGRATIONS))

        newest = ScriptDirectory.from_config(config).get_heads()

        assert newest == [schema.HEAD]


class TestDurability:
    """How the connections are set up: what was acknowledged is on disk."""

    def test_of_every_connection_is_full(self, fresh: Settings, engine: str) -> None:
        known: dict[str, dict[str, Any]] = {
            "sqlite": {"journal_mode": "wal", "synchronous": 2},
            "postgresql": {
                "synchronous_commit": "on",
                "fsync": "on",
                "lock_timeout": "10s",
                "idle_in_transaction_session_timeout": "15s",
            },
        }
        expected = known[engine]

        async def look() -> list[dict[str, Any]]:
            async with await open_store(fresh) as store:
                return await settings_of_connections(store, expected)

        found = asyncio.run(look())

        assert len(found) >= 2
        assert all(settings == expected for settings in found)


class TestSlowReads:
    """Reads in a thread, or on a connection of their own."""

    def test_leave_nothing_behind_of_a_caller_who_leaves(self, fresh: Settings) -> None:
        """Some leave before a thread has begun to read; what they left over would be a warning, and fail here."""

        async def read(store: Store) -> list[Row]:
            async with store.reading(INSTANCE, slow=True) as connection:
                return await connection.rows(READ_CLOCK)

        async def leave_and_read() -> list[Row]:
            async with await open_store(fresh) as store:
                for _ in range(100):
                    leaving = asyncio.create_task(read(store))
                    await asyncio.sleep(0)
                    leaving.cancel()
                    await asyncio.wait([leaving])
                return await read(store)

        rows = asyncio.run(leave_and_read())
        gc.collect()

        assert rows == []


async def settings_of_connections(store: Store, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the settings of all connections of a store, or of one for reading and one for writing."""
    if isinstance(store.engine, SqliteEngine):
        return [
            {name: connection.raw.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
            for connection in store.engine._opened
        ]

    async def ask(connection: Any) -> dict[str, Any]:
        assert isinstance(connection, PostgresConnection)
        return {name: await connection.raw.fetchval(f"SHOW {name}") for name in names}

    async with store.reading_shared() as read:
        of_reader = await ask(read._connection)
    return [of_reader, await store.writing_shared(lambda write: ask(write._connection))]


# --------------------------------------------------------------------------------------------------- plans

# Enough that page 1000 is no empty page, and so many of each other kind that sorting them would not pay: one in eight
# is archived, one in eight deleted, every other one of these archived too.
ROWS = 48_000
INSTANCE, LIST = 1, 1
_VALUES = {
    "instance_id": str(INSTANCE),
    "id": "n",
    "list_id": f"CASE WHEN n % 10 = 0 THEN 2 ELSE {LIST} END",
    "user_id": "1",
    "inserted_at": "at",
    "updated_at": "at",
    "article_number": "'A-' || n",
}


def filling(engine: str) -> str:
    """Compose the statement that fills the table of products."""
    flags = {"is_deleted": "n % 8 = 1", "is_archived": "n % 8 = 2 OR n % 16 = 1"}
    document = "X'" + "78" * 300 + "'" if engine == "sqlite" else f"'\\x{'78' * 300}'::bytea"
    values = []
    for column in products.c:
        default = "NULL" if column.nullable else "false" if column.type.python_type is bool else "''"
        values.append(_VALUES.get(column.name) or flags.get(column.name) or default)
    values[-1] = document
    names = ", ".join(column.name for column in products.c)
    numbers = {
        "sqlite": f"WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < {ROWS}) "
        "INSERT INTO products ({names}) SELECT {values} "
        "FROM (SELECT n, printf('2026-01-01T%02d:%02d:%02d.000000', n / 3600, n / 60 % 60, n % 60) AS at FROM g)",
        "postgresql": "INSERT INTO products ({names}) SELECT {values} FROM (SELECT n, "
        "format('2026-01-01T%s.000000', to_char(make_interval(secs => n), 'HH24:MI:SS')) AS at "
        f"FROM generate_series(1, {ROWS}) AS n) AS rows",
    }[engine]
    return numbers.format(names=names, values=", ".join(values))


# A step of a plan: its number, that of the step it works for, and what it does.
Step = tuple[int, int, str]


class Plans:
    """A filled database that explains how it would run a statement."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.engine = "postgresql" if settings.database_url else "sqlite"

    def fill(self) -> None:
        """Fill and analyse it."""
        if self._settings.database_url is None:
            with closing(self._file()) as file:
                file.execute(filling("sqlite"))
                file.execute("ANALYZE")
                file.commit()
            return

        async def fill(server: Any) -> None:
            await server.execute(filling("postgresql"))
            await server.execute("VACUUM ANALYZE products")

        self._on_server(fill)

    def _file(self) -> sqlite3.Connection:
        return sqlite3.connect(self._settings.home / "stammdaten.sqlite3")

    def _on_server(self, work: Callable[[Any], Awaitable[T]]) -> T:
        async def run() -> T:
            server = await asyncpg.connect(self._settings.database_url)
            try:
                return await work(server)
            finally:
                await server.close()

        return asyncio.run(run())

    def explain(self, statement: Statement, runs: int, **values: Any) -> list[Step]:
        """Return the steps of a plan.

        After some runs with a prepared statement, PostgreSQL may settle on a plan that looks at no parameter.
        """
        compiled = statement.compiled(self.engine)
        values["instance_id"] = INSTANCE
        if self.engine == "sqlite":
            arguments = [
                json.dumps(value) if isinstance(value, list) else value for value in compiled.arguments(values)
            ]
            with closing(self._file()) as file:
                rows = file.execute(f"EXPLAIN QUERY PLAN {compiled.sql}", arguments).fetchall()
            return [(step, parent, text) for step, parent, _, text in rows]
        literals = ", ".join(map(as_literal, compiled.arguments(values)))

        async def explain(server: Any) -> Any:
            await server.execute(f"PREPARE asked AS {compiled.sql}")
            for _ in range(runs):
                await server.execute(f"EXECUTE asked({literals})")
            return json.loads(await server.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE asked({literals})"))[0]["Plan"]

        return list(_steps(self._on_server(explain), 0))


def as_literal(value: object) -> str:
    """Write a value into SQL."""
    if isinstance(value, list):
        return f"ARRAY[{', '.join(map(as_literal, value))}]"
    return str(value) if isinstance(value, int) else f"'{value}'"


def _steps(node: dict[str, Any], parent: int) -> Iterator[Step]:
    named = (node.get(name, "") for name in ("Node Type", "Relation Name", "Index Name", "Index Cond"))
    text = " ".join(named)
    yield id(node), parent, text
    for inner in node.get("Plans", ()):
        yield from _steps(inner, id(node))


@pytest.fixture(scope="module")
def plans(copied: Callable[[], Settings]) -> Plans:
    """A database with 48,000 products."""
    filled = Plans(copied())
    filled.fill()
    return filled


BEGINNING = "1970-01-01T00:00:00.000000"
IN_THE_MIDDLE = "2026-01-01T05:00:00.000000"
runs = pytest.mark.parametrize("runs", [pytest.param(0, id="first"), pytest.param(8, id="ninth")])
pages = pytest.mark.parametrize(
    ("standing", "in_list"),
    [
        pytest.param(standing, in_list, id=f"{standing.name.lower()}{'-in-list' if in_list else ''}")
        for standing, in_list in product(Standing, (False, True))
    ],
)


class TestPlans:
    """What a page of products costs: one stretch of an index, or two merged, and nothing sorted."""

    @runs
    @pages
    @pytest.mark.parametrize("timestamp", [BEGINNING, IN_THE_MIDDLE])
    def test_read_page_1_off_an_index(
        self, plans: Plans, standing: Standing, *, in_list: bool, timestamp: str, runs: int
    ) -> None:
        statement = queries._PAGES[standing, in_list, False]

        steps = plans.explain(statement, runs, timestamp=timestamp, list_id=LIST, limit=30, offset=0, most=30)

        self._check(steps, standing, in_list=in_list)

    @runs
    @pages
    def test_skip_to_page_1000_within_an_index(
        self, plans: Plans, standing: Standing, *, in_list: bool, runs: int
    ) -> None:
        statement = queries._PAGES[standing, in_list, True]
        # Of deleted ones there are not so many.
        page = 50 if standing is Standing.DELETED else 1000

        values = {"limit": 30, "offset": (page - 1) * 30, "most": page * 30}
        steps = plans.explain(statement, runs, timestamp=BEGINNING, list_id=LIST, **values)

        # Thirty rows may be put in order again once their documents are fetched; the skipping may sort nothing.
        limit = {"sqlite": "MATERIALIZE", "postgresql": "Limit"}[plans.engine]
        skipping = next(step for step, _, text in steps if text.startswith(limit))
        self._check(_beneath(steps, skipping), standing, in_list=in_list)

    def _check(self, steps: list[Step], standing: Standing, *, in_list: bool) -> None:
        # Where nearly everything is in one list, either index is as good.
        index = r"products_(list_)?changes" if in_list else r"products_changes"
        read = [text for _, _, text in steps if re.search(r"\bproducts\b", text)]
        assert len(read) == (1 if standing is Standing.LIVE else 2), steps
        assert all(re.search(rf"\b{index}\b.*updated_at", text) for text in read), steps
        assert not [text for text in read if re.search(r"^SCAN|Seq Scan|Bitmap", text)], steps
        assert not [step for step in steps if _sorts_a_range(step, steps)], steps

    @runs
    @pytest.mark.parametrize(
        ("name", "index"),
        [
            ("_LIVE_DOCUMENT", "products_article_key"),
            ("_DELETED_DOCUMENT", "products_deleted_article"),
            ("_LIVE", "products_article_key"),
            ("_NEWEST_DELETED", "products_deleted_article"),
        ],
    )
    def test_find_by_article_number_in_an_index(self, plans: Plans, name: str, index: str, runs: int) -> None:
        statement = getattr(queries, name)

        steps = plans.explain(statement, runs, article_number="A-17", article_numbers=["A-17", "A-18"])

        read = [text for _, _, text in steps if "products" in text]
        assert len(read) == 1, steps
        assert index in read[0], steps
        assert "article_number" in read[0].partition(index)[2], steps


def _beneath(steps: list[Step], top: int) -> list[Step]:
    inner = [step for step in steps if step[1] == top]
    return [found for step in inner for found in (step, *_beneath(steps, step[0]))]


def _sorts_a_range(step: Step, steps: list[Step]) -> bool:
    """Whether a step puts all of a range in order; no more of it than a page needs may be."""
    number_, parent, text = step
    if text.startswith("USE TEMP B-TREE"):
        # What it sorts stands beside it; a subquery that ends after a page is a step of its own.
        return any(beside == parent and "products" in text for _, beside, text in steps)
    if "Sort" not in text:
        return False
    below = [inner for inner in steps if inner[1] == number_]
    while below:
        if any("products" in text for _, _, text in below):
            return True
        below = [inner for inner in steps for above in below if inner[1] == above[0] and "Limit" not in above[2]]
    return False


# ----------------------------------------------------------------------------------------- costs and batches


def counted(metric: Any, ending: str) -> float:
    """Return a sum of what was counted, over all labels."""
    families: list[Metric] = list(metric.collect())
    return sum(sample.value for family in families for sample in family.samples if sample.name.endswith(ending))


def statements_so_far() -> float:
    """Return how many statements this process has run, once the jobs of a service that has just begun are done."""
    found = counted(DATABASE_SECONDS, "_count")
    while True:
        sleep(0.05)
        before, found = found, counted(DATABASE_SECONDS, "_count")
        if found == before:
            return found


def cost(work: Callable[[int], object]) -> int:
    """Return how many statements work costs: the least of ten times, because jobs look for work in between."""
    so_far = [statements_so_far()]
    for attempt in range(10):
        work(attempt)
        so_far.append(counted(DATABASE_SECONDS, "_count"))
    return int(min(after - before for before, after in itertools.pairwise(so_far)))


def new_product(member: Member, article_number: str, *, list_id: int | None = None) -> NewProduct:
    """Return a row of `create_products`."""
    return NewProduct(
        caller=caller_of(member),
        list_id=member.list_id if list_id is None else list_id,
        article_number=article_number,
        values={"designation": "Hex bolt M8"},
    )


def product_update(member: Member, article_number: str, designation: str = "Changed") -> ProductUpdate:
    """Return a row of `update_products`."""
    return ProductUpdate(caller=caller_of(member), article_number=article_number, values={"designation": designation})


def contact_change(member: Member, contact_uid: str, **values: object) -> ContactChange:
    """Return a row of `create_contacts` and `update_contacts`."""
    return ContactChange(caller_of(member), Given(contact_uid=contact_uid, values=values, notes=[]))


class TestCostOfRequests:
    """How many statements a request costs, its token known."""

    @pytest.mark.parametrize(
        ("method", "path", "body", "statements"),
        [
            ("GET", "/lists", None, 1),
            ("GET", "/products?timestamp=1970-01-01", None, 1),
            ("GET", "/products?timestamp=1970-01-01&include_archived=1", None, 1),
            ("GET", "/products?timestamp=1970-01-01&deleted=1", None, 1),
            ("GET", "/products?timestamp=1970-01-01&page=1000", None, 1),
            ("POST", "/products/find", {"article_number": "A-7"}, 1),
            ("GET", "/contacts", None, 2),
            ("GET", "/contacts?search=lind&is_watchlist=0&timestamp=2020-01-01", None, 2),
            ("GET", "/contacts/K-7", None, 1),
            ("POST", "/contacts/find", {"contact_uid": "K-7"}, 1),
            # The clock, the product, its new row, the action, the clock again.
            ("PUT", "/products", {"article_number": "A-7", "product": {"designation": "Changed"}}, 5),
            # The clock, the contact, its new row, the record, the oldest records, the clock again.
            ("PUT", "/contacts/K-7", {"contact": {"phone": "1"}}, 6),
            # Before these the contact, its matches and the lists in force; among them the last two once more.
            ("PUT", "/contacts/K-7", {"contact": {"city": "Lund"}}, 10),
        ],
    )
    def test_is_the_same_however_much_there_is(
        self, anna: Member, method: str, path: str, body: object, statements: int
    ) -> None:
        new_products = [new_product(anna, f"A-{number_}") for number_ in range(31)]
        new_contacts = [contact_change(anna, f"K-{number_}", last_name="Lindgren") for number_ in range(31)]
        anna.service.write(anna.instance_id, lambda write: create_products(write, new_products))
        anna.service.write(anna.instance_id, lambda write: create_contacts(write, new_contacts))

        assert cost(lambda _: anna.request(method, path, json=body)) == statements

    def test_of_creating_is_the_same_however_much_there_is(self, anna: Member) -> None:
        """The clock, the number, the list, the product, the action, the clock again; and likewise a contact."""
        assert cost(lambda attempt: make_product(anna, f"A-{attempt}")) == 6
        # The lists in force twice: before the check, and when it is stored.
        assert cost(lambda attempt: make_contact(anna, f"K-{attempt}")) == 8

    def test_of_a_token_is_one_statement_a_while(self, anna: Member, no_role: Member) -> None:
        before = statements_so_far()
        no_role.get("/lists")
        first = counted(DATABASE_SECONDS, "_count") - before

        # At least: jobs run statements of theirs in between.
        assert first >= cost(lambda _: no_role.get("/lists")) + 1


class Counting:
    """A connection that counts what is asked of it; the metrics count what jobs ask in between, too."""

    def __init__(self, connection: object) -> None:
        self._connection = connection
        self.statements = 0

    def __getattr__(self, name: str) -> object:
        self.statements += 1
        return getattr(self._connection, name)


class TestCostOfBatches:
    """How many statements an operation costs, but for reading and writing the clock: a thousand rows as many as one."""

    def _costs(self, member: Member, operation: Operation, row: Callable[[str], object], names: str) -> tuple[int, int]:
        def cost_of(rows: int) -> int:
            batch = [row(f"{names}-{rows}-{number_}") for number_ in range(rows)]

            async def count(write: Write) -> int:
                counting: Any = Counting(write._connection)
                write._connection = counting
                outcomes = await operation(write, batch)
                assert not [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
                return int(counting.statements)

            return member.service.write(member.instance_id, count)

        return cost_of(1), cost_of(1000)

    def test_on_products_is_that_of_one_row(self, anna: Member) -> None:
        costs = {
            "create": self._costs(anna, create_products, lambda name: new_product(anna, name), "A"),
            "update": self._costs(anna, update_products, lambda name: product_update(anna, name), "A"),
            "archive": self._costs(anna, archive_products, lambda name: Archiving(name, "op", is_archived=True), "A"),
            "delete": self._costs(anna, delete_products, lambda name: Deed(name, "op"), "A"),
        }

        assert costs == {"create": (4, 4), "update": (3, 3), "archive": (3, 3), "delete": (3, 3)}

    def test_on_contacts_is_that_of_one_row(self, anna: Member) -> None:
        costs = {
            "create": self._costs(
                anna, create_contacts, lambda name: contact_change(anna, name, last_name="Lindgren"), "K"
            ),
            "update": self._costs(anna, update_contacts, lambda name: contact_change(anna, name, city="Lund"), "K"),
            "delete": self._costs(anna, delete_contacts, lambda name: ContactDeletion(caller_of(anna), name), "K"),
        }

        # With the lists in force, what was found before, and the matches that go with a contact.
        assert costs == {"create": (5, 5), "update": (6, 6), "delete": (5, 5)}


def submitted(member: Member, *given: tuple[Operation, object]) -> list[Any]:
    """Submit rows at once; return the outcome of each, an exception where it was one."""

    async def submit(store: Store) -> list[Any]:
        waiting = [store.submit(member.instance_id, operation, row) for operation, row in given]
        return await asyncio.gather(*waiting, return_exceptions=True)

    return member.service.run(submit)


def article_numbers(member: Member, **query: object) -> list[str]:
    """Return the numbers of the products in order of their last change."""
    products_ = member.get("/products", timestamp="1970-01-01", **query).json()["products"]
    return [found["article_number"] for found in products_]


def rows_of(member: Member, table: str, columns: str) -> list[tuple[Any, ...]]:
    """Read a table of an instance directly, by id."""
    sql = f"SELECT {columns} FROM {table} WHERE instance_id = {member.instance_id} ORDER BY id"
    settings = member.service.settings
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3")) as file:
            return file.execute(sql).fetchall()

    async def fetch() -> list[tuple[Any, ...]]:
        server = await asyncpg.connect(settings.database_url)
        try:
            return [tuple(row) for row in await server.fetch(sql)]
        finally:
            await server.close()

    return asyncio.run(fetch())


async def create_but_fail(write: Write, rows: Sequence[NewProduct]) -> Sequence[Any]:
    """Create products as the service does, and meet a mistake of ours at one of them, after all was written."""
    outcomes = await create_products(write, rows)
    if any(row.article_number == "guilty" for row in rows):
        raise ZeroDivisionError("a mistake of ours")
    return outcomes


class TestBatches:
    """Rows submitted at once: one transaction, an outcome each."""

    def test_share_one_transaction(self, anna: Member) -> None:
        batches, rows = counted(BATCH_ROWS, "_count"), counted(BATCH_ROWS, "_sum")

        submitted(anna, *((create_products, new_product(anna, f"A-{number_}")) for number_ in range(20)))

        assert counted(BATCH_ROWS, "_count") - batches == 1
        assert counted(BATCH_ROWS, "_sum") - rows == 20

    def test_are_no_larger_than_is_good_for_those_who_wait(self, anna: Member) -> None:
        batches = counted(BATCH_ROWS, "_count")

        outcomes = submitted(
            anna, *((create_products, new_product(anna, f"A-{number_}")) for number_ in range(LARGEST_BATCH + 1))
        )

        assert counted(BATCH_ROWS, "_count") - batches == 2
        assert len(set(outcomes)) == LARGEST_BATCH + 1

    def test_hold_rows_of_one_instance(self, anna: Member, bruno: Member) -> None:
        batches = counted(BATCH_ROWS, "_count")

        async def submit(store: Store) -> list[Any]:
            return await asyncio.gather(
                *(
                    store.submit(member.instance_id, create_products, new_product(member, f"A-{number_}"))
                    for number_ in range(3)
                    for member in (anna, bruno)
                )
            )

        anna.service.run(submit)

        assert counted(BATCH_ROWS, "_count") - batches == 2
        assert article_numbers(anna) == article_numbers(bruno) == ["A-0", "A-1", "A-2"]

    def test_give_each_row_its_own_outcome_in_order(self, anna: Member) -> None:
        outcomes = submitted(anna, *((create_products, new_product(anna, f"A-{number_}")) for number_ in range(9)))

        created = rows_of(anna, "products", "id, article_number")
        assert created == [(outcome, f"A-{number_}") for number_, outcome in enumerate(outcomes)]

    def test_let_a_refused_row_s_neighbours_stand(self, anna: Member) -> None:
        make_product(anna, "taken")

        before, duplicate, homeless, unknown, after = submitted(
            anna,
            (create_products, new_product(anna, "before")),
            (create_products, new_product(anna, "taken")),
            (create_products, new_product(anna, "homeless", list_id=999_999)),
            (update_products, product_update(anna, "unknown")),
            (create_products, new_product(anna, "after")),
        )

        assert isinstance(duplicate, AlreadyExists)
        assert isinstance(homeless, NotFound)
        assert isinstance(unknown, NotFound)
        assert isinstance(before, int)
        assert isinstance(after, int)
        assert article_numbers(anna) == ["taken", "before", "after"]

    def test_let_the_first_of_two_equal_creates_win(self, anna: Member) -> None:
        first, second = submitted(
            anna, (create_products, new_product(anna, "A-1")), (create_products, new_product(anna, "A-1"))
        )

        assert isinstance(second, AlreadyExists)
        assert rows_of(anna, "products", "id, article_number") == [(first, "A-1")]

    def test_apply_two_rows_for_one_article_in_order(self, anna: Member) -> None:
        product_id = make_product(anna, "A-1")

        first, second = submitted(
            anna,
            (update_products, product_update(anna, "A-1", "First")),
            (update_products, product_update(anna, "A-1", "Second")),
        )

        actions = rows_of(anna, "actions", "id, product_id, at, changes")[1:]
        assert [(action, owner) for action, owner, _, _ in actions] == [(first, product_id), (second, product_id)]
        assert actions[0][2] < actions[1][2]
        changes = [json.loads(changes)["designation"] for *_, changes in actions]
        assert changes == [["Hex bolt M8", "First"], ["First", "Second"]]
        shown = rows_of(anna, "products", "designation, updated_at")
        assert shown == [("Second", actions[1][2])]

    def test_free_a_number_for_the_next_row(self, anna: Member) -> None:
        old = make_product(anna, "A-1")
        caller = caller_of(anna)

        async def delete_and_create(write: Write) -> Sequence[Any]:
            await delete_products(write, [Deed("A-1", "op")])
            return await create_products(write, [new_product(anna, "A-1")])

        (new,) = anna.service.write(caller.instance_id, delete_and_create)

        assert rows_of(anna, "products", "id, article_number") == [(old, "A-1"), (new, "A-1")]
        assert article_numbers(anna, deleted=1) == ["A-1"]

    def test_fail_only_the_guilty_row(self, anna: Member) -> None:
        names = ["A-1", "A-2", "guilty", "A-3"]

        outcomes = submitted(anna, *((create_but_fail, new_product(anna, name)) for name in names))

        assert isinstance(outcomes[2], ZeroDivisionError)
        created = rows_of(anna, "products", "id, article_number")
        assert created == [(outcomes[0], "A-1"), (outcomes[1], "A-2"), (outcomes[3], "A-3")]
        assert len(rows_of(anna, "actions", "id")) == 3

    def test_leave_nothing_behind_of_a_row_that_fails(self, anna: Member) -> None:
        clock = clock_of(anna)

        (outcome,) = submitted(anna, (create_but_fail, new_product(anna, "guilty")))

        assert isinstance(outcome, ZeroDivisionError)
        assert rows_of(anna, "products", "id") == []
        assert clock_of(anna) == clock

    def test_go_on_after_a_row_that_failed(self, anna: Member) -> None:
        submitted(anna, (create_but_fail, new_product(anna, "guilty")))

        (outcome,) = submitted(anna, (create_products, new_product(anna, "A-1")))

        assert rows_of(anna, "products", "id") == [(outcome,)]

    def test_do_not_wait_for_a_caller_who_has_gone(self, anna: Member) -> None:
        async def leave(store: Store) -> Any:
            gone = asyncio.create_task(store.submit(anna.instance_id, create_products, new_product(anna, "gone")))
            stays = asyncio.create_task(store.submit(anna.instance_id, create_products, new_product(anna, "stays")))
            # Both are under way.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            gone.cancel()
            return await stays

        outcome = anna.service.run(leave)

        assert (outcome, "stays") in rows_of(anna, "products", "id, article_number")


def clock_of(member: Member) -> list[tuple[Any, ...]]:
    """Return the clock row of an instance."""

    async def look(store: Store) -> list[tuple[Any, ...]]:
        async with store.reading(member.instance_id) as read:
            return [tuple(row) for row in await read.rows(READ_CLOCK)]

    return member.service.run(look)
