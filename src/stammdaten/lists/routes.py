"""Product lists over HTTP (specification: GET lists)."""

from pydantic_core import to_json
from starlette.requests import Request

from stammdaten.http.answers import JsonAnswer
from stammdaten.http.requests import page_number, read_query
from stammdaten.http.routing import resource
from stammdaten.lists.queries import page_of_lists
from stammdaten.lists.shapes import rendered_list


async def list_lists(request: Request) -> JsonAnswer:
    """Return a page of the product lists, deleted ones flagged."""
    page = page_number(read_query(request))
    async with request.scope["state"]["store"].reading(request.scope["caller"].instance_id) as read:
        rows = await page_of_lists(read, page=page)
    return JsonAnswer(to_json({"lists": [rendered_list(row) for row in rows]}))


ROUTES = [resource("/lists", GET=list_lists)]
