"""A client generated from `openapi/v1.yaml` asks the live service whatever the contract allows, and what it does not.

No answer may be a 500, or one that the contract does not know: its status, headers and body for every operation, what
is valid accepted, what is not refused, and nothing without a token. The examples are the same in each run, so that a
landing does not hang on luck; to look further, run with `STAMMDATEN_FUZZ_EXAMPLES=1000`.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import load_all_checks
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from stammdaten.auth import operations as auth
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.lists.operations import create_list
from stammdaten.settings import Settings
from stammdaten.store import Write, open_store
from tests.contract import CONTRACT
from tests.processes import Served

PREFIX = "acme"
CHOSEN = os.environ.get("STAMMDATEN_FUZZ_EXAMPLES")
EXAMPLES = int(CHOSEN or 30)
PATIENCE = 30

CONTRACTED = schemathesis.openapi.from_path(CONTRACT)
# Unknown parameters are ignored (decisions: Errors); tokens are a matter of the checks, which ask again without one.
CONTRACTED.config.generation.update(allow_extra_parameters=False, with_security_parameters=False)
OPERATIONS = {found.ok().definition.raw["operationId"]: found.ok() for found in CONTRACTED.get_all_operations()}
TAKES_NOTHING = {"live", "ready", "metrics", "openapi", "docs"}

# What is there before, so that not every request asks for something that is not.
ARTICLE_NUMBERS = ("A-1", 'Übergröße 3/4"', "品番 7", "%_\\")
CONTACT_UIDS = ("K-1", "DE/70012", "Łódź %", "find")
known = st.none() | st.integers(0, 3)


@dataclass
class Fuzzed:
    """A service with a few products and contacts, and how to reach it."""

    url: str
    headers: dict[str, str]
    session: requests.Session
    list_id: int

    def fill(self) -> None:
        """Create what is there before."""
        for number in ARTICLE_NUMBERS:
            product = {"article_number": number, "designation": "Hex bolt M8"}
            self._create("products", {"list_id": self.list_id, "product": product})
        for uid in CONTACT_UIDS:
            self._create("contacts", {"contact": {"contact_uid": uid, "last_name": "Lindgren"}})

    def _create(self, kind: str, body: object) -> None:
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


def make_it_meant(case: Any, fuzzed: Fuzzed, number: int | None) -> None:
    """Let a valid request be about what is there: an existing list always, a known product or contact at times."""
    body = case.body if isinstance(case.body, dict) else {}
    if "list_id" in body:
        body["list_id"] = fuzzed.list_id
    if number is None:
        return
    if "article_number" in body:
        body["article_number"] = ARTICLE_NUMBERS[number]
    if "contact_uid" in body:
        body["contact_uid"] = CONTACT_UIDS[number]
    if "contact_uid" in case.path_parameters:
        case.path_parameters["contact_uid"] = CONTACT_UIDS[number]


def ask(fuzzed: Fuzzed, case: Any) -> None:
    """Send a request and hold the answer against the contract."""
    response = case.call(base_url=fuzzed.url, headers=fuzzed.headers, session=fuzzed.session, timeout=PATIENCE)
    # The specification's way to say that a valid contact is there already (Errors, Contact endpoints).
    is_duplicate = response.status_code == 400 and response.json() == {"message": "Contact already exists"}
    case.validate_response(
        response,
        excluded_checks=[positive_data_acceptance] if is_duplicate else [],
        headers=fuzzed.headers,
        transport_kwargs={"base_url": fuzzed.url, "session": fuzzed.session},
    )


def fuzz(name: str, mode: GenerationMode, each: Callable[[Any, int | None], None]) -> None:
    """Generate requests of an operation, and do something with each."""
    operation = OPERATIONS[name]
    fixed = {"prefix": PREFIX} if "{prefix}" in operation.path else {}
    run = given(operation.as_strategy(generation_mode=mode, path_parameters=fixed), known)(each)
    run = settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=CHOSEN is None,
        database=None,
        suppress_health_check=list(HealthCheck),
        # To find the smallest example costs more requests than to find one.
        phases=(Phase.explicit, Phase.generate) if CHOSEN is None else tuple(Phase),
    )(run)
    run()


class TestFuzzed:
    """Every operation of the contract."""

    @pytest.mark.parametrize("name", OPERATIONS)
    def test_answers_what_is_valid_as_the_contract_says(self, fuzzed: Fuzzed, name: str) -> None:
        def each(case: Any, number: int | None) -> None:
            make_it_meant(case, fuzzed, number)
            ask(fuzzed, case)

        fuzz(name, GenerationMode.POSITIVE, each)

    @pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in TAKES_NOTHING])
    def test_refuses_what_is_not_valid_as_the_contract_says(self, fuzzed: Fuzzed, name: str) -> None:
        def each(case: Any, _: int | None) -> None:
            ask(fuzzed, case)

        fuzz(name, GenerationMode.NEGATIVE, each)
