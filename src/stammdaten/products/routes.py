"""Products over HTTP (specification: GET, POST, PUT products and POST products/find)."""

from starlette.requests import Request

from stammdaten.auth.callers import Caller, check_may_write_products
from stammdaten.http.answers import JsonAnswer
from stammdaten.http.fields import german_time
from stammdaten.http.requests import (
    is_truthy,
    page_number,
    read_json,
    read_query,
    whole_number,
)
from stammdaten.http.routing import resource
from stammdaten.lists.queries import lists_by_id
from stammdaten.products.operations import NewProduct, ProductUpdate, create_products, update_products
from stammdaten.products.queries import (
    ProductFilter,
    Standing,
    product_by_article_number,
    updated_products,
)
from stammdaten.products.shapes import read_create, read_find, read_update
from stammdaten.refusals import Fault, Invalid, NotFound
from stammdaten.store import Store


async def list_products(request: Request) -> JsonAnswer:
    """Return a page of the products updated after a timestamp."""
    wanted = _filter(read_query(request))
    store, caller = _at(request)
    async with store.reading(caller.instance_id, slow=wanted.is_deep) as read:
        documents = await updated_products(read, wanted)
        if not documents and wanted.list_id and not await lists_by_id(read, [wanted.list_id]):
            raise NotFound("There is no product list with this list_id.")
    return JsonAnswer(b'{"products":[%b]}' % b",".join(documents))


async def create_product(request: Request) -> JsonAnswer:
    """Create a product and return its id."""
    store, caller = _at(request)
    check_may_write_products(caller)
    list_id, article_number, values = read_create(*await read_json(request))
    row = NewProduct(caller=caller, list_id=list_id, article_number=article_number, values=values)
    product_id = await store.submit(caller.instance_id, create_products, row)
    return JsonAnswer(b'{"id":%d}' % product_id, 201)


async def update_product(request: Request) -> JsonAnswer:
    """Update a product and return the id of the newest action on it."""
    store, caller = _at(request)
    check_may_write_products(caller)
    article_number, values, reset = read_update(*await read_json(request))
    row = ProductUpdate(caller=caller, article_number=article_number, values=values, reset_classification=reset)
    action_id = await store.submit(caller.instance_id, update_products, row)
    return JsonAnswer(b'{"id":%d}' % action_id)


async def find_product(request: Request) -> JsonAnswer:
    """Return the product that has an article number."""
    store, caller = _at(request)
    article_number, deleted = read_find(*await read_json(request))
    async with store.reading(caller.instance_id) as read:
        document = await product_by_article_number(read, article_number, deleted=_is_meant(deleted))
    if document is None:
        raise NotFound("There is no product with this article_number.")
    return JsonAnswer(b'{"product":%b}' % document)


def _at(request: Request) -> tuple[Store, Caller]:
    return request.scope["state"]["store"], request.scope["caller"]


def _filter(query: dict[str, str]) -> ProductFilter:
    timestamp = query.get("timestamp")
    if timestamp is None:
        raise Invalid([Fault("timestamp", "is required: ISO 8601, e.g. 2026-11-21T09:30:00.000000")])
    return ProductFilter(
        timestamp=german_time("timestamp", timestamp),
        standing=_standing(query),
        list_id=whole_number(query, "list_id"),
        page=page_number(query),
    )


def _standing(query: dict[str, str]) -> Standing:
    if is_truthy(query.get("deleted")):
        return Standing.DELETED
    if query.get("include_archived", "").lower() in {"true", "1"}:
        return Standing.CURRENT
    return Standing.LIVE


def _is_meant(deleted: object) -> bool:
    # Any JSON value is taken; the words that a query takes for false are false here too (decisions: Products).
    return is_truthy(deleted) if isinstance(deleted, str) else bool(deleted) or isinstance(deleted, dict | list)


ROUTES = [
    resource("/products", GET=list_products, POST=create_product, PUT=update_product),
    resource("/products/find", POST=find_product),
]
