"""The whole measurement: fills the databases, serves the subjects side by side, runs the rounds."""

import json
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.data import article_number
from bench.floors import postgres_floor, sqlite_floor
from bench.footprint import footprint
from bench.load import Measured, load
from bench.names import (
    FIND,
    FLOOR_HTTP,
    FLOOR_POSTGRES,
    FLOOR_SQLITE,
    FOOTPRINT,
    GROWTH,
    ON_POSTGRES,
    ON_SQLITE,
    ONE_COMMIT,
    PAGE,
    PAGING,
    TEXTBOOK,
    UPDATE,
    at_size,
)
from bench.paging import all_paged
from bench.postgres import Postgres
from bench.rounds import Results, Variant, run_rounds, say
from bench.statements import find_statement, page_statement
from bench.subjects import (
    PREFIX,
    Filled,
    Subject,
    constant,
    copied,
    filled,
    serve,
    textbook,
)
from bench.targets import Findings

_CONTACTS = 100_000
_PAGE_SIZE = 30
_PRODUCTS = f"/api/{PREFIX}/v1/products"
_ONE_COMMIT = "bench.peers.one_commit"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to measure, how large and how long."""

    rows: int
    sizes: tuple[int, ...]
    seconds: float
    rounds: int
    parts: frozenset[str]


@dataclass
class _Bench:
    """The stage: a folder, a PostgreSQL, the filled databases by size and what is served from them."""

    folder: Path
    postgres: Postgres
    plan: Plan
    on_postgres: dict[int, Filled] = field(default_factory=dict)
    on_sqlite: dict[int, Filled] = field(default_factory=dict)
    served: dict[tuple[str, int], Subject] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return self.plan.rows


def run(plan: Plan, *, folder: Path, postgres: Postgres) -> Findings:
    """Measure everything that the plan names."""
    bench = _Bench(folder, postgres, plan)
    _fill(bench)
    findings = Findings(Results(), plan.sizes)
    if FOOTPRINT in plan.parts:
        say("starting workers")
        findings.footprints = [
            footprint("PostgreSQL", partial(serve, bench.on_postgres[plan.rows], postgres)),
            footprint("SQLite", partial(serve, bench.on_sqlite[plan.rows])),
        ]
    with _serving(bench) as variants:
        if PAGING in plan.parts:
            say("asking for deep pages and contacts")
            findings.paged = [
                paged
                for (name, rows), subject in bench.served.items()
                for paged in all_paged(subject, name, with_contacts=rows == plan.rows)
            ]
        findings.results = run_rounds(
            variants,
            rounds=plan.rounds,
            seconds=plan.seconds,
            between=partial(_vacuum, bench),
        )
    return findings


def _fill(bench: _Bench) -> None:
    # Both engines at once: one core renders for the one while the other renders for the other.
    with ThreadPoolExecutor(2) as engines:
        on_postgres = engines.submit(_filled_sizes, bench, bench.postgres)
        on_sqlite = engines.submit(_filled_sizes, bench, None)
        bench.on_postgres, bench.on_sqlite = on_postgres.result(), on_sqlite.result()


def _filled_sizes(bench: _Bench, postgres: Postgres | None) -> dict[int, Filled]:
    made = {}
    for rows in _sizes(bench.plan):
        say(f"filling {'SQLite' if postgres is None else 'PostgreSQL'} with {rows:,} products")
        contacts = _CONTACTS if rows == bench.rows and PAGING in bench.plan.parts else 0
        made[rows] = filled(bench.folder, postgres, rows=rows, contacts=contacts)
    return made


def _sizes(plan: Plan) -> list[int]:
    return sorted({plan.rows, *plan.sizes}) if GROWTH in plan.parts else [plan.rows]


@contextmanager
def _serving(bench: _Bench) -> Iterator[list[Variant]]:
    """Serve all subjects side by side, idle but for the one that is measured."""
    with ExitStack() as stack:
        # The copy first: afterwards the file is in use.
        lone = copied(bench.on_sqlite[bench.rows], bench.folder) if UPDATE in bench.plan.parts else None
        for rows, made in bench.on_postgres.items():
            bench.served[ON_POSTGRES, rows] = stack.enter_context(serve(made, bench.postgres))
        for rows, made in bench.on_sqlite.items():
            bench.served[ON_SQLITE, rows] = stack.enter_context(serve(made))
        variants: list[Variant] = []
        if bench.plan.parts & {PAGE, FIND, UPDATE}:
            rival = stack.enter_context(textbook(bench.folder, bench.postgres, rows=bench.rows))
            for group in (PAGE, FIND):
                if group in bench.plan.parts:
                    variants += _reading(bench, stack, group, rival)
            if lone is not None:
                single = stack.enter_context(serve(lone, module=_ONE_COMMIT))
                variants += _updating(bench, rival, single)
        if GROWTH in bench.plan.parts:
            variants += _growing(bench)
        yield variants


def _loading(group: str, name: str, subject: Subject, script: str) -> Variant:
    target = subject.target(script)
    return Variant(group, name, lambda seconds, seed: load(target, seconds=seconds, seed=seed))


def _reading(bench: _Bench, stack: ExitStack, group: str, rival: Subject) -> list[Variant]:
    on_postgres, on_sqlite = (
        bench.served[ON_POSTGRES, bench.rows],
        bench.served[ON_SQLITE, bench.rows],
    )
    size = _checked_answer(on_postgres, group)
    for subject in (on_sqlite, rival):
        _checked_answer(subject, group)
    http = stack.enter_context(constant(bench.folder, size=size, like=on_postgres))
    return [
        _loading(group, TEXTBOOK, rival, group),
        _postgres_floor(bench, group, bench.rows, FLOOR_POSTGRES),
        _loading(group, ON_POSTGRES, on_postgres, group),
        _loading(group, FLOOR_HTTP, http, group),
        _loading(group, ON_SQLITE, on_sqlite, group),
        _sqlite_floor(bench, group, bench.rows, FLOOR_SQLITE),
    ]


def _updating(bench: _Bench, rival: Subject, single: Subject) -> list[Variant]:
    return [
        _loading(UPDATE, TEXTBOOK, rival, UPDATE),
        _loading(UPDATE, ON_POSTGRES, bench.served[ON_POSTGRES, bench.rows], UPDATE),
        _loading(UPDATE, ON_SQLITE, bench.served[ON_SQLITE, bench.rows], UPDATE),
        _loading(UPDATE, ONE_COMMIT, single, UPDATE),
    ]


def _growing(bench: _Bench) -> list[Variant]:
    variants: list[Variant] = []
    for name, floor in ((ON_POSTGRES, _postgres_floor), (ON_SQLITE, _sqlite_floor)):
        alone = name.replace("stammdaten", "the statement")
        for rows in bench.plan.sizes:
            variants += [
                _loading(GROWTH, at_size(name, rows), bench.served[name, rows], PAGE),
                floor(bench, GROWTH, rows, at_size(alone, rows)),
            ]
    return variants


def _values(made: Filled, group: str) -> list[str]:
    if group == FIND:
        return [article_number(n) for n in range(1, made.rows + 1, max(1, made.rows // 20_000))]
    return made.stamps.read_text().split()


def _postgres_floor(bench: _Bench, group: str, rows: int, name: str) -> Variant:
    made = bench.on_postgres[rows]
    asked = (find_statement if group == FIND else page_statement)("postgresql", instance_id=made.instance_id)
    values = _values(made, group)

    def measure(seconds: float, seed: int) -> Measured:
        return postgres_floor(
            bench.postgres,
            made.database,
            bench.folder,
            asked,
            values,
            seconds=seconds,
            seed=seed,
        )

    return Variant(group, name, measure)


def _sqlite_floor(bench: _Bench, group: str, rows: int, name: str) -> Variant:
    made = bench.on_sqlite[rows]
    asked = (find_statement if group == FIND else page_statement)("sqlite", instance_id=made.instance_id)
    values = _values(made, group)
    return Variant(
        group,
        name,
        lambda seconds, seed: sqlite_floor(made.file, asked, values, seconds=seconds, seed=seed),
    )


def _checked_answer(subject: Subject, group: str) -> int:
    """Ask once as the load script will, check that the answer holds what it should, and return its size."""
    headers = {
        "Authorization": f"Bearer {subject.token}",
        "Content-Type": "application/json",
    }
    stamps = subject.stamps.read_text().split() if subject.stamps is not None else []
    url, body = f"{subject.server.address}{_PRODUCTS}?timestamp={stamps[0]}", None
    if group == FIND:
        url, body = (
            f"{subject.server.address}{_PRODUCTS}/find",
            f'{{"article_number": "{article_number(1)}"}}'.encode(),
        )
    request = urllib.request.Request(url, data=body, headers=headers)
    with urllib.request.urlopen(request) as answer:
        said: bytes = answer.read()
    shown = json.loads(said)
    found = shown["products"] if group == PAGE else [shown["product"]]
    if len(found) != (_PAGE_SIZE if group == PAGE else 1) or len(found[0]["data"]) != 1:
        raise RuntimeError(f"{url} does not answer with what is measured: {said[:300]!r}")
    return len(said)


def _vacuum(bench: _Bench) -> None:
    # Between rounds, so that it falls into nobody's seconds.
    for database in [
        "textbook",
        *(made.database for made in bench.on_postgres.values()),
    ]:
        if bench.plan.parts & {PAGE, FIND, UPDATE} or database != "textbook":
            bench.postgres.run(database, "VACUUM ANALYZE")
