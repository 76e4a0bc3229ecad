"""A client generated from `openapi/v1.yaml` asks the live service whatever the contract allows, and what it does not.

No answer may be a 500, or one that the contract does not know: its status, headers and body for every operation, what
is valid accepted, what is not refused, and nothing without a token. Asked are the contract's own examples, each field
at and beyond each of its limits, and what chance brings. Chance is the same in each run, so that a landing does not
hang on luck; to look further, run with `STAMMDATEN_FUZZ_EXAMPLES=1000`.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CheckFunction, load_all_checks
from schemathesis.specs.openapi.checks import allow_header_conformance, positive_data_acceptance

from stammdaten.auth import operations as auth
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.lists.operations import create_list
from stammdaten.settings import Settings
from stammdaten.store import Write, open_store
from tests.contract import CONTRACT
from tests.processes import PATIENCE, Served

PREFIX = "acme"
CHOSEN = os.environ.get("STAMMDATEN_FUZZ_EXAMPLES")

CONTRACTED = schemathesis.openapi.from_path(CONTRACT)
CONTRACTED.config.parameters = {"prefix": PREFIX}
# Unknown parameters are ignored (decisions: Errors); tokens are a matter of the checks, which ask again without one.
CONTRACTED.config.generation.update(allow_extra_parameters=False, with_security_parameters=False)
# A thousand and one notes do not fit into a body.
CONTRACTED.config.checks.negative_data_rejection.expected_statuses.append("413")

chance = settings(
    max_examples=int(CHOSEN or 20),
    deadline=None,
    derandomize=CHOSEN is None,
    database=None,
    suppress_health_check=list(HealthCheck),
    # To find the smallest example costs more requests than to find one.
    phases=(Phase.explicit, Phase.generate) if CHOSEN is None else tuple(Phase),
)

# What is there before, so that not every request asks for something that is not.
ARTICLE_NUMBERS = ("A-1", 'Übergröße 3/4"', "品番 7", "%_\\")
SLUG = "spare-parts"
CONTACT_UIDS = ("K-1", "DE/70012", "Łódź %", "find")


@dataclass
class Fuzzed:
    """A service with a few products and contacts, and how to reach it."""

    url: str
    headers: dict[str, str]
    session: requests.Session
    list_id: int
    import_id: int = 0

    def fill(self) -> None:
        """Create what is there before."""
        url = f"{self.url}/api/{PREFIX}/v1/lists/{SLUG}/import"
        ordered = self.session.post(url, data=b"article_number\n\n1", headers=self.headers, timeout=PATIENCE)
        self.import_id = ordered.json()["import"]["id"]
        for number in ARTICLE_NUMBERS:
            product = {"article_number": number, "designation": "Hex bolt M8"}
            self._create("products", {"list_id": self.list_id, "product": product})
        for uid in CONTACT_UIDS:
            self._create("contacts", {"contact": {"contact_uid": uid, "last_name": "Lindgren"}})

    def _create(self, kind: str, body: Any) -> None:
        url = f"{self.url}/api/{PREFIX}/v1/{kind}"
        created = self.session.post(url, json=body, headers=self.headers, timeout=PATIENCE)
        assert created.status_code == 201, created.text


def make_account(settings: Settings) -> tuple[str, int]:
    """Make an account as commands do; return a token and the id of a list."""

    async def make() -> tuple[str, int]:
        async with await open_store(settings) as store:
            await store.writing_shared(lambda write: auth.create_account(write, name=PREFIX, prefix=PREFIX))
            async with store.reading_shared() as read:
                found = await instance_by_prefix(read, PREFIX)
            assert found is not None
            return await store.writing(found[0], join)

    async def join(write: Write) -> tuple[str, int]:
        await auth.create_user(write, name="anna", roles=["api-user", "client-admin"])
        token = await auth.create_token(write, user_name="anna", days=None)
        return token, await create_list(write, name="Spare Parts", slug=None)

    return asyncio.run(make())


@pytest.fixture(scope="module")
def fuzzed(copied: Callable[[], Settings]) -> Iterator[Fuzzed]:
    """A service of this file's own."""
    load_all_checks()
    settings = copied()
    token, list_id = make_account(settings)
    with Served(settings) as service, requests.Session() as session:
        running = Fuzzed(service.url, {"Authorization": f"Bearer {token}"}, session, list_id)
        running.fill()
        yield running


_turns = count()


def make_it_meant(case: Any, fuzzed: Fuzzed) -> None:
    """Let a valid request be about what is there: an existing list always, a known product or contact at times."""
    body = case.body if isinstance(case.body, dict) else {}
    if "list_id" in body:
        body["list_id"] = fuzzed.list_id
    turn = next(_turns) % (2 * len(CONTACT_UIDS))
    if turn >= len(CONTACT_UIDS):
        return
    if "article_number" in body:
        body["article_number"] = ARTICLE_NUMBERS[turn]
    if "contact_uid" in body:
        body["contact_uid"] = CONTACT_UIDS[turn]
    if "contact_uid" in case.path_parameters:
        case.path_parameters["contact_uid"] = CONTACT_UIDS[turn]
    if "slug" in case.path_parameters:
        case.path_parameters["slug"] = SLUG
    if "import_id" in case.path_parameters:
        case.path_parameters["import_id"] = fuzzed.import_id


def excused(case: Any, response: Any) -> list[CheckFunction]:
    """Return the checks that an answer need not pass."""
    if response.status_code == 400 and response.text == '{"message":"Contact already exists"}':
        # The specification's way to refuse what is valid (Errors, Contact endpoints).
        return [positive_data_acceptance]
    if case.operation.path.endswith("/contacts/find"):
        # The other methods reach a contact whose uid is `find`.
        return [allow_header_conformance]
    return []


class TestContract:
    """Every operation of the contract."""

    @CONTRACTED.parametrize()
    @chance
    def test_is_kept(self, case: Any, fuzzed: Fuzzed) -> None:
        if case.meta.generation.mode.is_positive:
            make_it_meant(case, fuzzed)

        response = case.call(base_url=fuzzed.url, headers=fuzzed.headers, session=fuzzed.session, timeout=PATIENCE)

        case.validate_response(
            response,
            excluded_checks=excused(case, response),
            headers=fuzzed.headers,
            transport_kwargs={"base_url": fuzzed.url, "session": fuzzed.session},
        )
