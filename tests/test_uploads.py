"""Files on the wire: uploads that last, trickle, break off or are refused; exports that nobody reads to their end.

`door` is one service a module and engine, with a second's patience; its list holds what no buffer between server and
client holds, so that an export waits for its reader.
"""

import asyncio
import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import asyncpg
import pytest

from stammdaten.settings import Settings
from tests.processes import Served
from tests.test_door import Door, Wire, make_account, sample
from tests.test_faults import only_postgresql

PATIENCE = 60
IMPORT_LIMIT = 32 << 20
IMPORT = "/lists/spare-parts/import"
EXPORT = "/lists/spare-parts/export"
# 16 MB of products; twice as many articles as are read at once would do, if they were not to fill buffers.
ARTICLES = 4_000
PIECE = b"x" * (256 << 10)


def file_of_articles() -> bytes:
    """Return a file to import, 4 kB an article."""
    lines = (f"A-{number};Bolt;{'x' * 4_000}\n" for number in range(ARTICLES))
    return b"article_number;description1;eccn_comment\n" + "".join(lines).encode()


@pytest.fixture(scope="module")
def door(copied: Callable[[], Settings]) -> Iterator[Door]:
    """A service that waits a second for headers and bodies, with a list that is long."""
    settings = copied()
    made = make_account(settings)
    with Served(settings, body_timeout=1, import_limit=IMPORT_LIMIT) as service:
        door = Door(service, *made)
        answer = door.ask("POST", door.path(IMPORT), body=file_of_articles())
        found = ended(door, answer.json["import"]["id"])
        assert found["created"] == ARTICLES
        yield door


def ended(door: Door, import_id: int) -> dict[str, object]:
    """Ask for an import until it is over; return it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found: dict[str, object] = door.ask("GET", door.path(f"/imports/{import_id}")).json["import"]
        if found["state"] in {"done", "failed"}:
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def uploads(door: Door) -> list[Path]:
    """Return what is kept of uploads that have not arrived whole, or wait to be imported."""
    home = door.service.settings.home
    return [*home.glob("imports/*/.upload-*"), *home.glob("imports/*/*.given")]


def wait_for_uploads(door: Door, number: int) -> None:
    """Wait until so many are kept."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if len(uploads(door)) == number:
            return
        time.sleep(0.02)
    raise AssertionError(uploads(door))


def begin(door: Door, wire: Wire, *headers: str, path: str = IMPORT) -> None:
    """Send the head of an upload."""
    wire.request("POST", door.path(path), door.authorization, *headers)


