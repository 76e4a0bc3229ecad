"""Products as they are read: rendered documents for the interface, columns for the operations."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, not_, select, union_all
from sqlalchemy.sql.expression import CompoundSelect

from stammdaten.classification.rules import Classification
from stammdaten.classification.tables import classifications
from stammdaten.products.shapes import Product
from stammdaten.products.tables import has_its_number, lost_its_number, products
from stammdaten.store import Read, Row, Statement, any_of, number, text, the_instance

PAGE_SIZE = 30
_AT_ONCE = 500
# From this page on, skipping over index entries alone saves more than fetching the documents by id costs.
_DEEP = 4


class Standing(Enum):
    """Which products a page shows; archived and deleted is deleted."""

    LIVE = "neither archived nor deleted"
    CURRENT = "archived or not, but not deleted"
    DELETED = "deleted, archived or not"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductFilter:
    """What GET products asks for; `timestamp` is naive German time with six digits."""

    timestamp: str
    standing: Standing
    list_id: int | None
    page: int

    @property
    def is_deep(self) -> bool:
        """Whether many rows are skipped before the page."""
        return self.page >= _DEEP


_RANGES: dict[Standing, list[tuple[ColumnElement[bool], ColumnElement[bool]]]] = {
    Standing.LIVE: [(not_(products.c.is_deleted), not_(products.c.is_archived))],
    Standing.CURRENT: [
        (not_(products.c.is_deleted), not_(products.c.is_archived)),
        (not_(products.c.is_deleted), products.c.is_archived.expression),
    ],
    Standing.DELETED: [
        (products.c.is_deleted.expression, not_(products.c.is_archived)),
        (products.c.is_deleted.expression, products.c.is_archived.expression),
    ],
}


def _range(standing: tuple[Any, Any], *, in_list: bool, column: ColumnElement[Any]) -> Select[Any]:
    """Compose the read of one stretch of an index, in its order."""
    found = select(column, products.c.updated_at).where(
        the_instance(products), *standing, products.c.updated_at > text("timestamp")
    )
    if in_list:
        found = found.where(products.c.list_id == number("list_id"))
    return found.order_by(products.c.updated_at)


def _ordered(standing: Standing, *, in_list: bool, column: ColumnElement[Any]) -> Select[Any] | CompoundSelect[Any]:
    ranges = [_range(one, in_list=in_list, column=column) for one in _RANGES[standing]]
    if len(ranges) == 1:
        # The deep page joins on the stamp; documents come without it, in their order.
        one = ranges[0] if column is products.c.id else ranges[0].with_only_columns(column)
        return one.limit(number("limit")).offset(number("offset"))
    # Each range ends by itself where the page can end at the latest: PostgreSQL would else read both to their ends
    # and sort, since it does not see that each is in order already.
    short = [one.limit(number("most")).subquery() for one in ranges]
    both = union_all(*(select(*one.c) for one in short))
    return both.order_by("updated_at").limit(number("limit")).offset(number("offset"))


def _page(standing: Standing, *, in_list: bool, is_deep: bool) -> Statement:
    if not is_deep:
        return Statement(_ordered(standing, in_list=in_list, column=products.c.document))
    ids = _ordered(standing, in_list=in_list, column=products.c.id).subquery("page")
    return Statement(
        select(products.c.document)
        .join(ids, products.c.id == ids.c.id)
        .where(the_instance(products))
        .order_by(ids.c.updated_at)
    )


_PAGES = {
    (standing, in_list, is_deep): _page(standing, in_list=in_list, is_deep=is_deep)
    for standing in Standing
    for in_list in (False, True)
    for is_deep in (False, True)
}
_LIVE_DOCUMENT = Statement(
    select(products.c.document).where(
        the_instance(products),
        has_its_number,
        products.c.article_number == text("article_number"),
    )
)
_DELETED_DOCUMENT = Statement(
    select(products.c.document)
    .where(the_instance(products), lost_its_number, products.c.article_number == text("article_number"))
    .order_by(products.c.updated_at.desc())
    .limit(1)
)


async def updated_products(read: Read, wanted: ProductFilter) -> list[bytes]:
    """Return the documents of a page of 30 products updated strictly after the timestamp, in order of the update."""
    rows = await read.rows(
        _PAGES[wanted.standing, wanted.list_id is not None, wanted.is_deep],
        timestamp=wanted.timestamp,
        list_id=wanted.list_id,
        limit=PAGE_SIZE,
        offset=(wanted.page - 1) * PAGE_SIZE,
        most=wanted.page * PAGE_SIZE,
    )
    return [row[0] for row in rows]


async def product_by_article_number(read: Read, article_number: str, *, deleted: bool) -> bytes | None:
    """Return the document of the product that has the number, or the newest deleted one that had it."""
    found = await read.row(_DELETED_DOCUMENT if deleted else _LIVE_DOCUMENT, article_number=article_number)
    return None if found is None else found[0]


PRODUCT_COLUMNS = [products.c[name] for name in Product._fields]
RECORD_COLUMNS = [classifications.c[field.name] for field in fields(Classification)]
_WITH_RECORD = (
    select(*PRODUCT_COLUMNS, *RECORD_COLUMNS)
    .outerjoin(classifications, and_(the_instance(classifications), classifications.c.id == products.c.id))
    .where(the_instance(products))
)
_LIVE = Statement(_WITH_RECORD.where(has_its_number, any_of(products.c.article_number, "article_numbers")))
_NEWEST_DELETED = Statement(
    _WITH_RECORD.where(lost_its_number, products.c.article_number == text("article_number"))
    .order_by(products.c.updated_at.desc())
    .limit(1)
)
_BY_ID = Statement(_WITH_RECORD.where(any_of(products.c.id, "ids")))


def kept_product(row: Row) -> tuple[Product, Classification | None]:
    """Read a row of `PRODUCT_COLUMNS` and `RECORD_COLUMNS`."""
    columns = len(Product._fields)
    record = row[columns:]
    # `type` is empty in no record: without one, the join leaves NULLs.
    return Product(*row[:columns]), None if record[0] is None else Classification(*record)


async def live_products(read: Read, article_numbers: Iterable[str]) -> dict[str, tuple[Product, Classification | None]]:
    """Return the products that have these numbers, with their classification records; deleted ones are left out."""
    rows = await read.rows(_LIVE, article_numbers=list(set(article_numbers)))
    kept = map(kept_product, rows)
    return {product.article_number: (product, record) for product, record in kept}


async def newest_deleted(read: Read, article_number: str) -> tuple[Product, Classification | None] | None:
    """Return the product deleted last among those that had the number."""
    found = await read.row(_NEWEST_DELETED, article_number=article_number)
    return None if found is None else kept_product(found)


async def products_by_id(read: Read, ids: Iterable[int]) -> list[tuple[Product, Classification | None]]:
    """Return products by id, deleted or not, with their classification records."""
    return [kept_product(row) for row in await read.rows(_BY_ID, ids=list(ids))]


_AFTER = Statement(
    select(*PRODUCT_COLUMNS, *RECORD_COLUMNS, products.c.document)
    .outerjoin(classifications, and_(the_instance(classifications), classifications.c.id == products.c.id))
    .where(the_instance(products), products.c.id > number("after"))
    .order_by(products.c.id)
    .limit(_AT_ONCE)
)


async def products_after(read: Read, after: int) -> list[tuple[Product, Classification | None, bytes]]:
    """Return the next 500 products by id, with their classification records and documents; for going through all."""
    return [(*kept_product(row[:-1]), row[-1]) for row in await read.rows(_AFTER, after=after)]
