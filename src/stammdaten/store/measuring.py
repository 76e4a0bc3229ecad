"""What the store counts for `/metrics`, and the warning that goes with one of the counts."""

import logging
from time import monotonic

from prometheus_client import Counter, Histogram

DATABASE_SECONDS = Histogram(
    "stammdaten_database_seconds",
    "Time of one database statement, as the service waits for it.",
    ["door"],
    buckets=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10),
)
READ_SECONDS = DATABASE_SECONDS.labels("read")
WRITE_SECONDS = DATABASE_SECONDS.labels("write")
BATCH_ROWS = Histogram(
    "stammdaten_batch_rows",
    "Rows that shared one transaction.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
)
CLOCK_AHEAD = Counter(
    "stammdaten_clock_ahead_total",
    "Transactions that found the last stamp over 5 minutes ahead of the wall clock, outside the repeated hour.",
)

_WARNED_AGAIN_SECONDS = 60.0
_log = logging.getLogger(__name__)


class ClockWatch:
    """Warns of stamps that run ahead of the wall clock: always in the metrics, once a minute in the log."""

    def __init__(self) -> None:
        self._silent_until = 0.0

    def warn(self, instance_id: int, last_stamp: str) -> None:
        """Note that an instance's last stamp is over 5 minutes ahead of the wall clock."""
        CLOCK_AHEAD.inc()
        if monotonic() >= self._silent_until:
            self._silent_until = monotonic() + _WARNED_AGAIN_SECONDS
            _log.warning(
                "instance %s: the last stamp %s is over 5 minutes ahead of the wall clock; was that set back?",
                instance_id,
                last_stamp,
            )