class TestUpload:
    """POST /lists/{slug}/import, while its body comes."""

    def test_may_last_as_long_as_it_goes_on(self, door: Door) -> None:
        """Half the time-out between two pieces, and several time-outs in all."""
        with door.wire() as wire:
            begin(door, wire, f"Content-Length: {6 * len(PIECE)}")
            for _ in range(6):
                time.sleep(0.5)
                wire.send(PIECE)

            assert wire.answer().status == 202

    def test_is_cut_off_when_it_trickles(self, door: Door) -> None:
        with door.wire() as wire:
            begin(door, wire, "Transfer-Encoding: chunked")
            wire.send(b"40000\r\n" + PIECE + b"\r\n")

            assert wire.is_cut_off_while_sending(b"1\r\n \r\n")

        wait_for_uploads(door, 0)

    @pytest.mark.parametrize("header", [f"Content-Length: {IMPORT_LIMIT}", "Transfer-Encoding: chunked"])
    def test_that_breaks_off_leaves_nothing(self, door: Door, header: str) -> None:
        with door.wire() as wire:
            begin(door, wire, header)
            wire.send(b"900000\r\n" + b"article_number\n".ljust(9 << 20, b"x"))
            wait_for_uploads(door, 1)

        wait_for_uploads(door, 0)

    def test_that_the_disk_does_not_take_leaves_nothing(self, door: Door) -> None:
        """No file may grow beyond a MiB meanwhile."""
        with files_are_limited(door.service.process.pid, 1 << 20):
            answer = door.ask("POST", door.path(IMPORT), body=b"x" * (4 << 20))

        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert answer.json == {"reason": "The file cannot be kept at the moment; please try again."}
        wait_for_uploads(door, 0)

    @only_postgresql
    def test_is_not_slow_while_the_service_is(self, door: Door) -> None:
        """Who has to wait for the database sends nothing meanwhile: nobody reads it."""
        with door.wire() as wire:
            with lists_are_locked(door.service.settings):
                begin(door, wire, f"Content-Length: {4 * len(PIECE)}")
                wire.send(PIECE)
                time.sleep(2.5)
            wire.send(PIECE * 3)

            assert wire.answer().status == 202

    @pytest.mark.parametrize(
        ("path", "headers", "status"),
        [
            (IMPORT, [f"Content-Length: {IMPORT_LIMIT + 1}"], 413),
            (IMPORT, ["Content-Length: " + "9" * 18], 413),
            ("/lists/nowhere/import", ["Content-Length: 2000000000"], 404),
            ("/lists/..%2Fx/import", ["Content-Length: 2000000000"], 404),
            ("/lists/../import", ["Content-Length: 2000000000"], 404),
            ("/lists//import", ["Content-Length: 2000000000"], 404),
            ("/imports/1", ["Content-Length: 2000000000"], 405),
        ],
    )
    def test_that_is_refused_is_not_waited_for(self, door: Door, path: str, headers: list[str], status: int) -> None:
        """Its sender learns so at once, and cannot hold the connection by sending on, however fast."""
        with door.wire() as wire:
            begin(door, wire, *headers, path=path)

            assert wire.answer().status == status
            assert wire.is_cut_off_while_sending(PIECE)

        wait_for_uploads(door, 0)

    def test_that_grows_too_large_is_refused_amid(self, door: Door) -> None:
        with door.wire() as wire:
            begin(door, wire, "Transfer-Encoding: chunked")
            for _ in range(IMPORT_LIMIT // len(PIECE)):
                wire.send(b"40000\r\n" + PIECE + b"\r\n")
            wire.send(b"1\r\n \r\n")

            assert wire.answer().status == 413

        wait_for_uploads(door, 0)

    def test_that_is_refused_leaves_the_connection_good(self, door: Door) -> None:
        """For who sends the rest of it in time."""
        with door.wire() as wire:
            begin(door, wire, f"Content-Length: {IMPORT_LIMIT + 1}")
            assert wire.answer().status == 413
            wire.send(b"x" * (IMPORT_LIMIT + 1))

            wire.request("GET", door.path("/lists"), door.authorization)

            assert wire.answer().status == 200

    @pytest.mark.parametrize("path", [IMPORT, "/lists/nowhere/import"])
    def test_is_not_asked_for_where_it_is_refused(self, door: Door, path: str) -> None:
        with door.wire() as wire:
            authorization = door.authorization if "nowhere" in path else "Authorization: Bearer st_no"
            wire.request("POST", door.path(path), authorization, "Expect: 100-continue", "Content-Length: 1000")

            assert wire.answer().status == (404 if "nowhere" in path else 401)


@contextmanager
def files_are_limited(pid: int, size: int) -> Iterator[None]:
    """Let a process write no file beyond a size meanwhile, as on a full disk."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    yield
    resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def lists_are_locked(settings: Settings) -> Iterator[None]:
    """Let nobody read lists meanwhile."""
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(settings.database_url))
        runner.run(connection.execute("BEGIN; LOCK TABLE lists"))
        yield
        runner.run(connection.close())


@contextmanager
def products_are_away(settings: Settings) -> Iterator[None]:
    """Rename the table meanwhile: what no request causes, and no rule expects."""
    run_sql(settings, "ALTER TABLE products RENAME TO products_away")
    yield
    run_sql(settings, "ALTER TABLE products_away RENAME TO products")


def run_sql(settings: Settings, sql: str) -> None:
    """Change the database directly, past the service."""
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3", isolation_level=None)) as connection:
            connection.execute("PRAGMA busy_timeout = 10000")
            connection.execute(sql)
        return
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(settings.database_url))
        runner.run(connection.execute(sql))
        runner.run(connection.close())


def export_to_its_end(door: Door) -> bytes:
    """Return all that comes, chunks and all, until the connection is closed."""
    with door.wire() as wire:
        wire.request("GET", door.path(EXPORT), door.authorization, "Connection: close")
        return wire.rest()


def counted(door: Door) -> tuple[float, float]:
    """Return how many exports have ended, and how often the database was read."""
    metrics = door.ask("GET", "/metrics").body.decode()
    ended = sample(metrics, "stammdaten_request_seconds_count", route="/api/{prefix}/v1/lists/{slug}/export")
    return ended, sample(metrics, "stammdaten_database_seconds_count", door="read")


def reads_of(door: Door, exports: int, before: tuple[float, float]) -> float:
    """Wait until so many exports have ended; return how often the database was read since."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended, reads = counted(door)
        if ended - before[0] == exports:
            return reads - before[1]
        time.sleep(0.05)
    raise AssertionError(ended)


class TestExport:
    """GET /lists/{slug}/export, while its answer goes."""

    def test_comes_in_chunks_and_ends(self, door: Door) -> None:
        came = export_to_its_end(door)

        assert b"transfer-encoding: chunked" in came.partition(b"\r\n\r\n")[0].lower()
        assert came.endswith(b"\r\n0\r\n\r\n")
        assert came.count(b";Bolt;") == ARTICLES

    def test_breaks_off_where_it_cannot_go_on(self, door: Door) -> None:
        """A file that seems complete and is not would be worse than none."""
        with door.wire() as wire:
            wire.request("GET", door.path(EXPORT), door.authorization)
            assert wire.answer().status == 200
            with products_are_away(door.service.settings):
                came = wire.rest()

        assert not came.endswith(b"\r\n0\r\n\r\n")
        assert came.count(b";Bolt;") < ARTICLES

    def test_is_given_up_where_nobody_reads_it(self, door: Door) -> None:
        """More of them than there are connections to the database; each is ended, and none is read to the end."""
        before = counted(door)
        for _ in range(20):
            with door.wire() as wire:
                wire.request("GET", door.path(EXPORT), door.authorization)
                assert wire.answer().status == 200

        reads = reads_of(door, 20, before)

        assert reads < 20 * ARTICLES / 500
        assert export_to_its_end(door).endswith(b"\r\n0\r\n\r\n")

    def test_is_not_made_for_its_head(self, door: Door) -> None:
        before = counted(door)

        with door.wire() as wire:
            wire.request("HEAD", door.path(EXPORT), door.authorization)
            answer = wire.answer(is_head=True)
            reads = reads_of(door, 1, before)

        assert answer.status == 200
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert "content-length" not in answer.headers
        assert reads < ARTICLES / 500

    def test_waits_for_its_reader_without_holding_others_up(self, door: Door) -> None:
        with ExitStack() as waiting:
            for _ in range(12):
                wire = waiting.enter_context(door.wire())
                wire.request("GET", door.path(EXPORT), door.authorization)
                assert wire.answer().status == 200

            ready, came = door.ask("GET", "/health/ready"), export_to_its_end(door)

        assert ready.status == 200
        assert came.count(b";Bolt;") == ARTICLES
