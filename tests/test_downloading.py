"""Downloads, against a server made by hand on loopback that does as badly as servers can.

Servers here answer with bytes that the test wrote, so that they can lie. No test waits for `PATIENCE`: where time is
what is tested, the limit is small and the server never comes.
"""

import asyncio
import contextlib
import gzip
import socket
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Self

import httpx2 as httpx
import pytest

from stammdaten.screening.downloading import Limits, NotDownloaded, Stamp, download
from stammdaten.screening.reaching import Network, is_public
from tests.processes import PATIENCE

Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]

LIMITS = Limits(
    connect_seconds=PATIENCE, idle_seconds=PATIENCE, total_seconds=PATIENCE, most_bytes=10_000, allow_private=True
)
SHORT = 0.05
SECRET = "hunter2"
FILE = b"<sanctions>none</sanctions>"

# Made for these tests and good for nothing else: a certificate of `lists.example`, and its key.
CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBbDCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1saXN0cy5l
eGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1saXN0cy5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEnWD1
9dcTNyHqFo5HseKT0Jf0v9QcdC7nD//ycqn6W3EnpW2HKF/SeyN3HOHpReP19Vh8
j/YPhvrwjGwyeqWfBKNMMEowDwYDVR0TAQH/BAUwAwEB/zAYBgNVHREEETAPgg1s
aXN0cy5leGFtcGxlMB0GA1UdDgQWBBSLq18IBAso8ATFe8Gvh4d+iIV52TAKBggq
hkjOPQQDAgNHADBEAiAeQ5iYyUQlkqihISlL8+sN1cU2hWjFbg6Ms82KdYNw7gIg
dhXI4sCR5B/oAQ286EDUR6pynllbXceEa1uNZwtn1pA=
-----END CERTIFICATE-----
"""
KEY = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJCS/iuzD7wgIdsCK
zaPdvCjP5ZTel5XoCDsUgSa72QChRANCAASdYPX11xM3IeoWjkex4pPQl/S/1Bx0
LucP//JyqfpbcSelbYcoX9J7I3cc4elF4/X1WHyP9g+G+vCMbDJ6pZ8E
-----END PRIVATE KEY-----
"""


