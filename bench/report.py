"""Writes what was measured into docs/performance.md, between two markers; the rest is left alone."""

from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path

from bench.names import (
    FIND,
    FLOOR_HTTP,
    FLOOR_POSTGRES,
    FLOOR_SQLITE,
    GROWTH,
    ON_POSTGRES,
    ON_SQLITE,
    PAGE,
    TEXTBOOK,
    UPDATE,
)
from bench.rounds import Results
from bench.targets import Findings, verdicts

_MARKERS = ("<!-- measured: begin -->", "<!-- measured: end -->")
_TITLES = {
    PAGE: "Page of 30 products after a random timestamp",
    FIND: "Find by a random article number",
    UPDATE: "Durable updates of random products",
    GROWTH: "The same page in smaller and larger tables",
}
_HEADER = (
    "requests/s",
    "textbook = 1",
    "CPU of the application",
    "CPU of the database",
    "CPU in all",
    "floor = 1",
    "p50 ms",
    "p99 ms",
    "other load",
)
_FLOORS = {ON_POSTGRES: FLOOR_POSTGRES, ON_SQLITE: FLOOR_SQLITE}
_LEGEND = """\
CPU is in seconds per 1,000 requests, of all processes of the server: the application's and PostgreSQL's.
Each value is the median of the rounds; a factor is the median of the rounds' factors. *Floor* is the bare
statement plus the constant answer. *Other load* is how many of the cores others kept busy meanwhile. Every
request was answered with success: a run with one that was not ends with an error."""


def write_report(file: Path, section: list[str], markers: tuple[str, str] = _MARKERS) -> None:
    """Replace what stands between the markers, or make the file."""
    opening, closing = markers
    text = file.read_text() if file.exists() else "# Performance\n"
    before, begin, rest = text.partition(opening)
    _, end, after = rest.partition(closing)
    if not begin or not end:
        before, after = f"{text.rstrip()}\n\n", "\n"
    lines = "\n".join(section)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{before}{opening}\n{lines}\n{closing}{after}")


def section(findings: Findings, *, command: str, conditions: Iterable[str]) -> list[str]:
    """Lay out the whole section."""
    lines = [f"- {one}" for one in (f"Measured by `{command}`.", *conditions)]
    lines += ["", "## What must be reached", ""]
    lines += table(
        ("target", "wanted", "reached", ""),
        ([one.target, one.wanted, one.reached, "met" if one.is_met else "**missed**"] for one in verdicts(findings)),
    )
    lines += ["", "## Tables", "", _LEGEND]
    for group, title in _TITLES.items():
        names = findings.results.names(group)
        if names:
            rows = [_row(findings.results, group, name) for name in names]
            lines += ["", f"### {title}", "", *table(("", *_HEADER), rows)]
    if findings.paged:
        rows = [[one.name, f"{one.answered:.2f}", f"{one.database:.2f}"] for one in findings.paged]
        header = (
            "",
            "answered after ms (median)",
            "of these in the database ms (mean)",
        )
        lines += [
            "",
            "### Deep pages and contacts, one request after the other",
            "",
            *table(header, rows),
        ]
    if findings.footprints:
        rows = [[one.engine, f"{one.ready:.2f}", f"{one.idle:.0f}"] for one in findings.footprints]
        header = ("", "ready after s", "resident memory MB")
        lines += [
            "",
            "### An idle worker on an existing database",
            "",
            *table(header, rows),
        ]
    return lines


def _row(results: Results, group: str, name: str) -> list[str]:
    middle = results.middle(group, name)
    textbook = results.ratio(group, attrgetter("rate"), name, TEXTBOOK)
    floor = results.ratio(group, attrgetter("cpu"), name, _FLOORS[name], FLOOR_HTTP) if name in _FLOORS else None
    return [
        name,
        f"{middle.rate:,.0f}",
        _or_blank(textbook, 1),
        f"{middle.application_cpu:.3f}" if middle.application_cpu else "",
        f"{middle.database_cpu:.3f}" if middle.database_cpu else "",
        f"{middle.cpu:.3f}",
        _or_blank(floor, 2),
        _or_blank(middle.p50, 2),
        _or_blank(middle.p99, 1),
        _or_blank(middle.other_load, 2),
    ]


def _or_blank(value: float | None, digits: int) -> str:
    return f"{value:.{digits}f}" if value else ""


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Lay out a table: the first column to the left, numbers to the right."""
    titles = list(header)
    yield f"| {' | '.join(titles)} |"
    yield f"|{'|'.join(['---'] + ['--:'] * (len(titles) - 1))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
