"""Statements as values: composed once, held to the instance filter when composed, compiled once per engine.

Knows nothing of connections. A statement on an instance's table that does not filter by `instance_id` cannot be made:
the mistake shows at import, not in production.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, BindParameter, Boolean, Text, bindparam
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY, asyncpg
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import operators, visitors
from sqlalchemy.sql.elements import BinaryExpression, BooleanClauseList, ClauseElement, ColumnElement
from sqlalchemy.sql.expression import Delete, Join, Select, TableClause, Update
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.schema import Column, Table
from sqlalchemy.sql.selectable import AliasedReturnsRows, SelectBase

_POSTGRESQL: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy's own gap
DIALECTS: dict[str, Dialect] = {
    "sqlite": sqlite.dialect(paramstyle="qmark"),
    "postgresql": asyncpg.dialect(),  # type: ignore[no-untyped-call]  # SQLAlchemy's own gap
}


class NotScoped(TypeError):  # noqa: N818 - says what is missing
    """A statement reads or writes an instance's table without saying whose."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The text for one engine, the names of its parameters in order, and the values the composer wrote in."""

    sql: str
    names: tuple[str, ...]
    constants: dict[str, Any]

    def arguments(self, values: dict[str, Any]) -> list[Any]:
        """Put the values in the order of the text; a missing one is a KeyError."""
        constants = self.constants
        return [values[name] if name in values else constants[name] for name in self.names]


class Statement:
    """A SQLAlchemy Core statement and its compiled texts.

    :raises NotScoped: if a table of an instance is not filtered by `instance_id`, on either side of a join;
        `across_instances` gives the reason why one statement may.
    """

    made: list["Statement"] = []  # noqa: RUF012 - the test that walks all statements reads it

    def __init__(self, element: ClauseElement, *, across_instances: str = "") -> None:
        self.element = element
        self.across_instances = across_instances
        if not across_instances:
            for table in _unscoped(element):
                raise NotScoped(f"{table} without instance_id in: {element}")
        self._compiled: dict[str, Compiled] = {}
        Statement.made.append(self)

    def compiled(self, engine: str) -> Compiled:
        """Return the text for `sqlite` or `postgresql`."""
        known = self._compiled.get(engine)
        if known is None:
            known = self._compiled[engine] = _compile(self.element, engine)
        return known


def _compile(element: ClauseElement, engine: str) -> Compiled:
    compiled: Any = element.compile(dialect=DIALECTS[engine])
    names = tuple(compiled.positiontup or ())
    constants = {name: compiled.binds[name].value for name in names if not compiled.binds[name].required}
    return Compiled(str(compiled), names, constants)


def the_instance(*tables: Table) -> ColumnElement[bool]:
    """Compose the filter that every statement on an instance's table carries, for each of `tables`."""
    first, *others = (table.c.instance_id == bindparam("instance_id", type_=BigInteger) for table in tables)
    return first if not others else BooleanClauseList.and_(first, *others)


def number(name: str) -> BindParameter[int]:
    """Name a whole-number parameter; always 64 bits, which the driver would not guess for LIMIT and OFFSET."""
    return bindparam(name, type_=BigInteger)


def text(name: str) -> BindParameter[str]:
    """Name a text parameter."""
    return bindparam(name, type_=Text)


def flag(name: str) -> BindParameter[bool]:
    """Name a Boolean parameter."""
    return bindparam(name, type_=Boolean)


class any_of(FunctionElement[bool]):  # noqa: N801 - reads as SQL in a statement
    """`column` is one of the values of a list parameter: one text for any number of them, one plan."""

    # Not typed Boolean: SQLAlchemy would add `= 1` for SQLite, which then no longer uses the index.
    inherit_cache = True
    name = "any_of"

    def __init__(self, column: Column[Any], parameter: str) -> None:
        item = BigInteger() if isinstance(column.type, BigInteger) else Text()
        super().__init__(column, bindparam(parameter, type_=ARRAY(item)))


@compiles(any_of, "sqlite")
def _any_of_sqlite(element: any_of, compiler: Any, **_: Any) -> str:
    column, values = element.clauses
    return f"{compiler.process(column)} IN (SELECT value FROM json_each({compiler.process(values)}))"  # noqa: S608 - likewise


@compiles(any_of)
def _any_of_postgresql(element: any_of, compiler: Any, **_: Any) -> str:
    column, values = element.clauses
    return f"{compiler.process(column)} = ANY({compiler.process(values)})"


