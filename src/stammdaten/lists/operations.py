"""Making and deleting product lists; an operator's business, the interface only reads them."""

import re
import unicodedata
from itertools import count

from sqlalchemy import select, update

from stammdaten.lists.queries import list_id_by_slug
from stammdaten.lists.tables import lists
from stammdaten.refusals import AlreadyExists, Fault, Invalid, NotFound, check_name
from stammdaten.store import Statement, Write, number, text, the_instance

_SLUG = re.compile(r"[a-z0-9-]{1,63}")
_LONGEST_SLUG = 63
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

_DELETE = Statement(
    update(lists)
    .where(the_instance(lists), lists.c.id == number("list_id"))
    .values(is_deleted=True, updated_at=text("stamp"))
)
_IS_DELETED = Statement(select(lists.c.is_deleted).where(the_instance(lists), lists.c.id == number("list_id")))


def slug_of(name: str) -> str:
    """Make a slug of a name, e.g. `Ersatzteile & Zubehör` becomes `ersatzteile-zubehoer`."""
    latin = unicodedata.normalize("NFKD", name.lower().translate(_GERMAN)).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", latin).strip("-")[:_LONGEST_SLUG].rstrip("-") or "list"


async def create_list(write: Write, *, name: str, slug: str | None) -> int:
    """Create a product list and return its id; without a slug one is made of the name, numbered where it is in use.

    :raises Invalid: if the name cannot be shown or the slug is not made of `[a-z0-9-]`.
    :raises AlreadyExists: if the given slug is in use, be it by a deleted list.
    """
    check_name("name", name)
    if slug is None:
        slug = await _free_slug(write, slug_of(name))
    elif not _SLUG.fullmatch(slug):
        raise Invalid([Fault("slug", "must be 1 to 63 characters of a-z, 0-9 and -")])
    elif await list_id_by_slug(write, slug) is not None:
        raise AlreadyExists(f"There is a product list with the slug {slug!r} already.")
    list_id, stamp = write.next_id(), write.product_stamp()
    await write.insert(lists, [(list_id, slug, name.strip(), stamp, stamp, False)])
    return list_id


async def _free_slug(write: Write, slug: str) -> str:
    if await list_id_by_slug(write, slug) is None:
        return slug
    for attempt in count(2):
        ending = f"-{attempt}"
        numbered = slug[: _LONGEST_SLUG - len(ending)] + ending
        if await list_id_by_slug(write, numbered) is None:
            return numbered
    raise AssertionError("counting does not end")


async def delete_list(write: Write, *, list_id: int) -> None:
    """Mark a list as deleted: it takes no new products, and keeps those it has.

    :raises NotFound: if there is no such list that is not deleted.
    """
    found = await write.row(_IS_DELETED, list_id=list_id)
    if found is None or found[0]:
        raise NotFound("There is no such product list.")
    await write.run(_DELETE, list_id=list_id, stamp=write.product_stamp())
