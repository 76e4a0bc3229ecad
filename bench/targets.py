"""What must be reached (issue "The whole interface", section "What it must reach"), and whether it is."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from bench.footprint import Footprint
from bench.names import (
    FIND,
    FLOOR_HTTP,
    FLOOR_POSTGRES,
    FLOOR_SQLITE,
    GROWTH,
    ON_POSTGRES,
    ON_SQLITE,
    ONE_COMMIT,
    PAGE,
    TEXTBOOK,
    UPDATE,
    at_size,
)
from bench.paging import CONTACTS, DEEP, Paged
from bench.rounds import Results

_RATE, _CPU = attrgetter("rate"), attrgetter("cpu")
_COUNTS = (
    # group, at least so many times, of what, of whom
    (
        PAGE,
        15,
        ON_POSTGRES,
        TEXTBOOK,
        "page of 30: throughput on PostgreSQL, times the textbook's",
    ),
    (
        FIND,
        10,
        ON_POSTGRES,
        TEXTBOOK,
        "find by article number: throughput on PostgreSQL, times the textbook's",
    ),
    (
        UPDATE,
        6,
        ON_POSTGRES,
        TEXTBOOK,
        "durable updates: throughput on PostgreSQL, times the textbook's",
    ),
    (
        UPDATE,
        1.8,
        ON_SQLITE,
        ONE_COMMIT,
        "group commit on SQLite: throughput, times one commit a request",
    ),
)
_OVER_FLOOR, _GROWTH, _DEEP_MS, _CONTACTS_MS, _IDLE_MB, _READY_SECONDS = (
    2.2,
    1.3,
    5.0,
    10.0,
    90.0,
    2.0,
)


@dataclass
class Findings:
    """All that was measured."""

    results: Results
    sizes: tuple[int, ...]
    paged: list[Paged] = field(default_factory=list)
    footprints: list[Footprint] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """A target, what was reached, and whether that is enough."""

    target: str
    wanted: str
    reached: str
    is_met: bool


def verdicts(findings: Findings) -> Iterator[Verdict]:
    """Hold the findings against the targets; what was not measured is left out."""
    for group, least, name, other, text in _COUNTS:
        times = findings.results.ratio(group, _RATE, name, other)
        if times is not None:
            yield Verdict(text, f"≥ {least:g}", f"{times:.1f}", times >= least)
    yield from _against_the_floor(findings)
    yield from _growth(findings)
    for paged in findings.paged:
        if paged.name.startswith(DEEP):
            yield _at_most(f"{paged.name}: database time", _DEEP_MS, paged.database, "ms")
        if paged.name.startswith(CONTACTS):
            yield _at_most(
                f"{paged.name} at 100,000: until the answer is there",
                _CONTACTS_MS,
                paged.answered,
                "ms",
            )
    for footprint in findings.footprints:
        yield _at_most(f"one idle worker, {footprint.engine}", _IDLE_MB, footprint.idle, "MB")
        yield _at_most(
            f"ready on an existing database, {footprint.engine}",
            _READY_SECONDS,
            footprint.ready,
            "s",
        )


def _against_the_floor(findings: Findings) -> Iterator[Verdict]:
    for name, floor in ((ON_POSTGRES, FLOOR_POSTGRES), (ON_SQLITE, FLOOR_SQLITE)):
        times = findings.results.ratio(PAGE, _CPU, name, floor, FLOOR_HTTP)
        if times is not None:
            yield _at_most(f"page of 30, {name}: CPU, times the floor", _OVER_FLOOR, times)


def _growth(findings: Findings) -> Iterator[Verdict]:
    smallest, largest = findings.sizes[0], findings.sizes[-1]
    for name in (ON_POSTGRES, ON_SQLITE):
        times = findings.results.ratio(GROWTH, _CPU, at_size(name, largest), at_size(name, smallest))
        if times is not None:
            text = f"page of 30, {name}: CPU at {largest:,} products, times that at {smallest:,}"
            yield _at_most(text, _GROWTH, times)


def _at_most(text: str, most: float, reached: float, unit: str = "") -> Verdict:
    behind = f" {unit}" if unit else ""
    return Verdict(text, f"≤ {most:g}{behind}", f"{reached:.2f}{behind}", reached <= most)