class Server:
    """A server on loopback that keeps the requests it got and gives the same answer to all."""

    def __init__(self, answer: Answer, tls: ssl.SSLContext | None = None) -> None:
        self._answer = answer
        self._tls = tls
        self._talks: set[asyncio.Task[None]] = set()
        self.requests: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._take_call, "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await self._server.wait_closed()

    def _take_call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.create_task(self._serve(reader, writer))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The client may leave whenever it likes, and is gone with the end of a test.
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(request)
            await self._answer(request, writer)
            await writer.drain()
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def url(self, path: str = "/list.xml", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


def saying(*parts: bytes) -> Answer:
    """Answer with these bytes and close."""

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()

    return answer


def head(*lines: str, status: str = "200 OK") -> bytes:
    """The head of an answer."""
    return "\r\n".join((f"HTTP/1.1 {status}", *lines, "", "")).encode()


def file_of(body: bytes, *lines: str) -> Answer:
    """Answer honestly with a file."""
    return saying(head(f"Content-Length: {len(body)}", *lines) + body)


def redirect(location: str, status: str = "302 Found") -> Answer:
    """Answer with a redirect."""
    return saying(head(f"Location: {location}", "Content-Length: 0", status=status))


async def never(_: bytes, _writer: asyncio.StreamWriter) -> None:
    """Say nothing more, for as long as the test runs."""
    await asyncio.Event().wait()


async def trickle(_: bytes, writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then, often enough for any idle limit, without an end."""
    writer.write(head("Transfer-Encoding: chunked"))
    while not writer.is_closing():
        writer.write(b"1\r\nx\r\n")
        await writer.drain()
        await asyncio.sleep(SHORT / 10)


def named(*addresses: str) -> Network:
    """All names lead to these addresses."""

    async def resolve(_host: str, _port: int) -> list[str]:
        return list(addresses)

    return Network(resolve=resolve)


def names_in(folder: Path) -> list[str]:
    """What lies in a folder."""
    return [path.name for path in folder.iterdir()]


async def fetch(
    url: str, folder: Path, *, known: Stamp | None = None, limits: Limits = LIMITS, network: Network | None = None
) -> Stamp | None:
    """Download into the folder, as most tests want it."""
    return await download(
        url,
        folder / "list.xml",
        known=known or Stamp(),
        limits=limits,
        progress=lambda _received, _announced: None,
        network=network or Network(),
    )


def fetch_from(answer: Answer, folder: Path, *, limits: Limits = LIMITS, known: Stamp | None = None) -> Stamp | None:
    """Download from a server that answers so."""

    async def run() -> Stamp | None:
        async with Server(answer) as server:
            return await fetch(server.url(), folder, limits=limits, known=known)

    return asyncio.run(run())


def refusal_of(url: str, folder: Path, *, limits: Limits = LIMITS, network: Network | None = None) -> str:
    """Return the sentence with which a URL is refused; nothing is left in the folder."""
    with pytest.raises(NotDownloaded) as refused:
        asyncio.run(fetch(url, folder, limits=limits, network=network))
    assert list(folder.iterdir()) == []
    return str(refused.value)


def refused_answer(answer: Answer, folder: Path, *, limits: Limits = LIMITS) -> str:
    """Return the sentence with which an answer is refused; the old file stays, and nothing is beside it."""
    old = folder / "list.xml"
    old.write_bytes(b"old")
    with pytest.raises(NotDownloaded) as refused:
        fetch_from(answer, folder, limits=limits)
    assert list(folder.iterdir()) == [old]
    assert old.read_bytes() == b"old"
    return str(refused.value)


class TestDownload:
    """What comes from an honest server, and from one that says no."""

    def test_stores_the_file_and_returns_its_stamp(self, tmp_path: Path) -> None:
        answer = file_of(FILE, 'ETag: "v1"', "Last-Modified: Sat, 21 Nov 2026 05:00:00 GMT")

        stamp = fetch_from(answer, tmp_path)

        assert stamp == Stamp('"v1"', "Sat, 21 Nov 2026 05:00:00 GMT")
        assert names_in(tmp_path) == ["list.xml"]
        assert (tmp_path / "list.xml").read_bytes() == FILE

    def test_replaces_an_older_file(self, tmp_path: Path) -> None:
        (tmp_path / "list.xml").write_bytes(b"older and longer than what comes now")

        fetch_from(file_of(FILE), tmp_path)

        assert (tmp_path / "list.xml").read_bytes() == FILE

    def test_takes_a_chunked_file(self, tmp_path: Path) -> None:
        answer = saying(head("Transfer-Encoding: chunked"), b"5\r\nhello\r\n", b"6\r\n world\r\n0\r\n\r\n")

        fetch_from(answer, tmp_path)

        assert (tmp_path / "list.xml").read_bytes() == b"hello world"

    def test_takes_a_file_that_is_hinted_at_before(self, tmp_path: Path) -> None:
        hint = head("Link: </style.css>", status="103 Early Hints")

        fetch_from(saying(hint + hint + head(f"Content-Length: {len(FILE)}") + FILE), tmp_path)

        assert (tmp_path / "list.xml").read_bytes() == FILE

    @pytest.mark.parametrize("length", ["5, 5", "5\r\nContent-Length: 5"])
    def test_takes_a_length_that_is_said_twice(self, tmp_path: Path, length: str) -> None:
        fetch_from(saying(head(f"Content-Length: {length}") + b"hello"), tmp_path)

        assert (tmp_path / "list.xml").read_bytes() == b"hello"

    def test_takes_a_file_whose_head_and_body_come_byte_by_byte(self, tmp_path: Path) -> None:
        whole = head(f"Content-Length: {len(FILE)}") + FILE

        fetch_from(saying(*(whole[at : at + 1] for at in range(len(whole)))), tmp_path)

        assert (tmp_path / "list.xml").read_bytes() == FILE

    def test_takes_a_file_from_a_server_that_does_not_close(self, tmp_path: Path) -> None:
        async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(head(f"Content-Length: {len(FILE)}") + FILE)
            await never(request, writer)

        fetch_from(answer, tmp_path)

        assert (tmp_path / "list.xml").read_bytes() == FILE

    def test_tells_how_far_it_is(self, tmp_path: Path) -> None:
        told: list[tuple[int, int | None]] = []

        async def run() -> None:
            async with Server(file_of(FILE)) as server:
                await download(
                    server.url(),
                    tmp_path / "list.xml",
                    known=Stamp(),
                    limits=LIMITS,
                    progress=lambda received, announced: told.append((received, announced)),
                )

        asyncio.run(run())

        assert told[0] == (0, len(FILE))
        assert told[-1] == (len(FILE), len(FILE))

    def test_asks_for_what_is_newer_than_the_known(self, tmp_path: Path) -> None:
        async def run() -> tuple[Stamp | None, bytes]:
            async with Server(saying(head(status="304 Not Modified"))) as server:
                stamp = await fetch(
                    server.url("/l?k=1"), tmp_path, known=Stamp('"v1"', "Sat, 21 Nov 2026 05:00:00 GMT")
                )
                return stamp, server.requests[0]

        stamp, request = asyncio.run(run())

        assert stamp is None
        assert list(tmp_path.iterdir()) == []
        assert request.startswith(b"GET /l?k=1 HTTP/1.1\r\n")
        assert b'If-None-Match: "v1"\r\n' in request
        assert b"If-Modified-Since: Sat, 21 Nov 2026 05:00:00 GMT\r\n" in request
        assert b"Accept-Encoding: identity\r\n" in request

    def test_refuses_304_when_nothing_is_known(self, tmp_path: Path) -> None:
        sentence = refused_answer(saying(head(status="304 Not Modified")), tmp_path)

        assert sentence == "127.0.0.1 answers with status 304."

    @pytest.mark.parametrize("stamp", ['"ü"', "x" * 513, "tab\tin"])
    def test_keeps_no_stamp_that_could_spoil_the_next_request(self, tmp_path: Path, stamp: str) -> None:
        assert fetch_from(file_of(FILE, f"ETag: {stamp}"), tmp_path) == Stamp()

    def test_never_sends_a_stamp_that_holds_another_header(self, tmp_path: Path) -> None:
        async def run() -> bytes:
            async with Server(file_of(FILE)) as server:
                await fetch(server.url(), tmp_path, known=Stamp("v1\r\nX-Evil: 1", "ü"))
                return server.requests[0]

        request = asyncio.run(run())

        assert b"Evil" not in request
        assert b"If-" not in request

    @pytest.mark.parametrize("status", ["201 Created", "204 No Content", "206 Partial", "300 X", "404 Gone", "500 Oh"])
    def test_refuses_another_status_by_its_number(self, tmp_path: Path, status: str) -> None:
        length = () if status.startswith("204") else ("Content-Length: 0",)

        sentence = refused_answer(saying(head(*length, status=status)), tmp_path)

        assert sentence == f"127.0.0.1 answers with status {status[:3]}."

    def test_does_not_ask_the_proxy_of_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")

        assert fetch_from(file_of(FILE), tmp_path) == Stamp()


class TestLength:
    """A file is complete, as long as announced and under the limit, or it is none."""

    def test_refuses_a_file_shorter_than_announced(self, tmp_path: Path) -> None:
        sentence = refused_answer(saying(head("Content-Length: 100") + FILE), tmp_path)

        assert sentence == "127.0.0.1 broke off after 27 of 100 bytes."

    @pytest.mark.parametrize("late", [False, True])
    def test_refuses_a_file_longer_than_announced(self, tmp_path: Path, *, late: bool) -> None:
        start = head("Content-Length: 5") + b"hello"
        answer = saying(start, b"!") if late else saying(start + b"!")

        sentence = refused_answer(answer, tmp_path)

        assert sentence == "127.0.0.1 announced 5 bytes and sent another number of them."

    def test_refuses_chunks_that_break_off(self, tmp_path: Path) -> None:
        sentence = refused_answer(saying(head("Transfer-Encoding: chunked"), b"5\r\nhello\r\n5\r\nwo"), tmp_path)

        assert sentence.startswith("127.0.0.1 broke off after ")

    def test_refuses_a_length_that_the_chunks_belie(self, tmp_path: Path) -> None:
        answer = saying(head("Transfer-Encoding: chunked", "Content-Length: 99"), b"5\r\nhello\r\n0\r\n\r\n")

        assert "announced 99 bytes" in refused_answer(answer, tmp_path)

    def test_refuses_two_lengths(self, tmp_path: Path) -> None:
        refused_answer(saying(head("Content-Length: 5", "Content-Length: 27") + FILE), tmp_path)

    @pytest.mark.parametrize("length", ["-1", "0x1b", "27 bytes", "9" * 30, "²"])
    def test_refuses_a_length_that_is_no_number(self, tmp_path: Path, length: str) -> None:
        refused_answer(saying(head(f"Content-Length: {length}") + FILE), tmp_path)

    def test_refuses_a_file_without_length_and_chunks(self, tmp_path: Path) -> None:
        assert refused_answer(saying(head() + FILE), tmp_path) == "127.0.0.1 does not say how long the file is."

    def test_refuses_a_file_announced_over_the_limit(self, tmp_path: Path) -> None:
        sentence = refused_answer(saying(head("Content-Length: 10001")), tmp_path)

        assert sentence == "127.0.0.1 announces more than 10,000 bytes."

    def test_refuses_chunks_over_the_limit(self, tmp_path: Path) -> None:
        chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"

        sentence = refused_answer(saying(head("Transfer-Encoding: chunked"), *[chunk] * 3), tmp_path)

        assert sentence == "127.0.0.1 sends more than 10,000 bytes."

    @pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip", "X"])
    def test_refuses_a_compressed_answer(self, tmp_path: Path, encoding: str) -> None:
        bomb = gzip.compress(b"0" * 1_000_000)

        sentence = refused_answer(file_of(bomb, f"Content-Encoding: {encoding}"), tmp_path)

        assert sentence == "127.0.0.1 sends the file compressed, which it was asked not to do."

    @pytest.mark.parametrize("garbage", [b"SSH-2.0-OpenSSH\r\n\r\n", b"\x00" * 300_000, b"HTTP/1.1 200 OK\r\n", b""])
    def test_refuses_what_is_not_http(self, tmp_path: Path, garbage: bytes) -> None:
        assert refused_answer(saying(garbage), tmp_path) == "127.0.0.1 broke off, or does not speak HTTP."

    def test_refuses_a_head_without_end(self, tmp_path: Path) -> None:
        lines = [f"X-{number}: {'x' * 1000}\r\n".encode() for number in range(300)]

        refused_answer(saying(b"HTTP/1.1 200 OK\r\n", *lines), tmp_path)


class TestTime:
    """Nobody waits for ever, and nothing is left of what was not finished."""

    def test_cuts_a_server_that_sends_no_head(self, tmp_path: Path) -> None:
        limits = Limits(idle_seconds=SHORT, allow_private=True)

        assert refused_answer(never, tmp_path, limits=limits) == "127.0.0.1 sent nothing for 0.05 seconds."

    def test_cuts_a_server_that_stalls_in_the_body(self, tmp_path: Path) -> None:
        async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(head("Content-Length: 100") + FILE)
            await never(request, writer)

        limits = Limits(idle_seconds=SHORT, allow_private=True)

        assert refused_answer(answer, tmp_path, limits=limits) == "127.0.0.1 sent nothing for 0.05 seconds."

    def test_cuts_a_server_that_trickles(self, tmp_path: Path) -> None:
        limits = Limits(idle_seconds=PATIENCE, total_seconds=SHORT * 4, allow_private=True)

        assert refused_answer(trickle, tmp_path, limits=limits) == "127.0.0.1 was not done after 0.2 seconds."

    def test_cuts_a_resolver_that_does_not_answer(self, tmp_path: Path) -> None:
        async def resolve(_host: str, _port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

        limits = Limits(connect_seconds=SHORT)

        sentence = refusal_of("http://lists.example/", tmp_path, limits=limits, network=Network(resolve=resolve))

        assert sentence == "lists.example took no call within 0.05 seconds."

    def test_leaves_nothing_behind_when_cancelled(self, tmp_path: Path) -> None:
        async def run() -> None:
            begun = asyncio.Event()

            def progress(received: int, _announced: int | None) -> None:
                if received:
                    begun.set()

            async with Server(trickle) as server:
                into = tmp_path / "list.xml"
                task = asyncio.create_task(
                    download(server.url(), into, known=Stamp(), limits=LIMITS, progress=progress)
                )
                async with asyncio.timeout(PATIENCE):
                    await begun.wait()
                assert names_in(tmp_path) != []
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        asyncio.run(run())

        assert list(tmp_path.iterdir()) == []

    def test_leaves_nothing_behind_when_the_progress_fails(self, tmp_path: Path) -> None:
        def progress(_received: int, _announced: int | None) -> None:
            raise ZeroDivisionError

        async def run() -> None:
            async with Server(file_of(FILE)) as server:
                into = tmp_path / "list.xml"
                await download(server.url(), into, known=Stamp(), limits=LIMITS, progress=progress)

        with pytest.raises(ZeroDivisionError):
            asyncio.run(run())

        assert list(tmp_path.iterdir()) == []

    def test_says_so_when_the_folder_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises(NotDownloaded, match=r"^What 127.0.0.1 sends cannot be written: No such file"):
            fetch_from(file_of(FILE), tmp_path / "missing")


class TestUrl:
    """What is refused before anybody is asked."""

    @pytest.mark.parametrize(
        ("url", "sentence"),
        [
            ("file:///etc/passwd", "Only http and https are fetched, not file."),
            ("ftp://lists.example/l", "Only http and https are fetched, not ftp."),
            ("/etc/passwd", "Only http and https are fetched, not a path."),
            ("", "Only http and https are fetched, not a path."),
            ("http:///l", "The URL names no host."),
            ("http://[::1/", "This is no URL."),
            ("http://lists.example\r\n/", "This is no URL."),
            ("http://lists.example:0/", "The URL for lists.example names a port that does not exist."),
            ("http://lists.example:99999/", "The URL for lists.example names a port that does not exist."),
            (
                f"https://anna:{SECRET}@lists.example/?key={SECRET}",
                "The URL for lists.example holds a user name or password.",
            ),
        ],
    )
    def test_refuses_what_it_does_not_fetch(self, tmp_path: Path, url: str, sentence: str) -> None:
        assert refusal_of(url, tmp_path) == sentence

    @pytest.mark.parametrize(
        "answer", [saying(head(status="403 No")), saying(b"?\r\n\r\n"), redirect(f"ftp://anna:{SECRET}@x/{SECRET}")]
    )
    def test_never_tells_the_query(self, tmp_path: Path, answer: Answer) -> None:
        async def run() -> None:
            async with Server(answer) as server:
                await fetch(server.url(f"/l?key={SECRET}"), tmp_path)

        with pytest.raises(NotDownloaded) as refused:
            asyncio.run(run())

        assert SECRET not in str(refused.value)


class TestRedirect:
    """Each redirect is held to what holds for the first URL."""

    def test_follows_a_relative_one(self, tmp_path: Path) -> None:
        async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
            then = file_of(FILE, 'ETag: "there"') if b"/there?now=1" in request else redirect("there?now=1#part")
            await then(request, writer)

        assert fetch_from(answer, tmp_path) == Stamp('"there"')
        assert (tmp_path / "list.xml").read_bytes() == FILE

    @pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
    def test_follows_five(self, tmp_path: Path, status: str) -> None:
        async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
            count = int(request.split()[1].strip(b"/") or b"0")
            then = file_of(FILE) if count == 5 else redirect(f"/{count + 1}", status)
            await then(request, writer)

        async def run() -> int:
            async with Server(answer) as server:
                await fetch(server.url("/"), tmp_path)
                return len(server.requests)

        assert asyncio.run(run()) == 6

    def test_refuses_a_sixth(self, tmp_path: Path) -> None:
        async def run() -> int:
            async with Server(redirect("/again")) as server:
                with pytest.raises(NotDownloaded, match=r"^127\.0\.0\.1 redirects once more after 5 redirects\.$"):
                    await fetch(server.url(), tmp_path)
                return len(server.requests)

        assert asyncio.run(run()) == 6

    @pytest.mark.parametrize(
        ("location", "reason"),
        [
            ("file:///etc/passwd", "Only http and https are fetched, not file."),
            ("ftp://lists.example/l", "Only http and https are fetched, not ftp."),
            ("gopher://127.0.0.1:25/", "Only http and https are fetched, not gopher."),
            (f"http://anna:{SECRET}@lists.example/", "The URL for lists.example holds a user name or password."),
        ],
    )
    def test_refuses_to_where_it_would_not_go_by_itself(self, tmp_path: Path, location: str, reason: str) -> None:
        sentence = refused_answer(redirect(location), tmp_path)

        assert sentence == f"127.0.0.1 redirects to where we do not go: {reason}"

    def test_refuses_one_without_a_target(self, tmp_path: Path) -> None:
        answer = saying(head("Content-Length: 0", status="302 Found"))

        assert refused_answer(answer, tmp_path) == "127.0.0.1 redirects, but does not say where to."

    def test_refuses_one_to_no_url(self, tmp_path: Path) -> None:
        assert refused_answer(redirect("http://[::1/"), tmp_path) == "127.0.0.1 redirects to what is no URL."

    @pytest.mark.parametrize("inside", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "intranet.example"])
    def test_refuses_one_from_a_public_host_to_an_inner_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
    ) -> None:
        # The one public address of this test leads, unknown to the rules, to the server on loopback.
        monkeypatch.setattr("stammdaten.screening.reaching.is_public", lambda address: address == "127.0.0.1")

        async def resolve(host: str, _port: int) -> list[str]:
            return ["127.0.0.1"] if host == "lists.example" else ["10.0.0.1"]

        async def run() -> None:
            async with Server(redirect(f"http://{inside}/")) as server:
                url = server.url(host="lists.example")
                await fetch(url, tmp_path, limits=Limits(), network=Network(resolve=resolve))

        with pytest.raises(NotDownloaded, match=r"has an address that is not public, 10\.0\.0\.1\.$"):
            asyncio.run(run())


class TestAddress:
    """Nobody is sent into the house, whatever the house is called."""

    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "localhost",
            "0.0.0.0",  # noqa: S104 - nothing binds to it
            "0",
            "10.0.0.1",
            "169.254.169.254",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::127.0.0.1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fd00::1]",
        ],
    )
    def test_refuses_an_inner_one_however_it_is_written(self, tmp_path: Path, host: str) -> None:
        sentence = refusal_of(f"http://{host}:9/", tmp_path, limits=Limits())

        assert "has an address that is not public" in sentence

    @pytest.mark.parametrize("host", ["0177.0.0.1", "017700000001", "0300.0250.0.1"])
    def test_refuses_an_octal_one(self, tmp_path: Path, host: str) -> None:
        # Some of these are no URL to the client, the others are resolved as the inner addresses they are.
        refusal_of(f"http://{host}:9/", tmp_path, limits=Limits())

    def test_refuses_a_name_with_a_public_and_an_inner_one(self, tmp_path: Path) -> None:
        network = named("93.184.216.34", "10.0.0.1")

        sentence = refusal_of("http://lists.example/", tmp_path, limits=Limits(), network=network)

        assert sentence == "lists.example has an address that is not public, 10.0.0.1."

    def test_refuses_a_name_without_any(self, tmp_path: Path) -> None:
        assert refusal_of("http://lists.example/", tmp_path, network=named()) == "lists.example has no address."

    @pytest.mark.parametrize("failure", [socket.gaierror(-2, "unknown"), UnicodeError("label too long")])
    def test_refuses_a_name_that_is_not_found(self, tmp_path: Path, failure: Exception) -> None:
        async def resolve(_host: str, _port: int) -> list[str]:
            raise failure

        sentence = refusal_of("http://lists.example/", tmp_path, network=Network(resolve=resolve))

        assert sentence == "lists.example is not found by name."

    def test_says_when_nobody_listens(self, tmp_path: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]

            sentence = refusal_of(f"http://127.0.0.1:{port}/", tmp_path)

        assert sentence.startswith("127.0.0.1 cannot be connected to: ")

    def test_connects_to_the_address_that_was_checked_and_names_the_host(self, tmp_path: Path) -> None:
        asked: list[str] = []

        async def resolve(host: str, _port: int) -> list[str]:
            # A second question would be answered with an address where nobody is: so is DNS rebinding.
            asked.append(host)
            return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.9"]

        async def run() -> tuple[bytes, int]:
            async with Server(file_of(FILE)) as server:
                await fetch(server.url(host="lists.example"), tmp_path, network=Network(resolve=resolve))
                return server.requests[0], server.port

        request, port = asyncio.run(run())

        assert asked == ["lists.example"]
        assert f"Host: lists.example:{port}\r\n".encode() in request

    def test_tries_the_next_address_when_one_does_not_answer(self, tmp_path: Path) -> None:
        async def run() -> None:
            async with Server(file_of(FILE)) as server:
                # Nobody listens at the first: the server is at one address of the loopback alone.
                await fetch(server.url(host="lists.example"), tmp_path, network=named("127.0.0.2", "127.0.0.1"))

        asyncio.run(run())

        assert (tmp_path / "list.xml").read_bytes() == FILE

    def test_tries_the_next_address_when_one_swallows_calls(self, tmp_path: Path) -> None:
        async def run() -> None:
            async with Server(file_of(FILE)) as server:
                with contextlib.ExitStack() as sockets:
                    deaf = sockets.enter_context(socket.socket())
                    deaf.bind(("127.0.0.2", server.port))
                    deaf.listen(0)
                    # Nobody takes these calls; when the queue is full, no further one gets an answer of any kind.
                    for _ in range(3):
                        caller = sockets.enter_context(socket.socket())
                        caller.setblocking(False)
                        caller.connect_ex(("127.0.0.2", server.port))
                    # Half of it is for the one that is deaf.
                    limits = Limits(connect_seconds=10, idle_seconds=PATIENCE, allow_private=True)
                    network = named("127.0.0.2", "127.0.0.1")
                    await fetch(server.url(host="lists.example"), tmp_path, limits=limits, network=network)

        asyncio.run(run())

        assert (tmp_path / "list.xml").read_bytes() == FILE


class TestIsPublic:
    """The registries of special addresses."""

    @pytest.mark.parametrize(
        "address",
        ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2a00:1450::1", "64:ff9b::8.8.8.8", "2002:808:808::"],
    )
    def test_accepts(self, address: str) -> None:
        assert is_public(address)

    @pytest.mark.parametrize(
        "address",
        [
            *("0.1.2.3", "10.255.0.1", "100.64.0.1", "100.127.255.255", "127.8.8.8", "169.254.0.1", "172.31.0.1"),
            *("192.0.0.192", "192.0.2.1", "192.168.0.1", "198.19.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
            *("240.0.0.1", "255.255.255.255", "168.63.129.16", "192.88.99.1"),
            *("::", "::1", "::7f00:1", "::ffff:8.8.8.8", "fc00::1", "fe80::1", "fe80::1%eth0", "ff02::1", "fec0::1"),
            *("100::1", "2001::1", "2001:db8::1", "3fff::1", "5f00::1", "64:ff9b:1::1", "2a00:1450::1%eth0"),
            *("64:ff9b::10.0.0.1", "64:ff9b::6440:1", "2002:a00:1::", "2002:6440:1::", "2002:a9fe:a9fe::"),
        ],
    )
    def test_refuses(self, address: str) -> None:
        assert not is_public(address)


def server_tls() -> ssl.SSLContext:
    """The side of `lists.example`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as chain:
        chain.write(KEY + CERTIFICATE)
        chain.flush()
        context.load_cert_chain(chain.name)
    return context


def trusted() -> ssl.SSLContext:
    """Believe the certificate of `lists.example`, and no other."""
    return ssl.create_default_context(cadata=CERTIFICATE)


class TestTls:
    """The certificate is the host's own, though the connection goes to an address."""

    @staticmethod
    def fetch_over_tls(
        folder: Path, *, host: str = "lists.example", answer: Answer | None = None, trust: Callable[[], ssl.SSLContext]
    ) -> Stamp | None:
        async def run() -> Stamp | None:
            async with Server(answer or file_of(FILE, 'ETag: "v1"'), server_tls()) as server:
                network = Network(resolve=named("127.0.0.1").resolve, trust=trust)
                return await fetch(server.url(scheme="https", host=host), folder, network=network)

        return asyncio.run(run())

    def test_checks_the_certificate_for_the_name_not_the_address(self, tmp_path: Path) -> None:
        assert self.fetch_over_tls(tmp_path, trust=trusted) == Stamp('"v1"')

    def test_refuses_the_certificate_of_another(self, tmp_path: Path) -> None:
        with pytest.raises(NotDownloaded, match=r"^other.example cannot be connected to: .*Hostname mismatch"):
            self.fetch_over_tls(tmp_path, host="other.example", trust=trusted)

    def test_refuses_a_certificate_that_nobody_vouches_for(self, tmp_path: Path) -> None:
        with pytest.raises(NotDownloaded, match=r"self-signed certificate"):
            self.fetch_over_tls(tmp_path, trust=httpx.create_ssl_context)

    def test_refuses_a_redirect_to_plain_http(self, tmp_path: Path) -> None:
        with pytest.raises(NotDownloaded, match=r"^lists.example redirects from https to http, to lists.example\.$"):
            self.fetch_over_tls(tmp_path, answer=redirect("http://lists.example/"), trust=trusted)

    def test_refuses_more_than_announced(self, tmp_path: Path) -> None:
        with pytest.raises(NotDownloaded, match=r"announced 5 bytes and sent another number"):
            self.fetch_over_tls(tmp_path, answer=saying(head("Content-Length: 5") + FILE), trust=trusted)
