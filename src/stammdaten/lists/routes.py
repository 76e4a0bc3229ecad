"""Product lists over HTTP (specification: GET lists)."""

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from stammdaten.http.requests import json_response, page_number, read_query
from stammdaten.http.routing import resource
from stammdaten.lists.queries import page_of_lists
from stammdaten.lists.shapes import rendered_list


async def list_lists(request: Request) -> Response:
    """Return a page of the product lists, deleted ones flagged."""
    page = page_number(read_query(request))
    async with request.state.store.reading(request.scope["caller"].instance_id) as read:
        rows = await page_of_lists(read, page=page)
    return json_response(to_json({"lists": [rendered_list(row) for row in rows]}))


ROUTES = [resource("/lists", GET=list_lists)]
