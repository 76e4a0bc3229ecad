"""What was measured of the exchange, judged and laid out; knows not how anything is measured."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bench.exchange.asking import A_SECOND, PAGE
from bench.exchange.importing import BARE, NEW, SETTLED, START, UNCHANGED, Imported
from bench.exchange.meanwhile import Meanwhile, Noticed
from bench.report import table
from bench.screening.results import Result, at_most, note

MARKERS = ("<!-- exchange: begin -->", "<!-- exchange: end -->")
_MOST_MICROSECONDS = {NEW: 60, UNCHANGED: 20}
_MOST_MB = 300
_MOST_TIMES_IDLE = 5
_IMPORTED = (
    "",
    "rows/s",
    "CPU of the service",
    "CPU of the database",
    "CPU in all",
    "bare table = 1",
    "peak memory MB",
    "database MB",
    "other load",
)
_NOTICED = (
    "",
    "answers importing",
    "p50 idle",
    "p99 idle",
    "longest idle",
    "p50 importing",
    "p99 importing",
    "longest importing",
    "p99, times idle",
    "other load",
)
_LEGEND = """\
CPU is in µs a row. *Bare table* is the same file, read with `csv` in Python, into a table without keys: `COPY`
(PostgreSQL), `executemany` (SQLite). *Other load* is how many of the cores others kept busy meanwhile."""


class Findings(NamedTuple):
    """All that was measured."""

    imported: list[Imported]
    meanwhile: list[Meanwhile]


def results(findings: Findings) -> list[Result]:
    """Judge what has a target, and tell the rest."""
    judged = []
    for one in findings.imported:
        title = f"{one.engine}, {one.title}"
        if one.title == START:
            judged.append(note(f"{title}: CPU", f"{one.spent.cpu:.2f} s"))
            continue
        if one.title in _MOST_MICROSECONDS:
            judged.append(at_most(f"{title}: CPU a row", one.microseconds, _MOST_MICROSECONDS[one.title], "µs"))
        else:
            judged.append(note(f"{title}: CPU a row", f"{one.microseconds:,.2f} µs"))
        if one.title not in {BARE, SETTLED}:
            judged.append(at_most(f"{title}: peak memory", one.spent.memory, _MOST_MB, "MB"))
    for noticed in (noticed for one in findings.meanwhile for noticed in one.noticed):
        title = f"{noticed.engine}, {noticed.kind}: p99 while importing, times idle"
        if noticed.kind == PAGE:
            judged.append(at_most(title, noticed.factor, _MOST_TIMES_IDLE))
        else:
            judged.append(note(title, f"{noticed.factor:.2f}"))
    return judged


def section(findings: Findings, *, command: str, conditions: Iterable[str]) -> list[str]:
    """Lay out the whole section."""
    targets = [
        (one.title, one.wanted.replace("<=", "≤"), one.reached, "met" if one.is_met else "**missed**")
        for one in results(findings)
        if one.wanted
    ]
    lines = [f"- {one}" for one in (f"Measured by `{command}`.", *conditions)]
    lines += ["", *table(("target", "wanted", "reached", ""), targets)]
    if findings.imported:
        lines += ["", "### Imports", "", f"{_LEGEND}\n{_starts(findings.imported)}", ""]
        lines += table(_IMPORTED, _imported_rows(findings.imported))
    if findings.meanwhile:
        lines += ["", "### Requests while a file is imported", "", _asked(findings.meanwhile), ""]
        lines += table(_NOTICED, (_noticed_row(noticed) for one in findings.meanwhile for noticed in one.noticed))
    return lines


def _starts(imported: list[Imported]) -> str:
    starts = ", ".join(f"{one.spent.cpu:.2f} s ({one.engine})" for one in imported if one.title == START)
    return f"The start of the command is in it: {starts} for a file of one row."


def _imported_rows(imported: list[Imported]) -> Iterator[list[str]]:
    bare = {one.engine: one.microseconds for one in imported if one.title == BARE}
    for one in imported:
        took = one.spent
        if one.title == START:
            continue
        of_a_row = one.rows / 1e6
        is_import = one.title not in {BARE, SETTLED}
        yield [
            f"{one.engine}, {one.title}",
            f"{one.rows / took.elapsed:,.0f}",
            f"{took.service / of_a_row:,.2f}",
            f"{took.database / of_a_row:,.2f}" if took.database else "",
            f"{one.microseconds:,.2f}",
            f"{one.microseconds / bare[one.engine]:.1f}" if is_import else "",
            f"{took.memory:.0f}" if is_import else "",
            f"{one.disk / 1e6:,.0f}",
            f"{took.other_load:.2f}",
        ]


def _asked(meanwhile: list[Meanwhile]) -> str:
    imports = "; ".join(
        f"{one.engine}: {one.rows:,} new rows in {one.seconds:.0f} s, {one.memory:.0f} MB at most" for one in meanwhile
    )
    return (
        f"In milliseconds; one client, one request after the other, {A_SECOND} a second at most. The import, from the "
        f"sending of the file to its end: {imports}."
    )


def _noticed_row(noticed: Noticed) -> list[str]:
    idle, importing = noticed.idle, noticed.importing
    return [
        f"{noticed.engine}, {noticed.kind}",
        f"{importing.times:,}",
        *(f"{value:.2f}" for value in (*idle[1:], *importing[1:], noticed.factor, noticed.other_load)),
    ]
