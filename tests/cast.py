"""The people of the tests and what they do: members who speak HTTP, and makers that state the defaults once."""

import itertools
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2 as httpx
from starlette.testclient import TestClient

from stammdaten.app import create_app, jobs
from stammdaten.auth import operations as auth
from stammdaten.auth import queries as auth_queries
from stammdaten.auth.callers import Caller
from stammdaten.jobs.running import Worker
from stammdaten.lists.operations import create_list
from stammdaten.screening.current import Screening
from stammdaten.settings import Settings
from stammdaten.store import Store, Write
from stammdaten.store.batches import Operation
from tests.contract import check_answer

T = TypeVar("T")

_numbers = itertools.count(1)


class Member:
    """A user with a token; paths are below `/api/{prefix}/v1`."""

    def __init__(
        self, service: "Service", *, prefix: str, instance_id: int, name: str, token: str, list_id: int
    ) -> None:
        self.service = service
        self.prefix = prefix
        self.instance_id = instance_id
        self.name = name
        self.token = token
        self.list_id = list_id

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Send a request with the token; what the contract does not allow is an AssertionError."""
        headers = {"Authorization": f"Bearer {self.token}", **given.pop("headers", {})}
        return self.service.request(method, f"/api/{self.prefix}/v1{path}", headers=headers, **given)

    def get(self, path: str, **query: object) -> httpx.Response:
        """GET with a query; None is left out."""
        return self.request("GET", path, params={name: value for name, value in query.items() if value is not None})

    def post(self, path: str, body: object) -> httpx.Response:
        """POST a JSON body."""
        return self.request("POST", path, json=body)

    def put(self, path: str, body: object) -> httpx.Response:
        """PUT a JSON body."""
        return self.request("PUT", path, json=body)

    def delete(self, path: str) -> httpx.Response:
        """DELETE."""
        return self.request("DELETE", path)

    def submit(self, operation: Operation, row: object) -> Any:
        """Apply an operation as a command does, for what the interface does not offer."""
        return self.service.run(lambda store: store.submit(self.instance_id, operation, row))


class Service:
    """The app in a thread with an event loop of its own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._client = TestClient(create_app(settings), raise_server_exceptions=False)

    def __enter__(self) -> Self:
        self._client.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.__exit__(kind, error, trace)

    @property
    def store(self) -> Store:
        """The store of the running app; use it by `run`."""
        store: Store = self._client.app_state["store"]
        return store

    @property
    def screening(self) -> Screening:
        """The lists as the running app knows them; use it by `run`."""
        screening: Screening = self._client.app_state["screening"]
        return screening

    def work(self) -> None:
        """Do the jobs that are due now, beside the app's own worker, which looks every few seconds."""

        async def work(store: Store) -> None:
            worker = Worker(store, jobs(self.screening), ())
            while await worker.work_once():
                pass

        self.run(work)

    def run(self, work: Callable[[Store], Awaitable[T]]) -> T:
        """Run work on the store, in the app's event loop."""

        async def run() -> T:
            return await work(self.store)

        assert self._client.portal is not None
        return self._client.portal.call(run)

    def write(self, instance_id: int, work: Callable[[Write], Awaitable[T]]) -> T:
        """Run work in a transaction of an instance."""
        return self.run(lambda store: store.writing(instance_id, work))

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Send a request as it is; what the contract does not allow is an AssertionError."""
        response = self._client.request(method, path, **given)
        check_answer(method, path, response)
        return response

    def member(self, name: str, *, roles: list[str]) -> Member:
        """Make an account with its three instances, a list in the live one, and a member with a token there."""
        prefix = f"{name}-{next(_numbers)}"
        self.run(
            lambda store: store.writing_shared(lambda write: auth.create_account(write, name=prefix, prefix=prefix))
        )

        async def join(write: Write) -> tuple[str, int]:
            return await _join(write, name, roles), await create_list(write, name="Spare Parts", slug=None)

        instance_id = self.instance_id(prefix)
        token, list_id = self.write(instance_id, join)
        return Member(self, prefix=prefix, instance_id=instance_id, name=name, token=token, list_id=list_id)

    def colleague(self, other: Member, name: str, *, roles: list[str]) -> Member:
        """Make another member of somebody's instance, with a token there."""
        at = other.instance_id
        token = self.write(at, lambda write: _join(write, name, roles))
        return Member(self, prefix=other.prefix, instance_id=at, name=name, token=token, list_id=other.list_id)

    def instance_id(self, prefix: str) -> int:
        """Return the id of an instance."""

        async def look(store: Store) -> int:
            async with store.reading_shared() as read:
                found = await auth_queries.instance_by_prefix(read, prefix)
            assert found is not None
            return found[0]

        return self.run(look)


async def _join(write: Write, name: str, roles: list[str]) -> str:
    await auth.create_user(write, name=name, roles=roles)
    return await auth.create_token(write, user_name=name, days=None)


def caller_of(member: Member) -> Caller:
    """Return a member as operations see them."""
    return Caller(member.instance_id, member.prefix, 1, member.name, frozenset({"api-user"}))


def make_list(member: Member, name: str = "Spare Parts") -> int:
    """Make a product list and return its id."""
    return member.service.write(member.instance_id, lambda write: create_list(write, name=name, slug=None))


def make_product(member: Member, article_number: str = "A-1", **fields: object) -> int:
    """Create a product over HTTP and return its id."""
    product = {"article_number": article_number, "designation": "Hex bolt M8", **fields}
    response = member.post("/products", {"list_id": member.list_id, "product": product})
    assert response.status_code == 201, response.text
    return int(response.json()["id"])


def found_product(member: Member, article_number: str = "A-1", **given: object) -> dict[str, Any]:
    """Find a product over HTTP."""
    response = member.post("/products/find", {"article_number": article_number, **given})
    assert response.status_code == 200, response.text
    product: dict[str, Any] = response.json()["product"]
    return product


def make_contact(member: Member, contact_uid: str = "K-1", **fields: object) -> dict[str, Any]:
    """Create a contact over HTTP and return it."""
    contact = {"contact_uid": contact_uid, "last_name": "Lindgren", **fields}
    response = member.post("/contacts", {"contact": contact})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()["contact"]
    return made
