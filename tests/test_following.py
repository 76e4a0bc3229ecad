"""The proof of the change clock: whoever asks for what changed after the newest stamp they saw, misses nothing.

Writers race over HTTP and through a store of their own (as commands write), while followers that remember one stamp a
query mirror the instance. Each writer has articles of its own, so that no later change covers up for one that was
missed. On SQLite there is one serving process with commands beside it, on PostgreSQL three workers, a second service
and the commands.
"""

import asyncio
import itertools
import json
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import Any, Self, TypeVar

import asyncpg
import httpx2 as httpx
import pytest

from stammdaten.auth import operations as auth
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.lists.operations import create_list
from stammdaten.products.standing import Archiving, Deed, archive_products, delete_products, restore_products
from stammdaten.settings import Settings
from stammdaten.store import Store, Write, open_store
from stammdaten.store.batches import Operation
from tests.cast import Member, Service, found_product, make_product
from tests.contract import check_answer
from tests.processes import Served, command

T = TypeVar("T")

_numbers = itertools.count(1)

WRITERS = 6
ARTICLES = 24
CONTACTS = 10
# Longer than any test takes: what hangs is to fail, and nothing is to be measured.
PATIENCE = 60

BEGINNING = "1970-01-01"
ALL_PRODUCTS = ({"include_archived": "true"}, {"deleted": "true"})
ALL_CONTACTS = ({"is_archived": "false"}, {"is_archived": "true"})


def read_rows(settings: Settings, sql: str) -> list[tuple[Any, ...]]:
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


def run_sql(service: Service, sql: str) -> None:
    """Tamper with the database of a running service."""
    settings = service.settings
    if settings.database_url is None:
        with closing(sqlite3.connect(settings.home / "stammdaten.sqlite3")) as connection:
            connection.execute(sql)
            connection.commit()
        return

    async def execute() -> None:
        connection = await asyncpg.connect(settings.database_url)
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    asyncio.run(execute())


def kept_documents(settings: Settings, table: str, instance_id: int) -> dict[int, Any]:
    """Return the documents of an instance as they are kept, by id."""
    rows = read_rows(settings, f"SELECT id, document FROM {table} WHERE instance_id = {instance_id}")
    return {number: json.loads(document) for number, document in rows}


