"""What a process does at its door, byte by byte: who is too slow, too large or unintelligible, and what is noted of it.

`door` is one service a module and engine, as patient as the tests; `hasty` waits two seconds for headers and bodies.
Tests speak to them over sockets of their own, because a proper client sends nothing that is wrong. Some of those of
the metrics begin their own.
"""

import asyncio
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2 as httpx
import pytest

from stammdaten.auth import operations as auth
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.lists.operations import create_list
from stammdaten.settings import Settings
from stammdaten.store import Write, open_store
from tests.contract import CONTRACT
from tests.processes import PATIENCE, Served, free_port, wait_until

LARGEST_BODY = 1024 * 1024
LARGEST_HEADERS = 256 * 1024
PREFIX = "acme"
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}

_numbers = count(1)


@dataclass
class Answer:
    """An answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


class Wire:
    """A connection to a service, on which anything can be sent."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket()
        self._socket.settimeout(PATIENCE)
        # Small, so that a long answer waits for its reader; before it connects, or the window may be larger.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.connect(("127.0.0.1", port))
        self._received = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._received.close()
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._socket.sendall(data)

    def request(self, method: str, path: str, *headers: str, body: bytes = b"") -> None:
        """Send a request, with the length of its body if it has one."""
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join([*lines, "", ""]).encode() + body)

    def answer(self, *, is_head: bool = False) -> Answer:
        """Read the next answer."""
        status_line = self._received.readline()
        assert status_line.startswith(b"HTTP/1.1 "), status_line
        status = int(status_line.split()[1])
        headers: dict[str, str] = {}
        while (line := self._received.readline()) not in {b"\r\n", b""}:
            name, _, value = line.decode().partition(":")
            assert name.lower() not in headers
            headers[name.lower()] = value.strip()
        length = 0 if is_head or status == 100 else int(headers.get("content-length", "0"))
        return Answer(status, headers, self._received.read(length))

    def is_closed(self) -> bool:
        """Whether the other side has closed the connection, having said nothing more; waits for either."""
        try:
            return self._received.read(1) == b""
        except ConnectionResetError:
            return True

    def rest(self) -> bytes:
        """Return all that comes until the other side closes the connection."""
        return self._received.read()

    def is_cut_off_while_sending(self, piece: bytes) -> bool:
        """Send a piece again and again, a little too slowly; return whether the other side put an end to it."""
        self._socket.settimeout(0.2)
        for _ in range(PATIENCE * 5):
            try:
                self.send(piece)
                if self._socket.recv(1) == b"":
                    return True
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                return True
        return False


@dataclass
class Door:
    """A service, and a token that opens it."""

    service: Served
    token: str
    list_id: int

    @property
    def authorization(self) -> str:
        """The header that a request needs."""
        return f"Authorization: Bearer {self.token}"

    def wire(self) -> Wire:
        """Connect."""
        return Wire(self.service.port)

    def path(self, path: str) -> str:
        """Return a path below the prefix."""
        return f"/api/{PREFIX}/v1{path}"

    def product(self, article_number: str, **fields: object) -> bytes:
        """Return a body that creates a product."""
        product = {"article_number": article_number, "designation": "Hex bolt M8", **fields}
        return json.dumps({"list_id": self.list_id, "product": product}).encode()

    def ask(self, method: str, path: str, *headers: str, body: bytes = b"") -> Answer:
        """Send a request with the token on a connection of its own, and read the answer."""
        with self.wire() as wire:
            wire.request(method, path, self.authorization, *headers, body=body)
            return wire.answer(is_head=method == "HEAD")

    def exists(self, article_number: str) -> bool:
        """Whether there is such a product."""
        body = json.dumps({"article_number": article_number}).encode()
        return self.ask("POST", self.path("/products/find"), body=body).status == 200


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
        await auth.create_user(write, name="anna", roles=["api-user"])
        token = await auth.create_token(write, user_name="anna", days=None)
        return token, await create_list(write, name="Spare Parts", slug=None)

    return asyncio.run(make())


@pytest.fixture(scope="module")
def door(copied: Callable[[], Settings]) -> Iterator[Door]:
    """A service that nobody is too slow for."""
    settings = copied()
    made = make_account(settings)
    with Served(settings, body_timeout=PATIENCE) as service:
        yield Door(service, *made)


