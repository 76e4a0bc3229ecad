"""Contacts of a service that asks a yente server: gray first, then what the server says, by a job."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from stammdaten.contacts.deciding import Decision, decide_matches
from stammdaten.settings import Settings
from tests.cast import Member, Service, make_contact
from tests.made_lists import settle

LISTED = "Quistorp"


class Yente(ThreadingHTTPServer):
    """A stand-in that finds whoever is called Quistorp, as long as it is there at all."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.is_away = False
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Yente

    def do_POST(self) -> None:
        """Answer in the format of yente's `POST /match/{dataset}`."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        ((query_id, query),) = body["queries"].items()
        self.server.asked.append(query)
        found = [_ENTITY] if LISTED in query["properties"]["name"][0] else []
        answer = {"responses": {query_id: {"status": 200, "results": found, "total": {"value": len(found)}}}}
        sent = json.dumps(answer).encode()
        self.send_response(503 if self.server.is_away else 200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


_ENTITY = {
    "id": "NK-1",
    "caption": "Zoltan Quistorp",
    "schema": "Person",
    "properties": {"name": ["Zoltan Quistorp"], "country": ["hu"]},
    "datasets": ["made_up"],
    "score": 0.86,
    "match": True,
    "features": {},
}


@pytest.fixture(scope="module")
def yente() -> Iterator[Yente]:
    """The stand-in."""
    with Yente() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def remote(copied: Callable[[], Settings], yente: Yente) -> Iterator[Service]:
    """A service that asks it."""
    with Service(replace(copied(), yente_url=yente.url)) as running:
        yield running


@pytest.fixture
def emil(remote: Service) -> Member:
    """EMIL: a clerk whose contacts are checked elsewhere."""
    return remote.member("emil", roles=["api-user"])


def contact(member: Member, uid: str = "K-1") -> dict[str, Any]:
    """Return a contact as the interface shows it."""
    found: dict[str, Any] = member.get(f"/contacts/{uid}").json()["contact"]
    return found


class TestRemote:
    """A server that is asked instead of lists in memory."""

    def test_is_asked_by_a_job(self, remote: Service, emil: Member) -> None:
        listed = make_contact(emil, "K-1", first_name="Zoltan", last_name=LISTED)
        other = make_contact(emil, "K-2", first_name="Annegret", last_name="Kühnemund")

        settle(remote)

        assert [listed["status"], other["status"]] == ["gray", "gray"]
        assert listed["sanctions_check_result"]["reason"] == "The check is done by another server; it follows."
        found = contact(emil, "K-1")
        assert (found["status"], found["sanctions_check"]) == ("yellow", "potential_match")
        assert [(match["list"], match["score"]) for match in found["matches"]] == [("yente:default", 0.86)]
        assert found["sanctions_check_result"]["algorithm"] == "yente"
        assert contact(emil, "K-2")["status"] == "green"

    def test_leaves_contacts_gray_while_it_is_away(self, copied: Callable[[], Settings], yente: Yente) -> None:
        # A service of its own: the job is tried again long after the other tests.
        with Service(replace(copied(), yente_url=yente.url)) as service:
            member = service.member("emil", roles=["api-user"])
            yente.is_away = True
            try:
                make_contact(member, "K-1", first_name="Zoltan", last_name=LISTED)
                service.work()
                away = contact(member)
            finally:
                yente.is_away = False

        assert (away["status"], away["sanctions_check"]) == ("gray", "unchecked")

    def test_is_not_asked_for_what_cannot_be_compared(self, remote: Service, emil: Member, yente: Yente) -> None:
        make_contact(emil, "K-1", last_name="???")
        settle(remote)

        assert (contact(emil)["status"], contact(emil)["sanctions_check"]) == ("gray", "failed")
        assert "???" not in [query["properties"]["name"][0] for query in yente.asked]

    def test_does_not_let_go_of_whom_a_person_confirmed(self, remote: Service, emil: Member) -> None:
        make_contact(emil, "K-1", first_name="Zoltan", last_name=LISTED)
        settle(remote)
        (match,) = contact(emil)["matches"]
        emil.submit(decide_matches, Decision("K-1", match["id"], "confirmed", "It is him.", "Berta"))

        emil.put("/contacts/K-1", {"contact": {"first_name": "Annegret", "last_name": "Kühnemund"}})
        settle(remote)

        assert contact(emil)["status"] == "red"
