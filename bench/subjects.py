"""The measured services, made ready and served: the textbook, stammdaten on both engines, a constant."""

import os
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bench.load import Target
from bench.peers import textbook_data
from bench.postgres import Postgres
from bench.processes import PYTHON, Server, free_port, serving, uvicorn

Engine = Literal["postgresql", "sqlite"]
PREFIX = "bench"
_STAMMDATEN = str(Path(PYTHON).with_name("stammdaten"))
# A page after one of these is full, also when updates have moved some products to the end.
_STAMPS = """
    SELECT updated_at
    FROM (SELECT updated_at, row_number() OVER (ORDER BY updated_at) AS place FROM products) AS placed
    WHERE place % {step} = 0 AND place < {most}
"""


@dataclass(frozen=True)
class Filled:
    """A filled database of stammdaten, not served yet."""

    engine: Engine
    home: Path
    environment: dict[str, str]
    token: str
    rows: int
    instance_id: int
    stamps: Path
    database: str = ""

    @property
    def file(self) -> Path:
        """Return the file of the embedded database."""
        return self.home / "stammdaten.sqlite3"


@dataclass(frozen=True)
class Subject:
    """A service that runs."""

    server: Server
    token: str
    rows: int = 0
    stamps: Path | None = None
    database_pid: int | None = None

    def target(self, script: str) -> Target:
        """Return what to put load on."""
        settings = {
            "BENCH_TOKEN": self.token,
            "BENCH_ROWS": str(self.rows),
            "BENCH_STAMPS": str(self.stamps),
        }
        return Target(script, self.server.address, self.server.pid, self.database_pid, settings)


def command(environment: dict[str, str], *arguments: str) -> str:
    """Run a command of stammdaten and return the last line it printed.

    :raises RuntimeError: if it failed.
    """
    done = subprocess.run(
        [_STAMMDATEN, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"stammdaten {' '.join(arguments[:2])} failed: {done.stderr or done.stdout}")
    return (done.stdout.strip().splitlines() or [""])[-1].strip()


def filled(folder: Path, postgres: Postgres | None, *, rows: int, contacts: int = 0) -> Filled:
    """Make a database of stammdaten, on PostgreSQL if a server is given, and fill it."""
    engine: Engine = "sqlite" if postgres is None else "postgresql"
    home = folder / f"{engine}-{rows}"
    home.mkdir()
    environment, database = (
        {"STAMMDATEN_HOME": str(home), "STAMMDATEN_DATABASE_URL": ""},
        "",
    )
    if postgres is not None:
        database = f"stammdaten_{rows}"
        environment["STAMMDATEN_DATABASE_URL"] = postgres.create(database)
    command(environment, "migrate")
    command(environment, "account", "create", "Bench", "--prefix", PREFIX)
    command(
        environment,
        "user",
        "create",
        "--prefix",
        PREFIX,
        "--name",
        "bench",
        "--role",
        "api-user",
    )
    token = command(environment, "token", "create", "--prefix", PREFIX, "--user", "bench")
    list_id = command(environment, "list", "create", "--prefix", PREFIX, "Bench")
    subprocess.run(
        [PYTHON, "-m", "bench.filling", str(rows), str(contacts), list_id],
        env={**os.environ, **environment, "BENCH_TOKEN": token},
        check=True,
    )
    asked = _Asking(postgres, database, home / "stammdaten.sqlite3")
    step = max(1, rows // 20_000)
    stamps = home / "stamps"
    stamps.write_text("".join(f"{stamp}\n" for stamp in asked.column(_STAMPS.format(step=step, most=rows * 3 // 4))))
    (instance_id,) = asked.column(f"SELECT id FROM instances WHERE prefix = '{PREFIX}'")
    return Filled(engine, home, environment, token, rows, instance_id, stamps, database)


@dataclass(frozen=True)
class _Asking:
    """Asks a database, served or not, on a connection of its own."""

    postgres: Postgres | None
    database: str
    file: Path

    def column(self, sql: str) -> list[Any]:
        if self.postgres is not None:
            self.postgres.run(self.database, "VACUUM ANALYZE")
            return self.postgres.column(self.database, sql)
        connection = sqlite3.connect(self.file)
        try:
            return [row[0] for row in connection.execute(sql)]
        finally:
            connection.close()


def copied(made: Filled, folder: Path) -> Filled:
    """Copy an embedded database that is not served."""
    home = folder / f"{made.home.name}-copy"
    shutil.copytree(made.home, home)
    return replace(made, home=home, environment={**made.environment, "STAMMDATEN_HOME": str(home)})


@contextmanager
def serve(made: Filled, postgres: Postgres | None = None, *, module: str | None = None) -> Iterator[Subject]:
    """Serve a database with one worker, log and metrics on; `module` is run instead of `stammdaten serve`."""
    port = free_port()
    line = [_STAMMDATEN, "serve"] if module is None else [PYTHON, "-m", module]
    environment = {
        **made.environment,
        "STAMMDATEN_PORT": str(port),
        "STAMMDATEN_WORKERS": "1",
    }
    log = made.home / "log"
    with serving(line, environment, port=port, ready="/health/ready", log=log) as server:
        database_pid = None if postgres is None else postgres.pid
        yield Subject(server, made.token, made.rows, made.stamps, database_pid)


@contextmanager
def textbook(folder: Path, postgres: Postgres, *, rows: int) -> Iterator[Subject]:
    """Fill and serve the textbook service."""
    textbook_data.fill(postgres.create("textbook"), rows=rows)
    stamps = folder / "textbook-stamps"
    sampled = (textbook_data.stamp(n).isoformat() for n in range(1, rows * 3 // 4, max(1, rows // 20_000)))
    stamps.write_text("".join(f"{stamp}\n" for stamp in sampled))
    port, token = free_port(), secrets.token_urlsafe(32)
    environment = {
        "BENCH_DATABASE_URL": postgres.url("textbook", driver="asyncpg"),
        "BENCH_TOKEN": token,
    }
    line = uvicorn("bench.peers.textbook:app", port)
    with serving(line, environment, port=port, ready="/docs", log=folder / "textbook-log") as server:
        yield Subject(server, token, rows, stamps, postgres.pid)


@contextmanager
def constant(folder: Path, *, size: int, like: Subject) -> Iterator[Subject]:
    """Serve a constant answer of a size; it is asked what `like` is asked."""
    port = free_port()
    line = uvicorn("bench.peers.constant:app", port)
    environment = {"BENCH_ANSWER_BYTES": str(size)}
    with serving(line, environment, port=port, ready="/", log=folder / "constant-log") as server:
        yield Subject(server, like.token, like.rows, like.stamps)