@pytest.fixture(scope="module")
def hasty(copied: Callable[[], Settings]) -> Iterator[Door]:
    """A service that waits two seconds for headers and bodies."""
    settings = copied()
    made = make_account(settings)
    with Served(settings, body_timeout=2) as service:
        yield Door(service, *made)


class TestSlowClient:
    """Who takes longer than STAMMDATEN_BODY_TIMEOUT over headers or body."""

    def test_who_says_nothing_is_cut_off(self, hasty: Door) -> None:
        with hasty.wire() as wire:
            assert wire.is_closed()

    def test_with_slow_headers_is_cut_off(self, hasty: Door) -> None:
        with hasty.wire() as wire:
            wire.send(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n")

            assert wire.is_cut_off_while_sending(b"X-Slow: yes\r\n")

    def test_with_blank_lines_for_headers_is_cut_off(self, hasty: Door) -> None:
        with hasty.wire() as wire:
            wire.request("GET", "/health/live")
            assert wire.answer().status == 200

            assert wire.is_cut_off_while_sending(b"\r\n")

    def test_with_slow_headers_is_cut_off_on_a_connection_in_use(self, hasty: Door) -> None:
        with hasty.wire() as wire:
            wire.request("GET", "/health/live")
            assert wire.answer().status == 200

            wire.send(b"GET /health/live HTTP/1.1\r\n")
            assert wire.is_cut_off_while_sending(b"X-Slow: yes\r\n")

    @pytest.mark.parametrize(
        ("header", "piece"), [("Content-Length: 100000", b" "), ("Transfer-Encoding: chunked", b"1\r\n \r\n")]
    )
    def test_with_a_slow_body_is_cut_off(self, hasty: Door, header: str, piece: bytes) -> None:
        with hasty.wire() as wire:
            wire.request("POST", hasty.path("/products"), hasty.authorization, header)

            assert wire.is_cut_off_while_sending(piece)

    def test_whose_body_ends_early_changes_nothing(self, hasty: Door) -> None:
        body = hasty.product("cut off")
        with hasty.wire() as wire:
            wire.request("POST", hasty.path("/products"), hasty.authorization, f"Content-Length: {len(body) + 1}")
            wire.send(body)
            assert wire.is_closed()

        assert not hasty.exists("cut off")

    def test_may_take_its_time_between_requests(self, hasty: Door) -> None:
        with hasty.wire() as wire:
            wire.request("GET", "/health/live")
            assert wire.answer().status == 200
            time.sleep(2.5)

            wire.request("GET", "/health/live")

            assert wire.answer().status == 200

    def test_may_take_the_time_over_each_of_headers_and_body(self, fresh: Settings) -> None:
        made = make_account(fresh)
        with Served(fresh, body_timeout=6) as service:
            door = Door(service, *made)
            body = door.product("unhurried")
            with door.wire() as wire:
                wire.send(f"POST {door.path('/products')} HTTP/1.1\r\n".encode())
                time.sleep(3.2)
                wire.send(f"Host: x\r\n{door.authorization}\r\nContent-Length: {len(body)}\r\n\r\n".encode())
                time.sleep(3.2)
                wire.send(body)

                assert wire.answer().status == 201


class TestLargeBody:
    """Bodies over 1 MiB."""

    def test_is_refused_by_its_announced_length(self, door: Door) -> None:
        with door.wire() as wire:
            wire.request("POST", door.path("/products"), door.authorization, f"Content-Length: {LARGEST_BODY + 1}")

            answer = wire.answer()

        assert answer.status == 413
        assert answer.json == {"reason": f"The body must not be larger than {LARGEST_BODY} bytes."}

    @pytest.mark.parametrize("length", ["20000000", "9" * 18])
    def test_is_refused_however_large(self, door: Door, length: str) -> None:
        with door.wire() as wire:
            wire.request("POST", door.path("/contacts"), door.authorization, f"Content-Length: {length}")

            answer = wire.answer()

        assert (answer.status, list(answer.json)) == (413, ["message"])

    def test_is_refused_before_it_has_ended(self, door: Door) -> None:
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        with door.wire() as wire:
            wire.request("POST", door.path("/products"), door.authorization, "Transfer-Encoding: chunked")
            # One more than fit; what would end the body is not sent.
            for _ in range(LARGEST_BODY // 0x10000):
                wire.send(chunk)
            wire.send(b"1\r\n \r\n")

            answer = wire.answer()

        assert (answer.status, list(answer.json)) == (413, ["reason"])

    def test_of_just_that_size_is_read(self, door: Door) -> None:
        body = door.product("large").ljust(LARGEST_BODY)

        assert door.ask("POST", door.path("/products"), body=body).status == 201
        assert door.exists("large")

    def test_is_not_read_for_a_stranger(self, door: Door) -> None:
        """Who may not, learns that first: a body is work."""
        with door.wire() as wire:
            wire.request("POST", door.path("/products"), "Authorization: Bearer st_no", "Content-Length: 20000000")

            assert wire.answer().status == 401


class TestLargeHeaders:
    """Headers over 256 KiB."""

    @pytest.mark.parametrize(
        ("path", "member"), [("/api/acme/v1/lists", "reason"), ("/api/acme/v1/contacts", "message")]
    )
    def test_that_do_not_end_are_refused(self, door: Door, path: str, member: str) -> None:
        with door.wire() as wire:
            begin = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n".encode()
            lines = b"".join(f"X-Many-{number:04}: {'x' * 1008}\r\n".encode() for number in range(260))
            # A byte more than fits and no more: what nobody reads would reset the connection, and lose the answer.
            wire.send((begin + lines)[:LARGEST_HEADERS])
            wire.send(b"x")

            answer = wire.answer()

            assert (answer.status, list(answer.json)) == (431, [member])
            assert wire.is_closed()

    def test_that_come_in_one_piece_are_refused(self, door: Door) -> None:
        with door.wire() as wire:
            wire.request("GET", "/health/live", "X-Large: " + "x" * LARGEST_HEADERS)

            answer = wire.answer()

        assert (answer.status, list(answer.json)) == (431, ["reason"])

    def test_of_a_path_are_refused(self, door: Door) -> None:
        with door.wire() as wire:
            wire.request("GET", "/health/live?" + "x" * LARGEST_HEADERS)

            assert wire.answer().status == 431

    def test_below_that_are_read(self, door: Door) -> None:
        with door.wire() as wire:
            wire.request("GET", "/health/live", "X-Large: " + "x" * 200_000)

            assert wire.answer().status == 200

    def test_are_counted_anew_for_each_request(self, door: Door) -> None:
        with door.wire() as wire:
            for _ in range(3):
                wire.request("GET", "/health/live", "X-Large: " + "x" * 100_000)
                assert wire.answer().status == 200

    def test_are_not_counted_with_the_body(self, door: Door) -> None:
        with door.wire() as wire:
            for _ in range(2):
                wire.request("POST", door.path("/products"), door.authorization, body=b" " * 500_000)
                assert wire.answer().status == 400


GARBAGE = {
    "no HTTP at all": b"\x00\x01\x02\x03 hello\r\n\r\n",
    "TLS": bytes.fromhex("16030100a5010000a10303") + b"x" * 160,
    "a method that is none": b"GARBAGE /health/live HTTP/1.1\r\nHost: x\r\n\r\n",
    "a version that is none": b"GET /health/live HTTP/9.9\r\nHost: x\r\n\r\n",
    "a header without colon": b"GET /health/live HTTP/1.1\r\nHost x\r\n\r\n",
    "a header without name": b"GET /health/live HTTP/1.1\r\n: x\r\n\r\n",
    "NUL in a header": b"GET /health/live HTTP/1.1\r\nX-A: \x00\r\n\r\n",
    "a blank in the path": b"GET /health /live HTTP/1.1\r\nHost: x\r\n\r\n",
    "a path that is no ASCII": b"GET /\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
    "a length that is none": b"POST /health/live HTTP/1.1\r\nContent-Length: ten\r\n\r\n",
    "a negative length": b"POST /health/live HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "two lengths": b"POST /health/live HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "a length and chunks": (
        b"POST /health/live HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "a chunk that is none": b"POST /health/live HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
}


class TestGarbage:
    """What is no HTTP."""

    @pytest.mark.parametrize("sent", [pytest.param(sent, id=name) for name, sent in GARBAGE.items()])
    def test_is_refused_in_json_and_ends_the_connection(self, door: Door, sent: bytes) -> None:
        with door.wire() as wire:
            wire.send(sent)

            answer = wire.answer()

            assert (answer.status, list(answer.json)) == (400, ["reason"])
            assert answer.headers["content-type"] == "application/json"
            assert wire.is_closed()

    def test_on_the_path_of_contacts_is_refused_in_their_body(self, door: Door) -> None:
        with door.wire() as wire:
            wire.send(b"GET /api/acme/v1/contacts?page=1 HTTP/1.1\r\nno header\r\n\r\n")

            answer = wire.answer()

        assert (answer.status, list(answer.json)) == (400, ["message"])

    def test_leaves_others_alone(self, door: Door) -> None:
        with door.wire() as other:
            other.request("GET", "/health/live")
            assert other.answer().status == 200
            with door.wire() as wire:
                wire.send(GARBAGE["no HTTP at all"])
                assert wire.answer().status == 400

            other.request("GET", "/health/live")

            assert other.answer().status == 200


class TestConnection:
    """Several requests on one connection."""

    @pytest.mark.parametrize(
        ("headers", "body", "status"),
        [
            ([], b"{broken", 400),
            ([], b"\xff\xfe", 400),
            ([], b"[" * 100_000, 400),
            ([], b"{}", 400),
            ([], b" " * (LARGEST_BODY + 1), 413),
            (["Authorization: Basic x"], b"{}", 401),
        ],
    )
    def test_is_good_for_more_after_a_refused_body(
        self, door: Door, headers: list[str], body: bytes, status: int
    ) -> None:
        with door.wire() as wire:
            wire.request("POST", door.path("/products"), *(headers or [door.authorization]), body=body)
            assert wire.answer().status == status

            wire.request("GET", door.path("/lists"), door.authorization)

            assert wire.answer().json["lists"][0]["id"] == str(door.list_id)

    def test_answers_pipelined_requests_in_order(self, door: Door) -> None:
        with door.wire() as wire:
            head = f"Host: x\r\n{door.authorization}\r\n"
            body = door.product("pipelined")
            wire.send(
                f"GET {door.path('/lists')} HTTP/1.1\r\n{head}\r\n"
                f"POST {door.path('/products')} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode()
                + body
                + f"GET /health/live HTTP/1.1\r\n{head}\r\nGET /nowhere HTTP/1.1\r\n{head}\r\n".encode()
            )

            answers = [wire.answer() for _ in range(4)]

        assert [answer.status for answer in answers] == [200, 201, 200, 404]
        assert [list(answer.json) for answer in answers] == [["lists"], ["id"], ["status"], ["reason"]]

    def test_asks_for_the_body_that_waits_to_be_asked_for(self, door: Door) -> None:
        body = door.product("expected")
        with door.wire() as wire:
            wire.request(
                "POST",
                door.path("/products"),
                door.authorization,
                "Expect: 100-continue",
                f"Content-Length: {len(body)}",
            )
            assert wire.answer().status == 100
            wire.send(body)

            assert wire.answer().status == 201

    @pytest.mark.parametrize(("length", "status"), [("20000000", 413), ("2", 401)])
    def test_asks_for_no_body_that_is_refused(self, door: Door, length: str, status: int) -> None:
        authorization = door.authorization if status == 413 else "Authorization: Bearer st_no"
        with door.wire() as wire:
            wire.request(
                "POST",
                door.path("/products"),
                authorization,
                "Expect: 100-continue",
                f"Content-Length: {length}",
            )

            assert wire.answer().status == status

    def test_ends_when_the_client_wants_it(self, door: Door) -> None:
        with door.wire() as wire:
            wire.request("GET", "/health/live", "Connection: close")

            answer = wire.answer()

            assert (answer.status, answer.headers["connection"]) == (200, "close")
            assert wire.is_closed()


class TestHead:
    """HEAD where there is a GET."""

    @pytest.mark.parametrize(
        "path",
        ["/health/live", "/openapi.yaml", "/docs", "/api/acme/v1/lists", "/api/acme/v1/products?timestamp=2020-01-01"],
    )
    def test_answers_as_get_does_without_the_body(self, door: Door, path: str) -> None:
        with door.wire() as wire:
            wire.request("GET", path, door.authorization)
            whole = wire.answer()
            wire.request("HEAD", path, door.authorization)
            head = wire.answer(is_head=True)
            # Had a body come, it would stand in the way here.
            wire.request("GET", "/health/live")
            assert wire.answer().json == {"status": "ok"}

        own = {"x-request-id", "date"}
        assert head.status == whole.status == 200
        assert {name: value for name, value in head.headers.items() if name not in own} == {
            name: value for name, value in whole.headers.items() if name not in own
        }


class TestRequestId:
    """X-Request-ID."""

    @pytest.mark.parametrize("sane", ["1", "a" * 128, "4b0f7a52-c9d1-4e1f-8a6d-3c2b1e0f9a87", "req_1:part.2-z"])
    def test_is_given_back(self, door: Door, sane: str) -> None:
        answer = door.ask("GET", "/health/live", f"X-Request-ID: {sane}")

        assert answer.headers["x-request-id"] == sane

    @pytest.mark.parametrize(
        "odd", ["", "a" * 129, "two words", "a,b", '"quoted"', "<script>", "ü", "a;b=c", "a/b", "%0d%0a", "\t"]
    )
    def test_is_replaced_if_it_is_odd(self, door: Door, odd: str) -> None:
        answer = door.ask("GET", "/health/live", f"X-Request-ID: {odd}")

        assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-request-id"])

    def test_is_made_where_there_is_none(self, door: Door) -> None:
        made = {door.ask("GET", "/health/live").headers["x-request-id"] for _ in range(3)}

        assert len(made) == 3
        assert all(re.fullmatch(r"[0-9a-f]{32}", each) for each in made)


class TestHeaders:
    """What every answer carries."""

    @pytest.mark.parametrize(
        ("sent", "status"),
        [
            pytest.param(b"GET /health/live HTTP/1.1\r\n\r\n", 200, id="200"),
            pytest.param(b"GET /openapi.yaml HTTP/1.1\r\n\r\n", 200, id="contract"),
            pytest.param(b"GET /metrics HTTP/1.1\r\n\r\n", 200, id="metrics"),
            pytest.param(b"GET /api/acme/v1/lists HTTP/1.1\r\n\r\n", 401, id="401"),
            pytest.param(b"GET /api/acme/v1/contacts HTTP/1.1\r\n\r\n", 401, id="401-contacts"),
            pytest.param(b"GET /nowhere HTTP/1.1\r\n\r\n", 404, id="404"),
            pytest.param(b"DELETE /health/live HTTP/1.1\r\n\r\n", 405, id="405"),
            pytest.param(b"\x00\r\n\r\n", 400, id="400-garbage"),
            pytest.param(b"GET / HTTP/1.1\r\nX: " + b"x" * LARGEST_HEADERS + b"\r\n\r\n", 431, id="431"),
        ],
    )
    def test_forbid_what_a_browser_might_do(self, door: Door, sent: bytes, status: int) -> None:
        with door.wire() as wire:
            wire.send(sent)
            answer = wire.answer()

        assert answer.status == status
        assert {name: answer.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert answer.headers["x-request-id"]
        assert not answer.headers.keys() & {"server", "x-powered-by", "via"}

    def test_name_the_methods_that_are_allowed(self, door: Door) -> None:
        answer = door.ask("DELETE", door.path("/products"))

        assert answer.status == 405
        assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST", "PUT"}

    def test_say_how_to_authenticate(self, door: Door) -> None:
        with door.wire() as wire:
            wire.request("GET", door.path("/lists"))

            assert wire.answer().headers["www-authenticate"] == "Bearer"


def log_of(service: Served) -> list[str]:
    """Return the lines that are complete."""
    return service.log.read_text().split("\n")[:-1]


def logged(service: Served, request_id: str) -> dict[str, Any]:
    """Wait for the line of a request, which is written once it is answered, and return it."""
    wait_until(lambda: any(request_id in line for line in log_of(service)))
    entry: dict[str, Any] = json.loads(next(line for line in log_of(service) if request_id in line))
    return entry


class TestLog:
    """A line of JSON for each request."""

    @pytest.mark.parametrize(
        ("method", "path", "with_token", "noted"),
        [
            ("GET", "/health/live", False, {"route": "/health/live", "status": 200, "prefix": None, "user": None}),
            ("GET", "/nowhere/at/all", False, {"route": "none", "status": 404, "prefix": None, "user": None}),
            ("PATCH", "/health/live", False, {"route": "/health/live", "status": 405, "prefix": None, "user": None}),
            (
                "GET",
                "/api/acme/v1/lists?page=1",
                True,
                {"route": "/api/{prefix}/v1/lists", "status": 200, "prefix": "acme", "user": "anna"},
            ),
            (
                "GET",
                "/api/acme/v1/contacts/K%2F1",
                True,
                {"route": "/api/{prefix}/v1/contacts/{contact_uid}", "status": 404, "prefix": "acme", "user": "anna"},
            ),
            ("GET", "/api/acme/v1/lists", False, {"status": 401, "prefix": None, "user": None}),
            ("GET", "/api/other/v1/lists", True, {"status": 403, "prefix": "acme", "user": "anna"}),
        ],
    )
    def test_says_what_was_asked_and_answered(
        self, door: Door, method: str, path: str, *, with_token: bool, noted: dict[str, Any]
    ) -> None:
        request_id = f"log-{next(_numbers)}"
        with door.wire() as wire:
            authorization = [door.authorization] if with_token else []
            wire.request(method, path, f"X-Request-ID: {request_id}", *authorization)
            wire.answer()

        line = logged(door.service, request_id)

        assert line.keys() == {"timestamp", "level", "event", "ms", "method", "route", "request_id", *noted}
        assert line["ms"] >= 0
        assert {name: line[name] for name in noted} == noted
        assert (line["method"], line["request_id"], line["event"]) == (method, request_id, "request")

    def test_never_tells_a_token_a_body_or_a_query(self, door: Door) -> None:
        request_id = f"log-{next(_numbers)}"
        with door.wire() as wire:
            head = [door.authorization, f"X-Request-ID: {request_id}"]
            wire.request("POST", door.path("/products?secret=query"), *head, body=door.product("secret-body"))
            assert wire.answer().status == 201
            wire.request("POST", door.path("/products?secret=query"), *head, body=b'{"secret-broken-body"')
            assert wire.answer().status == 400
            wire.request("GET", door.path("/contacts/secret-uid?secret=query"), *head)
            assert wire.answer().status == 404
            wire.request("GET", "/health/live?secret=query", "Authorization: Bearer st_secret-token")
            assert wire.answer().status == 200
            wire.request("GET", door.path("/lists"), "Authorization: Bearer st_secret-token")
            assert wire.answer().status == 401
            wire.send(b"GET /secret-garbage \x00\r\n\r\n")
            wire.answer()
        door.ask("GET", "/health/live", f"X-Request-ID: {request_id}-end")

        logged(door.service, f"{request_id}-end")

        log = door.service.log.read_text()
        assert "secret" not in log
        assert door.token not in log

    def test_is_json_throughout(self, door: Door) -> None:
        with door.wire() as wire:
            wire.send(GARBAGE["TLS"])
            wire.answer()

        lines = log_of(door.service)

        assert len(lines) > 3
        assert all({"timestamp", "level", "event"} <= json.loads(line).keys() for line in lines)

    def test_is_of_one_request_each_whoever_asks_at_once(self, door: Door) -> None:
        ids = [f"log-{next(_numbers)}-end" for _ in range(20)]
        with door.wire() as wire:
            wire.send(b"".join(f"GET /health/live HTTP/1.1\r\nX-Request-ID: {each}\r\n\r\n".encode() for each in ids))
            for _ in ids:
                wire.answer()

        logged(door.service, ids[-1])

        noted = [json.loads(line).get("request_id") for line in log_of(door.service)]
        assert [each for each in noted if each in ids] == ids


def sample(metrics: str, name: str, **labels: str) -> float:
    """Return a sample out of the text of the metrics; 0 where it is not there yet."""
    for line in metrics.splitlines():
        found = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if found and found[1] == name and dict(re.findall(r'(\w+)="([^"]*)"', found[2] or "")) == labels:
            return float(found[3])
    return 0.0


LISTS = {"method": "GET", "route": "/api/{prefix}/v1/lists", "status": "200"}


class TestMetrics:
    """GET /metrics."""

    def _metrics(self, door: Door) -> str:
        answer = door.ask("GET", "/metrics")
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/plain")
        return answer.body.decode()

    def test_count_requests_by_route_and_status(self, door: Door) -> None:
        before = self._metrics(door)
        missing = {**LISTS, "route": "none", "status": "404"}

        for path in (door.path("/lists"), door.path("/lists?page=2"), "/nowhere", "/nowhere/else"):
            door.ask("GET", path)

        after = self._metrics(door)
        for labels in (LISTS, missing):
            counted = [sample(metrics, "stammdaten_requests_total", **labels) for metrics in (before, after)]
            assert counted[1] - counted[0] == 2

    def test_count_how_long_it_took(self, door: Door) -> None:
        before = self._metrics(door)

        door.ask("GET", door.path("/lists"))
        door.ask("POST", door.path("/products"), body=door.product(f"counted-{next(_numbers)}"))

        after = self._metrics(door)
        route = {"route": LISTS["route"]}
        for name, labels, at_least in (
            ("stammdaten_request_seconds_count", route, 1),
            ("stammdaten_request_seconds_bucket", {**route, "le": "+Inf"}, 1),
            ("stammdaten_database_seconds_count", {"door": "read"}, 1),
            ("stammdaten_database_seconds_count", {"door": "write"}, 6),
            ("stammdaten_batch_rows_count", {}, 1),
            ("stammdaten_batch_rows_sum", {}, 1),
        ):
            assert sample(after, name, **labels) - sample(before, name, **labels) >= at_least, name
        assert sample(after, "stammdaten_request_seconds_sum", **route) > 0

    def test_tell_nobody_whose_they_are(self, door: Door) -> None:
        door.ask("POST", door.path("/products"), body=door.product("SM-2040-A"))
        door.ask("GET", door.path("/contacts/C-1007"))
        door.ask("GET", "/api/another-prefix/v1/lists")
        door.ask("GET", "/some/path/nobody/knows")

        metrics = self._metrics(door)

        samples = [line for line in metrics.splitlines() if not line.startswith("#")]
        assert not [line for line in samples if re.search(r"acme|another-prefix|SM-2040|C-1007|anna|nobody", line)]

    def test_do_not_grow_with_what_strangers_send(self, door: Door) -> None:
        self._metrics(door)
        before = len(self._metrics(door).splitlines())

        for number in range(20):
            door.ask("GET", f"/no/such/path/{number}")
            door.ask("GET", door.path(f"/contacts/{number}"))
        with door.wire() as wire:
            for method in ("PROPFIND", "MKCOL", "LOCK", "TRACE"):
                wire.request(method, "/nowhere")
                wire.answer()

        # A line for each new status and route, and none for a path or a method.
        assert len(self._metrics(door).splitlines()) - before <= 40

    def test_of_several_workers_are_counted_together(self, copied: Callable[[], Settings], engine: str) -> None:
        settings = copied()
        made = make_account(settings)
        with Served(settings, workers=1 if engine == "sqlite" else 2) as service:
            several = Door(service, *made)
            # A connection each: the workers take turns.
            for _ in range(30):
                assert several.ask("GET", several.path("/lists")).status == 200

            def count() -> float:
                return sample(self._metrics(several), "stammdaten_requests_total", **LISTS)

            # A worker answers before it counts.
            wait_until(lambda: count() == 30)
            seen = {count() for _ in range(5)}

        assert seen == {30.0}

    def test_stand_at_an_address_of_their_own_where_there_is_one(
        self, copied: Callable[[], Settings], engine: str
    ) -> None:
        settings = copied()
        made = make_account(settings)
        port = free_port()
        with Served(settings, metrics_port=port, workers=1 if engine == "sqlite" else 2) as service:
            elsewhere = Door(service, *made)
            for _ in range(10):
                assert elsewhere.ask("GET", elsewhere.path("/lists")).status == 200

            def count() -> float:
                there = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE)
                return sample(there.text, "stammdaten_requests_total", **LISTS)

            here = elsewhere.ask("GET", "/metrics")
            wait_until(lambda: count() == 10)

        assert (here.status, here.json) == (404, {"reason": "There is nothing at this path."})


class TestPages:
    """What is there for operators and readers, without a token."""

    @pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
    def test_of_health_say_that_all_is_well(self, door: Door, path: str) -> None:
        with door.wire() as wire:
            wire.request("GET", path)

            answer = wire.answer()

        assert (answer.status, answer.json) == (200, {"status": "ok"})

    def test_of_the_contract_are_the_file(self, door: Door) -> None:
        answer = door.ask("GET", "/openapi.yaml")

        assert answer.headers["content-type"].startswith("application/yaml")
        assert answer.body == Path(CONTRACT).read_bytes()

    def test_to_read_need_nothing_from_elsewhere(self, door: Door) -> None:
        answer = door.ask("GET", "/docs")

        assert answer.status == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy == {
            "default-src": "'none'",
            "style-src": "'unsafe-inline'",
            "frame-ancestors": "'none'",
        }
        page = answer.body.decode()
        assert not re.search(r"(?:src|href|action)\s*=\s*[\"']?\s*(?:https?:|//)|@import|url\(|<script", page)
        assert "Follow changed products" in page
