"""Product lists as they are read."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select

from stammdaten.lists.tables import lists
from stammdaten.store import Read, Row, Statement, any_of, number, text, the_instance

PAGE_SIZE = 30

_LISTS = Statement(
    select(lists.c.id, lists.c.slug, lists.c.name, lists.c.inserted_at, lists.c.updated_at, lists.c.is_deleted)
    .where(the_instance(lists))
    .order_by(lists.c.id)
    .limit(number("limit"))
    .offset(number("offset"))
)
_STANDING = Statement(select(lists.c.id, lists.c.is_deleted).where(the_instance(lists), any_of(lists.c.id, "ids")))
_ID = Statement(select(lists.c.id).where(the_instance(lists), lists.c.slug == text("slug")))
_NAMES = Statement(select(lists.c.id, lists.c.name).where(the_instance(lists), any_of(lists.c.id, "ids")))
_LIVE = Statement(
    select(lists.c.id, lists.c.slug).where(the_instance(lists), lists.c.is_deleted.is_not(True)).order_by(lists.c.id)
)


async def page_of_lists(read: Read, *, page: int) -> list[Row]:
    """Return id, slug, name, times and deletion flag of 30 lists, deleted ones among them, by id."""
    return await read.rows(_LISTS, limit=PAGE_SIZE, offset=(page - 1) * PAGE_SIZE)


async def lists_by_id(read: Read, ids: Iterable[int]) -> dict[int, bool]:
    """Return which of the lists exist, and whether each is deleted."""
    found: list[Any] = await read.rows(_STANDING, ids=sorted(set(ids)))
    return dict(found)


async def list_id_by_slug(read: Read, slug: str) -> int | None:
    """Return the id of a list, deleted or not."""
    found = await read.row(_ID, slug=slug)
    return None if found is None else int(found[0])


async def list_names(read: Read, ids: Iterable[int]) -> dict[int, str]:
    """Return the names of lists, deleted or not, by id."""
    found: list[Any] = await read.rows(_NAMES, ids=sorted(set(ids)))
    return dict(found)


async def live_lists(read: Read) -> dict[str, int]:
    """Return the ids of the lists that are not deleted, by slug."""
    return {slug: list_id for list_id, slug in await read.rows(_LIVE)}
