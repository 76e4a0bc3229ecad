"""What screening counts for `/metrics`."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from time import monotonic, thread_time

from prometheus_client import Gauge, Histogram
from sqlalchemy import func, select

from stammdaten.clock import utc_now
from stammdaten.screening.queries import ListVersion
from stammdaten.screening.tables import matches
from stammdaten.store import Statement, Store

SCREENING_SECONDS = Histogram(
    "stammdaten_screening_seconds",
    "CPU time of one contact's check against the lists.",
    buckets=(0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.03, 0.1),
)
LIST_AGE = Gauge(
    "stammdaten_sanctions_list_age_seconds",
    "Time since a list was last known to be the newest.",
    ["source"],
    multiprocess_mode="mostrecent",
)
LIST_ENTRIES = Gauge(
    "stammdaten_sanctions_list_entries", "Entries of a list in force.", ["source"], multiprocess_mode="mostrecent"
)
OPEN_MATCHES = Gauge(
    "stammdaten_open_matches",
    "Matches of all instances that wait for a decision.",
    multiprocess_mode="mostrecent",
)

_COUNTED_AGAIN_SECONDS = 15.0
_WARNED_AGAIN_SECONDS = 3600.0
_OLD_SECONDS = 7 * 24 * 3600.0
_OPEN = Statement(
    select(func.count()).select_from(matches).where(matches.c.is_standing, matches.c.decision == "open"),
    across_instances="a metric, which tells only how many there are in all",
)
_log = logging.getLogger(__name__)


@contextmanager
def measured_screening() -> Iterator[None]:
    """Measure one check, in CPU time of its thread."""
    started = thread_time()
    yield
    SCREENING_SECONDS.observe(thread_time() - started)


class ListWatch:
    """Tells the metrics of lists and open matches, and warns of old lists: once an hour in the log."""

    def __init__(self) -> None:
        self._count_at = 0.0
        self._warn_at = 0.0

    async def look(self, store: Store, versions: Iterable[ListVersion]) -> None:
        """Bring the metrics up to date, where it is time.

        :raises Unavailable: if the database is away.
        """
        if monotonic() < self._count_at:
            return
        self._count_at = monotonic() + _COUNTED_AGAIN_SECONDS
        now = utc_now()
        for version in versions:
            age = (now - datetime.fromisoformat(version.checked_at)).total_seconds()
            LIST_AGE.labels(version.source).set(age)
            LIST_ENTRIES.labels(version.source).set(version.entries)
            if age > _OLD_SECONDS and monotonic() >= self._warn_at:
                self._warn_at = monotonic() + _WARNED_AGAIN_SECONDS
                _log.warning("the sanctions list %s was brought up to date %d days ago", version.source, age // 86400)
        async with store.reading_shared() as read:
            OPEN_MATCHES.set((await read.rows(_OPEN))[0][0])