@cache
def insert_sql(table: Table, engine: str) -> str:
    """Compose the insert of many rows: parameters are `instance_id`, if the table has it first, then a value a column.

    On PostgreSQL the value is a whole column, as an array: one statement for a thousand rows as for one.
    """
    columns = list(table.columns)
    names = ", ".join(column.name for column in columns)
    if engine == "sqlite":
        return f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - likewise
    arrays = [f"${place}::{_array(column)}" for place, column in enumerate(columns[1:], start=2)]
    given = ", ".join(column.name for column in columns[1:])
    return (
        f"INSERT INTO {table.name} ({names}) "  # noqa: S608 - names from the tables, values as parameters
        f"SELECT $1::bigint, {given} FROM unnest({', '.join(arrays)}) AS given({given})"
    )


@cache
def update_sql(table: Table, engine: str) -> str:
    """Compose the update of many rows by `(instance_id, id)`: the same parameters in the same order as for the insert.

    `id` must be the table's second column.
    """
    columns = list(table.columns)[2:]
    if engine == "sqlite":
        # ?1 is the instance and ?2 the id, so that insert and update take the same rows.
        changes = ", ".join(f"{column.name} = ?{place}" for place, column in enumerate(columns, start=3))
        return f"UPDATE {table.name} SET {changes} WHERE instance_id = ?1 AND id = ?2"  # noqa: S608
    given = ", ".join(column.name for column in columns)
    changes = ", ".join(f"{column.name} = given.{column.name}" for column in columns)
    arrays = [f"${place}::{_array(column)}" for place, column in enumerate(columns, start=3)]
    return (
        f"UPDATE {table.name} SET {changes} "  # noqa: S608 - names from the tables, values as parameters
        f"FROM unnest($2::bigint[], {', '.join(arrays)}) AS given(id, {given}) "
        # The ids once more, as a list: a plan made without statistics would else read the whole instance to join.
        f"WHERE {table.name}.instance_id = $1 AND {table.name}.id = ANY($2) AND {table.name}.id = given.id"
    )


def _array(column: Column[Any]) -> str:
    item = column.type.dialect_impl(_POSTGRESQL).compile(_POSTGRESQL)
    return item.removesuffix(' COLLATE "C"') + "[]"


def _unscoped(element: ClauseElement) -> Iterator[str]:
    for node in visitors.iterate(element):
        for table, conditions in _read_or_written(node):
            scoped = any(table is scope for condition in conditions for scope in _scopes(condition))
            if _is_of_an_instance(table) and not scoped:
                yield table.name


def _read_or_written(node: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Find the tables of one statement, without its subqueries, each with the conditions that its rows must meet."""
    if isinstance(node, Select):
        where = [*_conjuncts(node.whereclause)]
        for source in node.get_final_froms():
            yield from _joined(source, where)
    elif isinstance(node, Update | Delete):
        where = [*_conjuncts(node.whereclause)]
        for table in {node.table, *_tables_beside(node.whereclause)}:
            yield table, where


def _joined(source: Any, conditions: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    if not isinstance(source, Join):
        yield source, conditions
        return
    on = [*_conjuncts(source.onclause)]
    # An outer join keeps the rows of its outer side whatever ON says.
    yield from _joined(source.left, conditions if source.isouter or source.full else [*conditions, *on])
    yield from _joined(source.right, conditions if source.full else [*conditions, *on])


def _tables_beside(condition: Any) -> Iterator[Any]:
    """Find the tables that a condition of an update or delete brings in: UPDATE … FROM, DELETE … USING."""
    if isinstance(condition, Column):
        yield condition.table
    elif condition is not None and not isinstance(condition, SelectBase):
        for part in condition.get_children():
            yield from _tables_beside(part)


def _is_of_an_instance(table: Any) -> bool:
    # `instance_id` leads the key of every such table; behind it, in jobs and tokens, it is a value like others.
    source = table.element if isinstance(table, AliasedReturnsRows) else table
    return isinstance(source, TableClause) and next(iter(source.c)).name == "instance_id"


def _conjuncts(condition: Any) -> Iterator[Any]:
    if isinstance(condition, BooleanClauseList) and condition.operator is operators.and_:
        for part in condition.clauses:
            yield from _conjuncts(part)
    elif condition is not None:
        yield condition


def _scopes(condition: Any) -> Iterator[Any]:
    if (
        isinstance(condition, BinaryExpression)
        and condition.operator is operators.eq
        and isinstance(condition.right, BindParameter)
        and condition.right.key == "instance_id"
        and isinstance(condition.left, Column)
        and condition.left.name == "instance_id"
    ):
        yield condition.left.table
