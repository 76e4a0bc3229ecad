"""What clients of a serving process notice while a file is imported beside it."""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.request import Request, urlopen

from bench.exchange.articles import Goods, write_articles
from bench.exchange.asking import PAGE, Answered, asked
from bench.exchange.importing import COUNTS, check_counts
from bench.exchange.spending import largest_process
from bench.postgres import Postgres
from bench.rounds import say
from bench.subjects import PREFIX, Subject, command, filled, serve

_API = f"/api/{PREFIX}/v1"
_SLUG = "second"
_IDLE_SECONDS = 10
# What the clients create is numbered from here on, far from what is there.
_FIRST = (10_000_000, 20_000_000, 30_000_000)
_TIMEOUT_SECONDS = 60
_LOOK_SECONDS = 0.2


class Noticed(NamedTuple):
    """A kind of request, answered by a service that has nothing else to do, and by one that imports.

    The other load is that of the import's time.
    """

    engine: str
    kind: str
    idle: Answered
    importing: Answered
    other_load: float

    @property
    def factor(self) -> float:
        """Return how many times the p99 of an idle service is reached."""
        return self.importing.p99 / self.idle.p99


class Meanwhile(NamedTuple):
    """What was noticed of an import, how long that took, and the most memory of its process in MB."""

    engine: str
    noticed: list[Noticed]
    rows: int
    seconds: float
    memory: float


def meanwhile(folder: Path, goods: list[Goods], *, before: int, rows: int, postgres: Postgres | None) -> Meanwhile:
    """Ask a service of so many products, idle and while it imports a file of new rows into a second list."""
    engine = "SQLite" if postgres is None else "PostgreSQL"
    made = filled(folder, postgres, rows=before)
    list_id = command(made.environment, "list", "create", "--prefix", PREFIX, "Second", "--slug", _SLUG)
    file = folder / "second.csv"
    write_articles(file, goods, range(rows))
    with serve(made, postgres) as subject:
        ask = partial(asked, subject, list_id=list_id)
        # Twice, and the calmer one counts: a neighbour's load must not make an import look harmless.
        idle = min(
            (ask(first=first, during=partial(time.sleep, _IDLE_SECONDS))[0].answered for first in _FIRST[:2]),
            key=lambda answered: answered[PAGE].p99,
        )
        began = time.perf_counter()
        busy, memory = ask(first=_FIRST[2], during=partial(_import, subject, file, rows))
        elapsed = time.perf_counter() - began
    noticed = [Noticed(engine, kind, idle[kind], busy.answered[kind], busy.other_load) for kind in idle]
    for one in noticed:
        say(f"{engine:10} {one.kind:27} p99 {one.idle.p99:.2f} ms idle, {one.importing.p99:.2f} ms importing")
    return Meanwhile(engine, noticed, rows, elapsed, memory)


def _import(subject: Subject, file: Path, rows: int) -> float:
    """Import a file and wait until that is done; return the most memory that a process had meanwhile, in MB."""
    standing = _ordered(subject, file)
    path, most = f"{_API}/imports/{standing['id']}", 0.0
    while standing.get("state") not in {"done", "failed"}:
        time.sleep(_LOOK_SECONDS)
        most = max(most, largest_process(subject.server.pid))
        standing = _answer(subject, path)
    check_counts(", ".join(f"{standing[name]} {name}" for name in COUNTS), {"created": rows})
    return most


def _ordered(subject: Subject, file: Path) -> Any:
    with file.open("rb") as body:
        headers = {"Content-Type": "text/csv", "Content-Length": str(file.stat().st_size)}
        return _answer(subject, f"{_API}/lists/{_SLUG}/import", body, headers)


def _answer(subject: Subject, path: str, body: BinaryIO | None = None, headers: dict[str, str] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {subject.token}", **(headers or {})}
    # A body that is a file is streamed.
    request = Request(subject.server.address + path, data=body, headers=headers)
    with urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
        return json.load(answer)["import"]
