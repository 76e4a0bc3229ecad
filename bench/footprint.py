"""How much an idle worker weighs, and how soon it is ready on an existing database."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import median

import psutil

from bench.subjects import Subject

_STARTS = 5
# Long enough for what runs once after the start.
_SETTLING_SECONDS = 1.5


@dataclass(frozen=True)
class Footprint:
    """Seconds from the command to a good answer of /health/ready, and memory in megabytes (10^6 bytes)."""

    engine: str
    ready: float
    idle: float


def footprint(engine: str, start: Callable[[], AbstractContextManager[Subject]]) -> Footprint:
    """Start a service several times; return the medians."""
    ready, idle = [], []
    for _ in range(_STARTS):
        started = time.perf_counter()
        with start() as subject:
            ready.append(time.perf_counter() - started)
            time.sleep(_SETTLING_SECONDS)
            idle.append(resident(subject))
    return Footprint(engine, median(ready), median(idle))


def resident(subject: Subject) -> float:
    """Return the resident memory of all processes of a service, in megabytes."""
    root = psutil.Process(subject.server.pid)
    return float(sum(process.memory_info().rss for process in [root, *root.children(recursive=True)])) / 1e6
