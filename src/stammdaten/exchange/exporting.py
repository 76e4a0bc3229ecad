"""Exporting a list as CSV, some rows at a time; what was exported can be imported again without any change."""

import csv
import io
from collections.abc import AsyncIterator

from sqlalchemy import and_, select

from stammdaten.classification.tables import classifications
from stammdaten.clock import german_stamp, utc_now
from stammdaten.exchange.columns import HEADER, exported_row
from stammdaten.products.queries import PRODUCT_COLUMNS, RECORD_COLUMNS, kept_product
from stammdaten.products.tables import has_its_number, products
from stammdaten.store import Statement, Store, number, text, the_instance

_AT_ONCE = 500

_ROWS = Statement(
    select(*PRODUCT_COLUMNS, *RECORD_COLUMNS)
    .outerjoin(classifications, and_(the_instance(classifications), classifications.c.id == products.c.id))
    .where(
        the_instance(products),
        has_its_number,
        products.c.list_id == number("list_id"),
        products.c.updated_at > text("since"),
        products.c.id > number("after"),
    )
    .order_by(products.c.id)
    .limit(_AT_ONCE)
)


def export_name(slug: str) -> str:
    """Name the file of an export: the list's slug and the German time."""
    return f"stammdaten___{slug}.{german_stamp(utc_now())[:16].translate(_DOTS)}.csv"


_DOTS = str.maketrans("-T:", "...")


async def exported(store: Store, instance_id: int, *, list_id: int, since: str = "") -> AsyncIterator[bytes]:
    """Return the lines of an export, archived products among them, changed after a German stamp; the header first."""
    yield _lines([list(HEADER)])
    after = 0
    while True:
        async with store.reading(instance_id, slow=True) as read:
            rows = await read.rows(_ROWS, list_id=list_id, since=since, after=after)
        if not rows:
            return
        kept = [kept_product(row) for row in rows]
        yield _lines([exported_row(product, record) for product, record in kept])
        after = kept[-1][0].id


def _lines(rows: list[list[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, delimiter=";", lineterminator="\r\n").writerows(rows)
    return written.getvalue().encode()
