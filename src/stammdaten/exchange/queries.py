"""What stands of the articles in a file, for telling rows that change nothing."""

from collections.abc import Iterable

from sqlalchemy import select

from stammdaten.exchange.columns import IMPORTED, KEY
from stammdaten.exchange.rows import Cells
from stammdaten.products.tables import has_its_number, products
from stammdaten.store import Read, Row, Statement, any_of, the_instance

_FIELDS = ("list_id", *(column.field for column in IMPORTED))
_PLACES = {field: place for place, field in enumerate(_FIELDS)}
_STANDING = Statement(
    select(*(products.c[field] for field in _FIELDS)).where(
        the_instance(products), has_its_number, any_of(products.c.article_number, "article_numbers")
    )
)
_KEY, _LIST, _ARCHIVED = _PLACES[KEY], _PLACES["list_id"], _PLACES["is_archived"]


async def standing_products(read: Read, article_numbers: Iterable[str]) -> dict[str, Row]:
    """Return what stands of the products that have these numbers, for `changes_nothing`."""
    rows = await read.rows(_STANDING, article_numbers=list(article_numbers))
    return {row[_KEY]: row for row in rows}


def changes_nothing(cells: Cells, standing: Row | None, *, list_id: int) -> bool:
    """Tell whether a product has all that a row says; False also where that takes a closer look."""
    if standing is None or standing[_LIST] != list_id:
        return False
    if cells.is_archived is not None and standing[_ARCHIVED] != cells.is_archived:
        return False
    return all(standing[_PLACES[field]] == value for field, value in cells.given.items())
