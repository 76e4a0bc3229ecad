"""What an import costs beside a bare table: by the command, in a process of its own, as an operator runs it."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.exchange.articles import Goods, changed_rows, write_articles
from bench.exchange.bare import TABLE
from bench.exchange.spending import Spent, spent
from bench.postgres import Postgres
from bench.processes import PYTHON, cpu_seconds
from bench.rounds import say
from bench.subjects import PREFIX, Filled, filled

NEW, UNCHANGED, CHANGED, START = "new", "again unchanged", "again with 1 % changed", "one row: the start of the command"
BARE, SETTLED = "bare table", "afterwards: VACUUM ANALYZE and CHECKPOINT"
COUNTS = ("created", "updated", "unchanged", "refused")
STAMMDATEN = str(Path(PYTHON).with_name("stammdaten"))
# As `bench.subjects` names the list that it makes.
_SLUG = "bench"


class Imported(NamedTuple):
    """An import, or what stands beside it: rows, what they took, and the bytes of the database behind it."""

    engine: str
    title: str
    rows: int
    spent: Spent
    disk: int = 0

    @property
    def microseconds(self) -> float:
        """Return the CPU of a row, service and database together."""
        return self.spent.cpu / self.rows * 1e6


def imports(folder: Path, goods: list[Goods], *, rows: int, postgres: Postgres | None) -> Iterator[Imported]:
    """Import a file as new, unchanged and changed, on PostgreSQL if a server is given, and fill a bare table with it.

    :raises RuntimeError: if an import did something else than it should.
    """
    subject = _Subject(folder, filled(folder, postgres, rows=0), postgres)
    file, numbers = folder / "articles.csv", range(rows)
    write_articles(file, goods, range(rows, rows + 1))
    yield subject.imported(START, file, created=1)
    write_articles(file, goods, numbers)
    say(f"{subject.engine}: {rows:,} rows of {file.stat().st_size / rows:.0f} bytes")
    yield subject.bare(file, rows)
    yield subject.imported(NEW, file, created=rows)
    if postgres is not None:
        yield subject.settled(rows)
    yield subject.imported(UNCHANGED, file, unchanged=rows)
    write_articles(file, goods, numbers, is_changed=True)
    changed = changed_rows(numbers)
    yield subject.imported(CHANGED, file, updated=changed, unchanged=rows - changed)
    if postgres is not None:
        # Or its autovacuum would fall into what is measured next.
        postgres.run("postgres", f"DROP DATABASE {subject.made.database}")


@dataclass(frozen=True)
class _Subject:
    """An empty database and what is done to it."""

    folder: Path
    made: Filled
    postgres: Postgres | None

    @property
    def engine(self) -> str:
        return "SQLite" if self.postgres is None else "PostgreSQL"

    def imported(self, title: str, file: Path, **wanted: int) -> Imported:
        line = [STAMMDATEN, "import", "--prefix", PREFIX, "--list", _SLUG, str(file)]
        took = self._spent(line, self.made.environment)
        check_counts(took.said, wanted)
        return _told(Imported(self.engine, title, sum(wanted.values()), took, self._disk()))

    def bare(self, file: Path, rows: int) -> Imported:
        line = [PYTHON, "-m", "bench.exchange.bare", str(file)]
        if self.postgres is None:
            database = self.folder / "bare.sqlite3"
            took, disk = self._spent([*line, str(database)], {}), database.stat().st_size
            database.unlink()
        else:
            took = self._spent([*line, self.postgres.url(self.made.database)], {})
            (disk,) = self.postgres.column(self.made.database, f"SELECT pg_total_relation_size('{TABLE}')")
            self.postgres.run(self.made.database, f"DROP TABLE {TABLE}", "CHECKPOINT")
        return _told(Imported(self.engine, BARE, rows, took, disk))

    def settled(self, rows: int) -> Imported:
        """Have PostgreSQL do what it would do some time later, so that it falls into no import's seconds."""
        assert self.postgres is not None
        before, began = cpu_seconds(self.postgres.pid), time.perf_counter()
        self.postgres.run(self.made.database, "VACUUM ANALYZE", "CHECKPOINT")
        took = Spent(0, cpu_seconds(self.postgres.pid) - before, time.perf_counter() - began, 0, 0, "")
        return _told(Imported(self.engine, SETTLED, rows, took, self._disk()))

    def _spent(self, line: list[str], environment: dict[str, str]) -> Spent:
        return spent(line, environment, database_pid=None if self.postgres is None else self.postgres.pid)

    def _disk(self) -> int:
        if self.postgres is None:
            return sum(file.stat().st_size for file in self.made.home.glob("stammdaten.sqlite3*"))
        (size,) = self.postgres.column(self.made.database, "SELECT pg_database_size(current_database())")
        return int(size)


def check_counts(said: str, wanted: dict[str, int]) -> None:
    """Check what an import says it did; what is not wanted must be nothing.

    :raises RuntimeError: if it did something else.
    """
    for name in COUNTS:
        found = re.search(rf"(\d+) {name}", said)
        if found is None or int(found[1]) != wanted.get(name, 0):
            raise RuntimeError(f"wanted {wanted}, and no other; the import said: {said}")


def _told(imported: Imported) -> Imported:
    took = imported.spent
    say(
        f"{imported.engine:10} {imported.title:45} {imported.rows / took.elapsed:9,.0f} rows/s  "
        f"{imported.microseconds:7.2f} us/row  {took.service:.2f} + {took.database:.2f} s  "
        f"{took.memory:4.0f} MB  other {took.other_load:.2f}"
    )
    return imported
