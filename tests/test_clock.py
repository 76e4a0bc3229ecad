"""The change clock and the reading of timestamps, as pure functions.

No fixtures: every example is drawn by Hypothesis, with an eye on the two Sundays on which German clocks change. What is
expected is worked out from the rule in the law (last Sundays of March and October, 01:00 UTC), not from the time-zone
data that the service uses.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import accumulate, pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from stammdaten.clock import (
    EARLIEST_STAMP,
    GERMANY,
    german_stamp,
    german_timestamp,
    is_ahead,
    tick,
    utc_stamp,
    utc_timestamp,
)

# No deadline: how long an example takes is the machine's affair.
examples = settings(deadline=None, max_examples=60)

HOUR = timedelta(hours=1)
MICROSECOND = timedelta(microseconds=1)
FIVE_MINUTES = timedelta(minutes=5)
GERMAN_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}")
UTC_STAMP = re.compile(GERMAN_STAMP.pattern + "Z")


def naive(*fields: int) -> datetime:
    """Return a time without a zone: what a German clock shows, or a text says."""
    return datetime(*fields)  # type: ignore[arg-type]  # noqa: DTZ001 - naive is the point


def last_sunday(year: int, month: int) -> date:
    """Return the last Sunday of March or October, which have 31 days."""
    last = date(year, month, 31)
    return last - timedelta(days=(last.weekday() + 1) % 7)


def change(year: int, month: int) -> datetime:
    """Return the moment at which German clocks are put forward (March) or back (October)."""
    sunday = last_sunday(year, month)
    return datetime(year, month, sunday.day, 1, tzinfo=UTC)


def offset(moment: datetime) -> timedelta:
    """Return how far German clocks are ahead of UTC."""
    is_summer = change(moment.year, 3) <= moment < change(moment.year, 10)
    return 2 * HOUR if is_summer else HOUR


def on_the_wall(moment: datetime) -> datetime:
    """Return what German clocks show."""
    return (moment + offset(moment)).replace(tzinfo=None)


def written(time: datetime) -> str:
    """Write a naive time as stamps are written, by hand."""
    return f"{time.year:04}-{time:%m-%dT%H:%M:%S}.{time.microsecond:06}"


FIRST, LAST = naive(1, 1, 1), naive(9999, 12, 31, 23, 59, 59, 999999)

# The rule holds since 1996.
years = st.integers(1996, 2400)
springs, autumns = (st.builds(change, years, st.just(month)) for month in (3, 10))
new_years = st.builds(datetime, years, st.just(1), st.just(1), tzinfo=st.just(UTC))
spans = st.timedeltas(timedelta(hours=-3), timedelta(hours=3))
# Moments near what happens to clocks, and any others.
moments = st.one_of(
    st.builds(lambda turn, span: turn + span, st.one_of(springs, autumns, new_years), spans),
    st.datetimes(naive(1996, 1, 2), naive(2400, 12, 30), timezones=st.just(UTC)),
)


@st.composite
def walls(draw: st.DrawFn) -> list[datetime]:
    """Draw what a wall clock says, look by look: it runs, stands still, and is set back or forward."""
    steps = st.one_of(
        st.just(timedelta()),
        st.timedeltas(timedelta(), timedelta(seconds=2)),
        st.timedeltas(timedelta(), timedelta(hours=3)),
        st.timedeltas(timedelta(hours=-26), timedelta()),
    )
    first = draw(moments)
    return list(accumulate(draw(st.lists(steps, min_size=1, max_size=30)), initial=first))


def ticked(first: str, stamps: Iterable[str]) -> list[str]:
    """Return the stamps that a clock gives out, one for each look at the wall."""
    return list(accumulate(stamps, tick, initial=first))[1:]


class TestStamps:
    """`german_stamp` and `utc_stamp`."""

    @examples
    @given(moments)
    def test_show_what_german_clocks_show(self, moment: datetime) -> None:
        assert german_stamp(moment) == written(on_the_wall(moment))

    @examples
    @given(moments)
    def test_of_contacts_are_in_utc(self, moment: datetime) -> None:
        assert utc_stamp(moment) == written(moment.replace(tzinfo=None)) + "Z"

    @examples
    @given(moments, st.sampled_from([-11, -3, 0, 5, 13]))
    def test_do_not_depend_on_the_zone_of_the_moment(self, moment: datetime, hours: int) -> None:
        elsewhere = moment.astimezone(timezone(timedelta(hours=hours)))

        stamps = german_stamp(elsewhere), utc_stamp(elsewhere)

        assert stamps == (german_stamp(moment), utc_stamp(moment))

    @examples
    @given(moments, moments)
    def test_sort_as_the_moments_do(self, one: datetime, other: datetime) -> None:
        assert (utc_stamp(one) < utc_stamp(other)) == (one < other)
        assert (german_stamp(one) < german_stamp(other)) == (on_the_wall(one) < on_the_wall(other))


@pytest.mark.parametrize(
    ("stamp", "form"),
    [pytest.param(german_stamp, GERMAN_STAMP, id="german"), pytest.param(utc_stamp, UTC_STAMP, id="utc")],
)
class TestTick:
    """`tick`, for both kinds of stamps."""

    @examples
    @given(walls())
    def test_goes_on_strictly_whatever_the_wall_does(
        self, stamp: Callable[[datetime], str], form: re.Pattern[str], walls: list[datetime]
    ) -> None:
        first, *others = map(stamp, walls)

        given_out = [first, *ticked(first, others)]

        assert all(earlier < later for earlier, later in pairwise(given_out))
        assert all(form.fullmatch(given) for given in given_out)

    @examples
    @given(walls())
    def test_takes_the_wall_or_one_microsecond_more_than_the_last(
        self, stamp: Callable[[datetime], str], form: re.Pattern[str], walls: list[datetime]
    ) -> None:
        first, *others = map(stamp, walls)

        given_out = ticked(first, others)

        moments = [datetime.fromisoformat(text[:26]) for text in (first, *given_out)]
        shown = [datetime.fromisoformat(text[:26]) for text in others]
        assert moments[1:] == [max(wall, last + MICROSECOND) for last, wall in zip(moments, shown, strict=False)]

    @examples
    @given(moments, st.integers(2, 50))
    def test_counts_microseconds_while_the_wall_stands_still(
        self, stamp: Callable[[datetime], str], form: re.Pattern[str], moment: datetime, looks: int
    ) -> None:
        given_out = ticked(stamp(moment), [stamp(moment)] * looks)

        assert given_out == [_later(stamp(moment), step) for step in range(1, looks + 1)]

    @examples
    @given(moments)
    def test_leaves_the_beginning_at_once(
        self, stamp: Callable[[datetime], str], form: re.Pattern[str], moment: datetime
    ) -> None:
        beginning = EARLIEST_STAMP + stamp(moment)[26:]

        assert tick(beginning, stamp(moment)) == stamp(moment)

    @pytest.mark.parametrize(
        ("last", "following"),
        [
            ("2026-12-31T23:59:59.999999", "2027-01-01T00:00:00.000000"),
            ("2028-02-28T23:59:59.999999", "2028-02-29T00:00:00.000000"),
            ("2026-10-25T02:59:59.999999", "2026-10-25T03:00:00.000000"),
            # The wall never shows this hour; a clock that ran ahead passes through it.
            ("2026-03-29T01:59:59.999999", "2026-03-29T02:00:00.000000"),
        ],
    )
    def test_carries(self, stamp: Callable[[datetime], str], form: re.Pattern[str], last: str, following: str) -> None:
        zone = stamp(datetime(2026, 1, 1, tzinfo=UTC))[26:]

        assert tick(last + zone, "2026-01-01T00:00:00.000000" + zone) == following + zone


def _later(stamp: str, microseconds: int) -> str:
    later = datetime.fromisoformat(stamp[:26]) + microseconds * MICROSECOND
    return written(later) + stamp[26:]


class TestTickInTheRepeatedHour:
    """`tick`, when German clocks are put back."""

    @examples
    @given(autumns, st.lists(st.timedeltas(timedelta(), 2 * HOUR - MICROSECOND), min_size=1, max_size=30))
    def test_stands_nearly_still_until_the_wall_has_caught_up(self, turn: datetime, spans: list[timedelta]) -> None:
        last = german_stamp(turn - MICROSECOND)
        looks = [turn + span for span in sorted(spans)]

        given_out = ticked(last, map(german_stamp, looks))

        repeated = [stamp for look, stamp in zip(looks, given_out, strict=True) if look < turn + HOUR]
        assert repeated == [_later(last, step) for step in range(1, len(repeated) + 1)]
        # Then it goes with the wall again, but for the looks that fell on one microsecond.
        assert all(stamp >= german_stamp(look) for look, stamp in zip(looks, given_out, strict=True))


class TestIsAhead:
    """`is_ahead`."""

    @examples
    @given(autumns, st.lists(spans, min_size=1, max_size=30), st.timedeltas(timedelta(), 3 * HOUR))
    def test_is_silent_on_a_clock_that_lived_through_the_repeated_hour(
        self, turn: datetime, spans: list[timedelta], later: timedelta
    ) -> None:
        looks = [turn + span for span in sorted(spans)]
        given_out = ticked(EARLIEST_STAMP, map(german_stamp, looks))

        warnings = [is_ahead(stamp, look) for look, stamp in zip(looks, given_out, strict=True)]

        assert not any(warnings)
        assert not is_ahead(given_out[-1], looks[-1] + later)

    @examples
    @given(moments, st.timedeltas(timedelta(), timedelta(days=40)))
    def test_is_silent_on_stamps_of_the_past(self, moment: datetime, ago: timedelta) -> None:
        assert not is_ahead(german_stamp(moment - ago), moment)

    @examples
    @given(moments, st.timedeltas(FIVE_MINUTES + MICROSECOND, timedelta(days=4000)))
    def test_warns_of_more_than_five_minutes_outside_the_repeated_hour(self, now: datetime, lead: timedelta) -> None:
        turn = change(now.year, 10)
        assume(not turn <= now < turn + HOUR)

        assert is_ahead(written(on_the_wall(now) + lead), now)

    @examples
    @given(moments, st.timedeltas(timedelta(days=-1), FIVE_MINUTES))
    def test_bears_five_minutes_anywhere(self, now: datetime, lead: timedelta) -> None:
        assert not is_ahead(written(on_the_wall(now) + lead), now)

    @pytest.mark.parametrize(
        ("last", "now", "ahead"),
        [
            # Two seconds after the clocks went back, an hour behind the last stamp of summer.
            ("2026-10-25T02:59:59.999999", "2026-10-25T01:00:02", False),
            ("2026-10-25T02:59:59.999999", "2026-10-25T01:59:59", False),
            # Nobody can have written that before the clocks went back.
            ("2026-10-25T04:00:00.000000", "2026-10-25T01:00:02", True),
            ("2026-10-25T03:05:00.000000", "2026-10-25T02:00:00", False),
            ("2026-10-25T03:05:00.000001", "2026-10-25T02:00:00", True),
            ("2026-10-25T02:05:00.000000", "2026-10-25T00:00:00", False),
            ("2026-10-25T02:05:00.000001", "2026-10-25T00:00:00", True),
            # In spring the wall leaps: an hour that is missing excuses no lead.
            ("2026-03-29T03:05:00.000000", "2026-03-29T01:00:00", False),
            ("2026-03-29T03:05:00.000001", "2026-03-29T01:00:00", True),
            ("2026-03-29T03:00:00.000000", "2026-03-29T00:54:59", True),
        ],
    )
    def test_draws_the_line(self, last: str, now: str, ahead: bool) -> None:  # noqa: FBT001 - a table
        assert is_ahead(last, datetime.fromisoformat(now).replace(tzinfo=UTC)) is ahead


# ---------------------------------------------------------------------------------------------------- timestamps

OFFSETS = (
    ["Z", "z"]
    + [f"{sign}{hours:02}{minutes}" for sign in "+- " for hours in (0, 1, 2, 11, 23) for minutes in ("", "00", "30")]
    + [f"{sign}{hours:02}:{minutes:02}" for sign in "+- " for hours in (0, 1, 14, 23) for minutes in (0, 45, 59)]
)


def meant(written_offset: str) -> timedelta:
    """Return what an offset means; a blank was a `+` once."""
    if written_offset in "Zz":
        return timedelta()
    digits = written_offset[1:].replace(":", "").ljust(4, "0")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -size if written_offset[0] == "-" else size


@st.composite
def timestamps(draw: st.DrawFn, *, first: datetime = FIRST, last: datetime = LAST) -> tuple[str, datetime, str]:
    """Draw a timestamp in one of the accepted forms, what it says without its offset, and the offset."""
    moment = draw(st.datetimes(first, last))
    is_basic = draw(st.booleans())
    parts = draw(st.integers(0, 4))
    dash, colon = ("", "") if is_basic else ("-", ":")
    day = f"{moment.year:04}{dash}{moment:%m}{dash}{moment:%d}"
    if parts == 0:
        return day, moment.replace(hour=0, minute=0, second=0, microsecond=0), ""
    text = f"{day}T{moment:%H}"
    said = moment.replace(minute=0, second=0, microsecond=0)
    if parts > 1:
        text, said = f"{text}{colon}{moment:%M}", moment.replace(second=0, microsecond=0)
    if parts > 2:
        text, said = f"{text}{colon}{moment:%S}", moment.replace(microsecond=0)
    if parts > 3:
        digits = draw(st.text("0123456789", min_size=1, max_size=12))
        text = f"{text}{draw(st.sampled_from('.,'))}{digits}"
        said = moment.replace(microsecond=int(digits[:6].ljust(6, "0")))
    zone = draw(st.sampled_from(["", *OFFSETS]))
    return text + zone, said, zone


REFUSED = [
    "",
    " ",
    "now",
    "2026",
    "2026-03",
    "202603",
    "2026-3-2",
    "26-03-02",
    "02.03.2026",
    "2026/03/02",
    "2026-W10-1",
    "2026-061",
    "1764000000",
    "1764000000.5",
    "+2026-03-02",
    "-2026-03-02",
    "12026-03-02",
    # dates and times that do not exist
    "0000-01-01",
    "0000-12-31T23:59:59",
    "2026-00-10",
    "2026-13-01",
    "2026-01-00",
    "2026-01-32",
    "2026-02-29",
    "2026-02-30",
    "20260230",
    "1900-02-29",
    "2026-04-31",
    "2026-03-02T24:00",
    "2026-03-02T24:00:00",
    "20260302T24",
    "2026-03-02T25:00",
    "2026-03-02T09:60",
    "2026-03-02T09:15:60",
    "2026-03-02T09:15:99",
    # unfinished, or with something behind it
    "2026-03-02T",
    "2026-03-02T9",
    "2026-03-02T09:",
    "2026-03-02T09:1",
    "2026-03-02T09:15:",
    "2026-03-02T09:15:4",
    "2026-03-02T09:15:42.",
    "2026-03-02T09:15:42,",
    "2026-03-02T09:15.5",
    "2026-03-02T09.5",
    "2026-03-02T09:15:42.-1",
    "2026-03-02T09:15:42.1e3",
    "2026-03-02T09:15:42.1_0",
    "2026-03-02T09:15:42 UTC",
    "2026-03-02T09:15:42 MEZ",
    "2026-03-02T09:15:42[Europe/Berlin]",
    "2026-03-02T09:15:42ZZ",
    "2026-03-02T09:15:42Z+01:00",
    "2026-03-02T09:15:42++01:00",
    "2026-03-02T09:15:42+",
    "2026-03-02T09:15:42+1",
    "2026-03-02T09:15:42+1:00",
    "2026-03-02T09:15:42+01:0",
    "2026-03-02T09:15:42+01:60",
    "2026-03-02T09:15:42+24:00",
    "2026-03-02T09:15:42+01:00:00",
    "2026-03-02T09:15:42  01:00",
    "2026-03-02T09:15:42\u221201:00",
    "2026-03-02Z",
    "2026-03-02+01:00",
    " 2026-03-02",
    "2026-03-02 ",
    "2026-03-02\n",
    "2026-03-02T09:15:42\n",
    "2026-03-02T09:15:42Z\0",
    "2026-03-02; DROP TABLE products",
    # digits of other scripts are digits to Python
    "\u0662\u0660\u0662\u0666-\u0660\u0663-\u0660\u0662",
    "\uff12\uff10\uff12\uff16-\uff10\uff13-\uff10\uff12",
    "2026-03-0\u00b2",
    "2026-03-02T09:15:42.\uff11",
    "2026-03-02T09:15:42+0\uff11:00",
]


def refused(read: Callable[[str], str], text: str) -> bool:
    """Whether a reader refuses a text."""
    try:
        read(text)
    except ValueError:
        return True
    return False


readers = pytest.mark.parametrize(
    "read", [pytest.param(german_timestamp, id="german"), pytest.param(utc_timestamp, id="utc")]
)


@readers
class TestTimestamps:
    """What `german_timestamp` and `utc_timestamp` have in common."""

    @pytest.mark.parametrize("text", REFUSED)
    def test_are_refused(self, read: Callable[[str], str], text: str) -> None:
        assert refused(read, text)

    @examples
    @given(timestamps(), st.sampled_from(["x", "\n", "\0", " ", ":", ".", "-", "T", "\u0663", "\ud800"]))
    def test_are_refused_with_something_behind_them(
        self, read: Callable[[str], str], drawn: tuple[str, datetime, str], junk: str
    ) -> None:
        text, _, _ = drawn

        assert refused(read, text + junk)

    @examples
    @given(timestamps(), st.data())
    def test_are_refused_with_a_digit_of_another_script(
        self, read: Callable[[str], str], drawn: tuple[str, datetime, str], data: st.DataObject
    ) -> None:
        text, _, _ = drawn
        place = data.draw(st.sampled_from([at for at, character in enumerate(text) if character.isdigit()]))
        foreign = chr(0x0660 + int(text[place]))

        assert refused(read, text[:place] + foreign + text[place + 1 :])

    @examples
    @given(st.one_of(st.text(), st.text("0123456789-:TZ.,+ ", max_size=32)))
    def test_are_read_or_refused_and_nothing_else(self, read: Callable[[str], str], text: str) -> None:
        try:
            stamp = read(text)
        except ValueError:
            return
        assert GERMAN_STAMP.fullmatch(stamp.removesuffix("Z"))


class TestGermanTimestamp:
    """`german_timestamp`."""

    @examples
    @given(timestamps())
    @example(("2026-03-02T09:15:42 01:00", naive(2026, 3, 2, 9, 15, 42), " 01:00"))
    def test_cuts_the_offset_off(self, drawn: tuple[str, datetime, str]) -> None:
        text, said, _ = drawn

        assert german_timestamp(text) == written(said)

    @examples
    @given(moments)
    def test_gives_back_what_the_service_printed(self, moment: datetime) -> None:
        stamp = german_stamp(moment)

        assert german_timestamp(stamp) == stamp

    @examples
    @given(springs, st.timedeltas(timedelta(), HOUR - MICROSECOND))
    def test_takes_the_missing_hour_as_it_is(self, turn: datetime, span: timedelta) -> None:
        missing = written(turn.replace(tzinfo=None) + HOUR + span)

        assert german_timestamp(missing) == missing


class TestUtcTimestamp:
    """`utc_timestamp`."""

    @examples
    @given(timestamps(first=naive(2, 1, 1), last=naive(9998, 12, 30)))
    @example(("2026-03-02T09:15:42 01:00", naive(2026, 3, 2, 9, 15, 42), " 01:00"))
    def test_honours_an_offset(self, drawn: tuple[str, datetime, str]) -> None:
        text, said, zone = drawn
        assume(zone)

        assert utc_timestamp(text) == written(said - meant(zone)) + "Z"

    @examples
    @given(moments)
    def test_reads_a_time_without_offset_as_german(self, moment: datetime) -> None:
        turn = change(moment.year, 10)
        assume(not turn <= moment < turn + HOUR)

        assert utc_timestamp(german_stamp(moment)) == utc_stamp(moment)

    @examples
    @given(moments)
    def test_gives_back_what_the_service_printed(self, moment: datetime) -> None:
        stamp = utc_stamp(moment)

        assert utc_timestamp(stamp) == stamp

    @examples
    @given(autumns, st.timedeltas(timedelta(), HOUR - MICROSECOND))
    def test_takes_the_earlier_of_two_moments_in_the_repeated_hour(self, turn: datetime, span: timedelta) -> None:
        earlier, later = turn - HOUR + span, turn + span
        assert german_stamp(earlier) == german_stamp(later)

        assert utc_timestamp(german_stamp(later)) == utc_stamp(earlier)

    @examples
    @given(springs, st.timedeltas(timedelta(), HOUR - MICROSECOND))
    def test_counts_the_missing_hour_on_from_winter_time(self, turn: datetime, span: timedelta) -> None:
        missing = turn.replace(tzinfo=None) + HOUR + span

        assert utc_timestamp(written(missing)) == utc_stamp(turn + span)

    @pytest.mark.parametrize(
        ("text", "stamp"),
        [
            # How clients say "from the beginning".
            ("0001-01-01", "0001-01-01T00:00:00.000000Z"),
            ("0001-01-01T00:30+01:00", "0001-01-01T00:00:00.000000Z"),
            ("9999-12-31T23:30-01:00", "9999-12-31T23:59:59.999999Z"),
        ],
    )
    def test_stays_within_the_years_there_are(self, text: str, stamp: str) -> None:
        assert utc_timestamp(text) == stamp


class TestGermany:
    """The time-zone data beneath it all."""

    @examples
    @given(moments)
    def test_changes_its_clocks_when_the_law_says(self, moment: datetime) -> None:
        """The zone data is the service's, the rule is this file's: if they differ, look here first."""
        assert moment.astimezone(GERMANY).utcoffset() == offset(moment)