class Commands:
    """What commands do, without a process for each: a store of one's own on the same database, in a thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        self._store = self._await(open_store(self._settings))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._await(self._store.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Callable[[Store], Awaitable[T]]) -> T:
        """Run work on the store."""

        async def run() -> T:
            return await work(self._store)

        outcome: T = self._await(run())
        return outcome

    def submit(self, instance_id: int, operation: Operation, row: object) -> Any:
        """Apply an operation to a row."""
        return self.run(lambda store: store.submit(instance_id, operation, row))

    def make_account(self, prefix: str) -> tuple[str, int, int]:
        """Make an account with a member and a list; return a token, the list's id and the instance's."""

        async def account(store: Store) -> int:
            await store.writing_shared(lambda write: auth.create_account(write, name=prefix, prefix=prefix))
            async with store.reading_shared() as read:
                found = await instance_by_prefix(read, prefix)
            assert found is not None
            return found[0]

        async def member(write: Write) -> tuple[str, int]:
            await auth.create_user(write, name="anna", roles=["api-user"])
            token = await auth.create_token(write, user_name="anna", days=None)
            return token, await create_list(write, name="Spare Parts", slug=None)

        instance_id = self.run(account)
        token, list_id = self.run(lambda store: store.writing(instance_id, member))
        return token, list_id, instance_id

    def _await(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)


@dataclass
class Race:
    """The services on one database, and what all runners know: the newest stamp seen, and whether it is over."""

    services: list[Served]
    commands: Commands
    prefix: str
    token: str
    list_id: int
    instance_id: int
    over: threading.Event = field(default_factory=threading.Event)
    newest_seen: str = ""
    # What each write gave back, and the newest stamp that was known before it was asked for.
    acknowledged: list[tuple[int, str]] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        """What the services serve."""
        return self.services[0].settings

    def client(self, number: int, **given: Any) -> httpx.Client:
        """Return a client of the service whose turn it is."""
        return self.services[number % len(self.services)].client(self.prefix, self.token, **given)


@pytest.fixture(scope="module")
def running(engine: str, copied: Callable[[], Settings]) -> Iterator[tuple[list[Served], Commands]]:
    """Everything that can write to one database at once; each race has an instance of its own there."""
    settings = copied()
    with ExitStack() as stack:
        commands = stack.enter_context(Commands(settings))
        services = [stack.enter_context(Served(settings, workers=1 if engine == "sqlite" else 3))]
        if engine == "postgresql":
            services.append(stack.enter_context(Served(settings)))
        yield services, commands


@pytest.fixture
def race(running: tuple[list[Served], Commands]) -> Race:
    """Set up a race in an instance of its own."""
    services, commands = running
    prefix = f"race-{next(_numbers)}"
    token, list_id, instance_id = commands.make_account(prefix)
    return Race(services, commands, prefix, token, list_id, instance_id)


class Writer:
    """Creates articles of its own and changes them in every way there is."""

    def __init__(self, race: Race, number: int) -> None:
        self.race = race
        self.number = number
        self.client = race.client(number)

    def run(self) -> None:
        """Write everything; an answer that is no success is an error."""
        with self.client:
            for place in range(ARTICLES):
                self._live_through(f"w{self.number}-{place}", place)

    def _live_through(self, article_number: str, place: int) -> None:
        self._create(article_number)
        self._update(article_number, f"changed {place}")
        match place % 6:
            case 0:
                self._apply(archive_products, Archiving(article_number, "operator", True))
            case 1:
                self._apply(archive_products, Archiving(article_number, "operator", True))
                self._update(article_number, "archived and changed")
                self._apply(archive_products, Archiving(article_number, "operator", False))
            case 2:
                self._apply(delete_products, Deed(article_number, "operator"))
            case 3:
                self._apply(delete_products, Deed(article_number, "operator"))
                self._create(article_number)
            case 4:
                self._apply(archive_products, Archiving(article_number, "operator", True))
                self._apply(delete_products, Deed(article_number, "operator"))
            case 5:
                self._apply(delete_products, Deed(article_number, "operator"))
                self._apply(restore_products, Deed(article_number, "operator"))
                self._update(article_number, "restored and changed")

    def _create(self, article_number: str) -> None:
        product = {"article_number": article_number, "designation": "Hex bolt M8"}
        self._send("POST", {"list_id": self.race.list_id, "product": product})

    def _update(self, article_number: str, designation: str) -> None:
        action_id = self._send("PUT", {"article_number": article_number, "product": {"designation": designation}})
        self.race.acknowledged.append(action_id)

    def _send(self, method: str, body: object) -> tuple[int, str]:
        before = self.race.newest_seen
        response = self.client.request(method, "/products", json=body)
        check_answer(method, response.request.url.path, response)
        assert response.is_success, response.text
        return response.json()["id"], before

    def _apply(self, operation: Operation, row: object) -> None:
        before = self.race.newest_seen
        action_id = self.race.commands.submit(self.race.instance_id, operation, row)
        self.race.acknowledged.append((action_id, before))


class ContactWriter(Writer):
    """The same for contacts; nothing is deleted, because a list does not show what is gone."""

    def run(self) -> None:
        """Write everything."""
        with self.client:
            for place in range(CONTACTS):
                uid = f"w{self.number}-{place}"
                self._ask("POST", "/contacts", {"contact_uid": uid, "last_name": "Lindgren"})
                self._ask("PUT", f"/contacts/{uid}", {"city": f"Town {place}"})
                self._ask("PUT", f"/contacts/{uid}", {"is_archived": place % 2 == 0})

    def _ask(self, method: str, path: str, contact: object) -> None:
        response = self.client.request(method, path, json={"contact": contact})
        check_answer(method, response.request.url.path, response)
        assert response.is_success, response.text


class Follower:
    """Mirrors an instance by queries that each remember one stamp: the newest they have seen, as it came."""

    def __init__(self, race: Race, kind: str, queries: tuple[dict[str, str], ...]) -> None:
        self.race = race
        self.kind = kind
        self.cursors = dict.fromkeys(range(len(queries)), BEGINNING)
        self.queries = queries
        self.mirror: dict[int, Any] = {}
        # Each stamp, and the one row that may have it.
        self.seen: dict[str, int] = {}

    def run(self) -> None:
        """Follow until the race is over and nothing new comes."""
        # A new connection for each request: another worker each time.
        limits = httpx.Limits(max_keepalive_connections=0)
        with ExitStack() as stack:
            clients = [
                stack.enter_context(self.race.client(number, limits=limits))
                for number in range(len(self.race.services))
            ]
            for client in itertools.cycle(clients):
                is_over = self.race.over.is_set()
                news = sum(self._catch_up(client, number) for number in self.cursors)
                if is_over and not news:
                    return
                if not news:
                    # A breath, so that the followers do not take the processor from the writers.
                    self.race.over.wait(0.03)

    def _catch_up(self, client: httpx.Client, number: int) -> int:
        """Ask for page 1 after the newest stamp until nothing new is on it; return how much was new."""
        news = 0
        while rows := self._page(client, number):
            news += len(rows)
        return news

    def _page(self, client: httpx.Client, number: int) -> list[Any]:
        query = {"timestamp": self.cursors[number], **self.queries[number]}
        response = client.get(f"/{self.kind}", params=query)
        check_answer("GET", response.request.url.path, response)
        assert response.status_code == 200, response.text
        rows: list[Any] = response.json()[self.kind]
        stamps = [row["updated_at"] for row in rows]
        assert all(earlier < later for earlier, later in pairwise(stamps)), stamps
        for row in rows:
            self._note(row)
        # Contacts are asked for from a moment on, that moment included.
        fresh = [row for row in rows if row["updated_at"] > self.cursors[number]]
        if fresh:
            self.cursors[number] = fresh[-1]["updated_at"]
            self.race.newest_seen = max(self.race.newest_seen, self.cursors[number])
        return fresh

    def _note(self, row: Any) -> None:
        assert self.seen.setdefault(row["updated_at"], row["id"]) == row["id"], row
        known = self.mirror.get(row["id"])
        if known is None or known["updated_at"] <= row["updated_at"]:
            self.mirror[row["id"]] = row


def run_race(race: Race, writers: list[Writer], followers: list[Follower], *others: Callable[[], None]) -> None:
    """Let all run at once, until the writers are done and the followers have caught up."""
    with ThreadPoolExecutor(len(writers) + len(followers) + len(others)) as threads:
        following = [threads.submit(follower.run) for follower in followers]
        writing: list[Future[None]] = [threads.submit(work) for work in others]
        writing += [threads.submit(writer.run) for writer in writers]
        try:
            for future in writing:
                future.result(PATIENCE)
        finally:
            race.over.set()
        for future in following:
            future.result(PATIENCE)


class TestFollowingProducts:
    """GET products, page 1 after the newest `updated_at` seen, again and again."""

    def test_mirrors_an_instance_that_many_write_to_at_once(self, race: Race) -> None:
        writers = [Writer(race, number) for number in range(WRITERS)]
        followers = [Follower(race, "products", ALL_PRODUCTS) for _ in range(3)]

        def command_beside() -> None:
            """Commands as an operator types them, each a process of its own."""
            made = command(race.settings, "list", "create", "--prefix", race.prefix, "Made Meanwhile")
            with race.client(0) as client:
                product = {"article_number": "typed", "designation": "Hex bolt M8"}
                created = client.post("/products", json={"list_id": int(made), "product": product})
            assert created.status_code == 201, created.text
            for deed in ("archive", "delete"):
                command(race.settings, "product", deed, "--prefix", race.prefix, "typed")

        run_race(race, writers, followers, command_beside)

        kept = kept_documents(race.settings, "products", race.instance_id)
        # One more for each article created anew after its deletion, and the one typed.
        assert len(kept) == WRITERS * (ARTICLES + ARTICLES // 6) + 1
        for follower in followers:
            assert follower.mirror == kept
        self._check_stamps(race, kept)
        assert command(race.settings, "check") == "everything agrees\n"

    def _check_stamps(self, race: Race, kept: dict[int, Any]) -> None:
        actions = read_rows(
            race.settings,
            f"SELECT id, product_id, at FROM actions WHERE instance_id = {race.instance_id} ORDER BY id",
        )
        stamps = [at for _, _, at in actions]
        assert all(earlier < later for earlier, later in pairwise(stamps))
        of_lists = read_rows(race.settings, f"SELECT updated_at FROM lists WHERE instance_id = {race.instance_id}")
        assert not {at for (at,) in of_lists} & set(stamps)
        newest = {product_id: at for _, product_id, at in actions}
        assert newest == {product_id: product["updated_at"] for product_id, product in kept.items()}
        # What was asked for after somebody had seen a stamp is stamped later: the order of stamps is that of commits.
        stamp_of = {action_id: at for action_id, _, at in actions}
        assert race.acknowledged
        for action_id, seen_before in race.acknowledged:
            assert stamp_of[action_id] > seen_before


class TestFollowingContacts:
    """GET contacts from the newest `updated_at` seen on, again and again."""

    def test_mirrors_contacts_that_many_write_at_once(self, race: Race) -> None:
        writers: list[Writer] = [ContactWriter(race, number) for number in range(4)]
        followers = [Follower(race, "contacts", ALL_CONTACTS) for _ in range(2)]

        run_race(race, writers, followers)

        kept = kept_documents(race.settings, "contacts", race.instance_id)
        assert len(kept) == 4 * CONTACTS
        for follower in followers:
            assert follower.mirror == kept
        records = read_rows(
            race.settings,
            f"SELECT at FROM contact_history WHERE instance_id = {race.instance_id} ORDER BY id",
        )
        assert len(records) == 4 * CONTACTS * 3
        assert all(earlier < later for (earlier,), (later,) in pairwise(records))


def mirrored(member: Member, mirror: dict[int, Any], cursor: str) -> str:
    """Read pages after a stamp until one is short, by the two queries; return the newest stamp seen."""
    newest = cursor
    for query in ALL_PRODUCTS:
        for page in itertools.count(1):
            products = member.get("/products", timestamp=cursor, page=page, **query).json()["products"]
            mirror |= {product["id"]: product for product in products}
            newest = max([newest, *(product["updated_at"] for product in products)])
            if len(products) < 30:
                break
    return newest


class TestFollowingWithAShortMemory:
    """A client that keeps only a part of the stamp, and reads pages until one is short."""

    @pytest.mark.parametrize("digits", [pytest.param(19, id="seconds"), pytest.param(23, id="milliseconds")])
    def test_misses_nothing_once_writing_has_stopped(self, anna: Member, digits: int) -> None:
        mirror: dict[int, Any] = {}
        cursor = BEGINNING
        for round_ in range(3):
            # More than a page at a stroke, so that many changes share the second and the millisecond.
            for number in range(45):
                make_product(anna, f"{round_}-{number}")
            anna.service.run(partial(change_at_once, member=anna, round_=round_))

            cursor = mirrored(anna, mirror, cursor)[:digits]

        assert mirror == kept_documents(anna.service.settings, "products", anna.instance_id)


async def change_at_once(store: Store, *, member: Member, round_: int) -> None:
    """Archive and delete articles of a round in one batch."""
    await asyncio.gather(
        *(
            store.submit(member.instance_id, archive_products, Archiving(f"{round_}-{number}", "operator", True))
            for number in range(40)
        ),
        *(
            store.submit(member.instance_id, delete_products, Deed(f"{round_}-{number}", "operator"))
            for number in range(35)
        ),
    )


def clock_warnings(member: Member) -> float:
    """Return how often the service has warned of stamps ahead of the wall clock."""
    lines = member.service.request("GET", "/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("stammdaten_clock_ahead_total"))


class TestClockFarAhead:
    """A clock row that says a later time than the wall: a machine whose clock was wrong has written before."""

    def test_goes_on_one_microsecond_a_change(self, anna: Member) -> None:
        make_product(anna, "before")
        run_sql(
            anna.service,
            f"UPDATE clocks SET product_stamp = '2090-01-01T00:00:00.000000' WHERE instance_id = {anna.instance_id}",
        )

        for number in (1, 2):
            make_product(anna, f"A-{number}")
        anna.put("/products", {"article_number": "before", "product": {"designation": "Changed"}})

        stamps = [found_product(anna, number)["updated_at"] for number in ("A-1", "A-2", "before")]
        assert stamps == [f"2090-01-01T00:00:00.00000{step}" for step in (1, 2, 3)]

    def test_warns_in_the_metrics(self, anna: Member, bruno: Member) -> None:
        run_sql(
            anna.service,
            f"UPDATE clocks SET product_stamp = '2090-01-01T00:00:00.000000' WHERE instance_id = {anna.instance_id}",
        )
        before = clock_warnings(anna)

        make_product(bruno)
        of_a_sound_clock = clock_warnings(anna)
        make_product(anna)

        assert of_a_sound_clock == before
        assert clock_warnings(anna) == before + 1

    def test_is_followed_like_any_other(self, anna: Member) -> None:
        make_product(anna, "before")
        run_sql(
            anna.service,
            f"UPDATE clocks SET product_stamp = '2090-01-01T00:00:00.000000' WHERE instance_id = {anna.instance_id}",
        )
        make_product(anna, "after")
        cursor = found_product(anna, "before")["updated_at"]

        products = anna.get("/products", timestamp=cursor).json()["products"]

        assert [product["article_number"] for product in products] == ["after"]

    def test_stays_with_its_instance(self, anna: Member) -> None:
        sister = anna.service.instance_id(f"{anna.prefix}-test")
        run_sql(
            anna.service,
            f"UPDATE clocks SET product_stamp = '2090-01-01T00:00:00.000000' WHERE instance_id = {anna.instance_id}",
        )

        anna.service.write(sister, lambda write: create_list(write, name="Elsewhere", slug=None))

        stamps = read_rows(anna.service.settings, f"SELECT product_stamp FROM clocks WHERE instance_id = {sister}")
        assert stamps[0][0] < "2090"
