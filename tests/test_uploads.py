"""Files on the wire: uploads that last, trickle, break off or are refused; exports that nobody reads to their end.

`door` is one service a module and engine, as patient as the tests; its list holds what no buffer between server and
client holds, so that an export waits for its reader. `hasty` waits two seconds for headers and bodies.
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
from tests.processes import PATIENCE, Served, wait_until
from tests.test_door import Door, Wire, make_account, sample
from tests.test_faults import only_postgresql

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
    """A service with a list that is long."""
    settings = copied()
    made = make_account(settings)
    with Served(settings, body_timeout=PATIENCE, import_limit=IMPORT_LIMIT) as service:
        door = Door(service, *made)
        answer = door.ask("POST", door.path(IMPORT), body=file_of_articles())
        found = ended(door, answer.json["import"]["id"])
        assert found["created"] == ARTICLES
        yield door


@pytest.fixture(scope="module")
def hasty(copied: Callable[[], Settings]) -> Iterator[Door]:
    """A service that waits two seconds for headers and bodies."""
    settings = copied()
    made = make_account(settings)
    with Served(settings, body_timeout=2, import_limit=IMPORT_LIMIT) as service:
        yield Door(service, *made)


def ended(door: Door, import_id: int) -> dict[str, object]:
    """Ask for an import until it is over; return it."""
    found: dict[str, object] = {}

    def is_over() -> bool:
        found.update(door.ask("GET", door.path(f"/imports/{import_id}")).json["import"])
        return found["state"] in {"done", "failed"}

    wait_until(is_over)
    return found


def uploads(door: Door) -> set[Path]:
    """Return what is kept of uploads that have not arrived whole, or wait to be imported."""
    home = door.service.settings.home
    return {*home.glob("imports/*/.upload-*"), *home.glob("imports/*/*.given")}


def nothing_is_kept(door: Door) -> bool:
    """Whether all uploads have been imported, or removed."""
    return not uploads(door)


def begin(door: Door, wire: Wire, *headers: str, path: str = IMPORT) -> None:
    """Send the head of an upload."""
    wire.request("POST", door.path(path), door.authorization, *headers)


class TestUpload:
    """POST /lists/{slug}/import, while its body comes."""

    def test_may_last_as_long_as_it_goes_on(self, fresh: Settings) -> None:
        """Longer than the time-out in all, and much less than it between two pieces."""
        made = make_account(fresh)
        with Served(fresh, body_timeout=6) as service:
            door = Door(service, *made)
            with door.wire() as wire:
                begin(door, wire, f"Content-Length: {14 * len(PIECE)}")
                for _ in range(14):
                    time.sleep(0.5)
                    wire.send(PIECE)

                assert wire.answer().status == 202

    def test_is_cut_off_when_it_trickles(self, hasty: Door) -> None:
        with hasty.wire() as wire:
            begin(hasty, wire, "Transfer-Encoding: chunked")
            wire.send(b"40000\r\n" + PIECE + b"\r\n")

            assert wire.is_cut_off_while_sending(b"1\r\n \r\n")

        wait_until(nothing_is_kept, hasty)

    @pytest.mark.parametrize("header", [f"Content-Length: {IMPORT_LIMIT}", "Transfer-Encoding: chunked"])
    def test_that_breaks_off_leaves_nothing(self, door: Door, header: str) -> None:
        others = uploads(door)
        with door.wire() as wire:
            begin(door, wire, header)
            wire.send(b"900000\r\n" + b"article_number\n".ljust(9 << 20, b"x"))
            wait_until(lambda: uploads(door) - others)

        wait_until(nothing_is_kept, door)

    def test_that_the_disk_does_not_take_leaves_nothing(self, door: Door) -> None:
        """No file may grow beyond a MiB meanwhile."""
        with files_are_limited(door.service.process.pid, 1 << 20):
            answer = door.ask("POST", door.path(IMPORT), body=b"x" * (4 << 20))

        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert answer.json == {"reason": "The file cannot be kept at the moment; please try again."}
        wait_until(nothing_is_kept, door)

    @only_postgresql
    def test_is_not_slow_while_the_service_is(self, hasty: Door) -> None:
        """Nobody reads what was sent to a service that waits for its database."""
        with hasty.wire() as wire:
            with lists_are_locked(hasty.service.settings):
                begin(hasty, wire, f"Content-Length: {2 * len(PIECE)}")
                wire.send(PIECE * 2)
                time.sleep(3.5)

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
    def test_that_is_refused_is_not_waited_for(self, hasty: Door, path: str, headers: list[str], status: int) -> None:
        """Its sender learns so at once, and cannot hold the connection by sending on, however fast."""
        with hasty.wire() as wire:
            begin(hasty, wire, *headers, path=path)

            assert wire.answer().status == status
            assert wire.is_cut_off_while_sending(PIECE)

        wait_until(nothing_is_kept, hasty)

    def test_that_grows_too_large_is_refused_amid(self, door: Door) -> None:
        with door.wire() as wire:
            begin(door, wire, "Transfer-Encoding: chunked")
            for _ in range(IMPORT_LIMIT // len(PIECE)):
                wire.send(b"40000\r\n" + PIECE + b"\r\n")
            wire.send(b"1\r\n \r\n")

            assert wire.answer().status == 413

        wait_until(nothing_is_kept, door)

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
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def lists_are_locked(settings: Settings) -> Iterator[None]:
    """Let nobody read lists meanwhile."""
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(settings.database_url))
        try:
            runner.run(connection.execute("BEGIN; LOCK TABLE lists"))
            yield
        finally:
            runner.run(connection.close())


@contextmanager
def products_are_away(settings: Settings) -> Iterator[None]:
    """Rename the table meanwhile: what no request causes, and no rule expects."""
    run_sql(settings, "ALTER TABLE products RENAME TO products_away")
    try:
        yield
    finally:
        run_sql(settings, "ALTER TABLE products_away RENAME TO products")


def run_sql(settings: Settings, sql: str) -> None:
    """Change the database directly, past the service."""
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3", isolation_level=None)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
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


def reads_of_export(door: Door) -> float:
    """Ask for an export and leave; wait until it has ended, and return how often the database was read meanwhile."""
    ended, reads = counted(door)
    with door.wire() as wire:
        wire.request("GET", door.path(EXPORT), door.authorization)
        assert wire.answer().status == 200
    wait_until(lambda: counted(door)[0] > ended)
    return counted(door)[1] - reads


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
        reads = [reads_of_export(door) for _ in range(20)]

        # The least: the service looks for work in between.
        assert min(reads) < ARTICLES / 500
        assert export_to_its_end(door).endswith(b"\r\n0\r\n\r\n")

    def test_is_not_made_for_its_head(self, door: Door) -> None:
        """There would be nothing to make it of, and the connection would not be good for more."""
        with door.wire() as wire, products_are_away(door.service.settings):
            wire.request("HEAD", door.path(EXPORT), door.authorization)
            answer = wire.answer(is_head=True)
            wire.request("GET", "/health/live")
            assert wire.answer().status == 200

        assert answer.status == 200
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert "content-length" not in answer.headers

    def test_waits_for_its_reader_without_holding_others_up(self, door: Door) -> None:
        with ExitStack() as waiting:
            for _ in range(12):
                wire = waiting.enter_context(door.wire())
                wire.request("GET", door.path(EXPORT), door.authorization)
                assert wire.answer().status == 200

            ready, came = door.ask("GET", "/health/ready"), export_to_its_end(door)

        assert ready.status == 200
        assert came.count(b";Bolt;") == ARTICLES
