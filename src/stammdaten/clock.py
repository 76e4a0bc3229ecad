"""German time, UTC and the stamps of the change clock, as text that sorts; knows no database and reads no clock twice.

Stamps are fixed-width: `2026-11-21T09:30:00.000000` (products and lists, naive German time) and the same with `Z`
(contacts, UTC). Fixed width makes the order of the texts the order of the moments, in Python and in both databases.
"""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

GERMANY = ZoneInfo("Europe/Berlin")
EARLIEST_STAMP = "0001-01-01T00:00:00.000000"
LATEST_STAMP = "9999-12-31T23:59:59.999999"
TOLERATED_LEAD = timedelta(minutes=5)

_MICROSECOND = timedelta(microseconds=1)
# ISO 8601, extended or basic. A blank before the offset is a `+` that a client forgot to encode.
_TIMESTAMP = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})"
    r"(?:[Tt ](?P<hour>[0-9]{2})(?::?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?)?"
    r"(?P<offset>[Zz]|[-+ ][0-9]{2}(?::?[0-9]{2})?)?)?"
)


def utc_now() -> datetime:
    """Return the wall clock of this process, aware, in UTC."""
    return datetime.now(UTC)


def german_stamp(moment: datetime) -> str:
    """Render an aware moment as naive German time with six digits, e.g. `2026-11-21T09:30:00.000000`."""
    return moment.astimezone(GERMANY).replace(tzinfo=None).isoformat(timespec="microseconds")


def utc_stamp(moment: datetime) -> str:
    """Render an aware moment in UTC with six digits and `Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def tick(last: str, wall: str) -> str:
    """Return the next stamp of a change clock: the wall's, or one microsecond after `last` where that is later.

    Both are stamps of the same form (decisions: `updated_at` is a change clock). Strictly after `last` in every case:
    when the wall was set back, and in the hour that comes twice each autumn.
    """
    if wall > last:
        return wall
    zone = last[26:]
    following = datetime.fromisoformat(last[:26]) + _MICROSECOND
    return following.isoformat(timespec="microseconds") + zone


def is_ahead(last_german: str, now: datetime) -> bool:
    """Whether the last product stamp leads the wall clock by more than 5 minutes outside the repeated hour.

    In the repeated hour of autumn, and for as long after the change as the clock may still stand still, a lead of up
    to that hour is how the change clock is meant to work.
    """
    wall = now.astimezone(GERMANY)
    lead = datetime.fromisoformat(last_german) - wall.replace(tzinfo=None)
    an_hour_ago = (now - timedelta(hours=1)).astimezone(GERMANY)
    set_back_by = (an_hour_ago.utcoffset() or timedelta()) - (wall.utcoffset() or timedelta())
    return lead > TOLERATED_LEAD + max(set_back_by, timedelta())


def german_timestamp(text: str) -> str:
    """Read a client's timestamp as naive German time, its offset cut off unapplied (specification, GET products).

    :raises ValueError: if it is not ISO 8601 or names a date or time that does not exist.
    """
    naive, _ = _parse(text)
    return naive.isoformat(timespec="microseconds")


def utc_timestamp(text: str) -> str:
    """Read a client's timestamp for contacts: an offset is honoured, without one it is German time.

    Of two possible moments in the repeated hour it is the earlier (decisions: Contacts).

    :raises ValueError: if it is not ISO 8601, or names a date or time that does not exist.
    """
    naive, offset = _parse(text)
    try:
        if offset is None:
            return utc_stamp(naive.replace(tzinfo=GERMANY))
        return (naive - offset).isoformat(timespec="microseconds") + "Z"
    except OverflowError:
        # Clients send 0001-01-01 for "from the beginning"; an hour before it there is no year.
        return (EARLIEST_STAMP if naive.year == 1 else LATEST_STAMP) + "Z"


def _parse(text: str) -> tuple[datetime, timedelta | None]:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise ValueError(text)
    date = found["date"].replace("-", "")
    naive = datetime(  # noqa: DTZ001 - naive on purpose: what it means is the caller's to say
        int(date[:4]),
        int(date[4:6]),
        int(date[6:]),
        int(found["hour"] or 0),
        int(found["minute"] or 0),
        int(found["second"] or 0),
        int((found["fraction"] or "")[:6].ljust(6, "0")),
    )
    offset = found["offset"]
    if offset is None:
        return naive, None
    if offset in "Zz":
        return naive, timedelta()
    digits = offset[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:  # noqa: PLR2004 - hours and minutes of a day
        raise ValueError(text)
    distance = timedelta(hours=hours, minutes=minutes)
    return naive, -distance if offset[0] == "-" else distance
