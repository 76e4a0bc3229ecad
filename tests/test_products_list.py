"""GET products: what came after a timestamp, of which standing, page by page."""

# Over 300 lines: one endpoint, and its five parameters.

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from stammdaten.auth.callers import Caller
from stammdaten.products.operations import NewProduct, create_products
from stammdaten.products.standing import Archiving, Deed, archive_products, delete_products
from stammdaten.store import Write
from tests.cast import Member, found_product, make_list, make_product

EARLIEST = "0001-01-01"
OFFSETS = ["Z", "+00:00", "+01:00", "-01:00", "+14:00", "-12:00", "+23:59", "-23:59", "+0530", "-0530", "+05", "-05"]
STANDINGS: dict[str, dict[str, str]] = {
    "live": {},
    "current": {"include_archived": "true"},
    "deleted": {"deleted": "true"},
    "deleted and archived": {"deleted": "true", "include_archived": "true"},
}


def shown(member: Member, timestamp: str = EARLIEST, **query: object) -> list[dict[str, Any]]:
    """Return the products of a page."""
    response = member.get("/products", timestamp=timestamp, **query)
    assert response.status_code == 200, response.text
    products: list[dict[str, Any]] = response.json()["products"]
    return products


def numbers(products: list[dict[str, Any]]) -> list[str]:
    """Return the article numbers of products."""
    return [product["article_number"] for product in products]


def microseconds_before(stamp: str, count: int = 1) -> str:
    """Return an earlier stamp."""
    return (datetime.fromisoformat(stamp) - timedelta(microseconds=count)).isoformat(timespec="microseconds")


def archive(member: Member, article_number: str) -> None:
    """Archive a product as the command does."""
    member.submit(archive_products, Archiving(article_number, "anna", is_archived=True))


def delete(member: Member, article_number: str) -> None:
    """Delete a product as the command does."""
    member.submit(delete_products, Deed(article_number, "anna"))


def make_products(member: Member, article_numbers: list[str], *, list_id: int) -> None:
    """Make many products in one transaction, as the file import does."""
    caller = Caller(member.instance_id, member.prefix, 1, member.name, frozenset())
    rows = [
        NewProduct(caller=caller, list_id=list_id, article_number=number, values={"designation": "Bolt"})
        for number in article_numbers
    ]

    async def create(write: Write) -> None:
        outcomes = await create_products(write, rows)
        assert all(isinstance(outcome, int) for outcome in outcomes)

    member.service.write(member.instance_id, create)


def make_one_of_each(member: Member) -> None:
    """Make a live, an archived, a deleted, and an archived and deleted product."""
    for number in ("live", "archived", "deleted", "both"):
        make_product(member, number)
    archive(member, "archived")
    archive(member, "both")
    delete(member, "deleted")
    delete(member, "both")


def statements_for(ask: Callable[[], object]) -> float:
    """Return how many statements the reading door runs for a request, the token's own look-up not counted."""
    counts = []
    for _ in range(4):
        before = statements_read()
        ask()
        counts.append(statements_read() - before)
    return min(counts)


def statements_read() -> float:
    """Return how many statements the reading door has run."""
    return REGISTRY.get_sample_value("stammdaten_database_seconds_count", {"door": "read"}) or 0.0


class TestListProducts:
    """GET products."""

    def test_returns_products_as_find_does(self, anna: Member) -> None:
        """To the byte: a product is rendered once, by the write."""
        documents = []
        for number in ("A-1", "Ä/2", "品番"):
            make_product(anna, number, vendor='"Böse" \\ & Söhne')
            answer = anna.post("/products/find", {"article_number": number}).content
            documents.append(answer.removeprefix(b'{"product":').removesuffix(b"}"))

        response = anna.get("/products", timestamp=EARLIEST)

        assert response.status_code == 200
        assert response.headers["content-type"] == "application/json"
        assert response.content == b'{"products":[%b]}' % b",".join(documents)

    def test_is_empty_where_nothing_is(self, anna: Member) -> None:
        response = anna.get("/products", timestamp=EARLIEST)

        assert response.status_code == 200
        assert response.json() == {"products": []}

    def test_orders_by_the_last_change(self, anna: Member) -> None:
        for number in ("A-1", "A-2", "A-3"):
            make_product(anna, number)
        anna.put("/products", {"article_number": "A-1", "product": {"designation": "Bolt"}})

        products = shown(anna)

        stamps = [product["updated_at"] for product in products]
        assert numbers(products) == ["A-2", "A-3", "A-1"]
        assert stamps == sorted(set(stamps))

    def test_shows_nobody_elses(self, anna: Member, bruno: Member) -> None:
        make_one_of_each(anna)
        make_product(bruno, "live")

        products = [shown(bruno, **query) for query in STANDINGS.values()]

        assert products == [[found_product(bruno, "live")], [found_product(bruno, "live")], [], []]

    def test_shows_the_products_of_all_lists(self, anna: Member) -> None:
        make_product(anna, "A-1")
        anna.list_id = make_list(anna, "Other")
        make_product(anna, "A-2")

        assert numbers(shown(anna)) == ["A-1", "A-2"]

    def test_asks_the_database_once(self, anna: Member) -> None:
        for number in range(5):
            make_product(anna, f"A-{number}")

        taken = statements_for(lambda: shown(anna))

        assert taken == 1


class TestTimestamp:
    """GET products, `timestamp`."""

    def test_is_required(self, anna: Member) -> None:
        response = anna.get("/products")

        assert response.status_code == 400
        assert response.json() == {"reason": "timestamp is required: ISO 8601, e.g. 2026-11-21T09:30:00.000000"}

    def test_lies_strictly_before_what_is_shown(self, anna: Member) -> None:
        for number in ("A-1", "A-2", "A-3"):
            make_product(anna, number)
        stamps = [product["updated_at"] for product in shown(anna)]

        after = [numbers(shown(anna, stamp)) for stamp in stamps]

        assert after == [["A-2", "A-3"], ["A-3"], []]
        assert numbers(shown(anna, microseconds_before(stamps[1]))) == ["A-2", "A-3"]

    @pytest.mark.parametrize(
        "offset", ["", *OFFSETS, *(offset.replace("+", " ") for offset in OFFSETS if "+" in offset)]
    )
    def test_loses_its_offset(self, anna: Member, offset: str) -> None:
        """Cut off and not applied; and a blank is a `+` that nobody encoded."""
        make_product(anna)
        stamp = found_product(anna)["updated_at"]

        at, just_before = shown(anna, stamp + offset), shown(anna, microseconds_before(stamp) + offset)

        assert (numbers(at), numbers(just_before)) == ([], ["A-1"])

    def test_may_have_its_plus_unencoded(self, anna: Member) -> None:
        make_product(anna)
        stamp = found_product(anna)["updated_at"]

        response = anna.request("GET", f"/products?timestamp={stamp}+02:00")

        assert response.status_code == 200
        assert response.json() == {"products": []}

    @pytest.mark.parametrize("form", ["{date}T{time}", "{basic_date}T{basic_time}"])
    @pytest.mark.parametrize("point", [".", ","])
    @pytest.mark.parametrize("more", ["", "9", "999", "0" * 50, "9" * 1000])
    def test_may_be_extended_or_basic_with_any_fraction(self, anna: Member, form: str, point: str, more: str) -> None:
        """What follows the sixth digit is cut off: it rounds nothing."""
        make_product(anna)
        stamp = found_product(anna)["updated_at"]

        at, just_before = (
            shown(anna, written(form, each, point) + more) for each in (stamp, microseconds_before(stamp))
        )

        assert (numbers(at), numbers(just_before)) == ([], ["A-1"])

    @pytest.mark.parametrize("digits", [0, 1, 2, 3, 4, 5])
    def test_may_have_fewer_digits(self, anna: Member, digits: int) -> None:
        make_product(anna)
        stamp = found_product(anna)["updated_at"]

        later, earlier = (shown(anna, rounded(stamp, digits, units)) for units in (1, -1))

        assert (numbers(later), numbers(earlier)) == ([], ["A-1"])

    @pytest.mark.parametrize("length", [10, 13, 16, 19])
    def test_may_end_early(self, anna: Member, length: int) -> None:
        """A date alone, or a time to the hour, the minute or the second: the beginning of each."""
        make_product(anna)
        stamp = found_product(anna)["updated_at"]

        extended, basic = (shown(anna, text) for text in (stamp[:length], basic_of(stamp[:length])))

        assert numbers(extended) == numbers(basic) == ["A-1"]

    @pytest.mark.parametrize("form", ["{0:%Y-%m-%d}", "{0:%Y%m%d}", "{0:%Y-%m-%dT%H}", "{0:%Y%m%dT%H%M}"])
    def test_may_lie_ahead(self, anna: Member, form: str) -> None:
        make_product(anna)
        stamp = found_product(anna)["updated_at"]
        day_after = datetime.fromisoformat(stamp) + timedelta(days=1)

        assert shown(anna, form.format(day_after)) == []

    @pytest.mark.parametrize("timestamp", ["9999-12-31T23:59:59.999999", "9999-12-31T23:59:59-23:59", "99991231"])
    def test_may_be_the_last_there_is(self, anna: Member, timestamp: str) -> None:
        make_product(anna)

        assert shown(anna, timestamp) == []

    @pytest.mark.parametrize("timestamp", ["0001-01-01", "0001-01-01T00:00:00+23:59", "00010101T00Z", "2000-02-29"])
    def test_may_be_long_ago(self, anna: Member, timestamp: str) -> None:
        make_product(anna)

        assert numbers(shown(anna, timestamp)) == ["A-1"]


def basic_of(text: str) -> str:
    """Return a timestamp in basic form: without dashes and colons."""
    return text.replace("-", "").replace(":", "")


def written(form: str, stamp: str, point: str) -> str:
    """Write a stamp in another form, with a point or a comma before the fraction."""
    date, _, time = stamp.replace(".", point).partition("T")
    return form.format(date=date, time=time, basic_date=basic_of(date), basic_time=basic_of(time))


def rounded(stamp: str, digits: int, units: int) -> str:
    """Return a stamp cut to some digits of the second, and some units of the last one later."""
    moment, unit = datetime.fromisoformat(stamp), 10 ** (6 - digits)
    cut = moment + timedelta(microseconds=units * unit - moment.microsecond % unit)
    return cut.isoformat(timespec="microseconds")[: 20 + digits if digits else 19]


class TestListId:
    """GET products, `list_id`."""

    def test_restricts_to_one_list(self, anna: Member) -> None:
        first, second = anna.list_id, make_list(anna, "Other")
        make_product(anna, "A-1")
        anna.list_id = second
        make_product(anna, "A-2")

        assert numbers(shown(anna, list_id=first)) == ["A-1"]
        assert numbers(shown(anna, list_id=second)) == ["A-2"]

    def test_goes_together_with_the_other_filters(self, anna: Member) -> None:
        first, second = anna.list_id, make_list(anna, "Other")
        make_one_of_each(anna)

        found = [
            numbers(shown(anna, list_id=list_id, **query))
            for list_id in (first, second)
            for query in STANDINGS.values()
        ]

        assert found == [["live"], ["live", "archived"], ["deleted", "both"], ["deleted", "both"], [], [], [], []]
        assert shown(anna, shown(anna)[-1]["updated_at"], list_id=first) == []

    def test_may_be_an_empty_list(self, anna: Member) -> None:
        assert shown(anna, list_id=anna.list_id) == []

    @pytest.mark.parametrize("list_id", [999_999, 2**31, 2**53])
    @pytest.mark.parametrize("query", STANDINGS.values(), ids=STANDINGS)
    def test_must_be_known(self, anna: Member, list_id: int, query: dict[str, str]) -> None:
        make_one_of_each(anna)

        response = anna.get("/products", timestamp=EARLIEST, list_id=list_id, **query)

        assert response.status_code == 404
        assert response.json() == {"reason": "There is no product list with this list_id."}

    def test_must_be_a_list_and_not_another_thing_with_an_id(self, anna: Member) -> None:
        product_id = make_product(anna)

        response = anna.get("/products", timestamp=EARLIEST, list_id=product_id)

        assert response.status_code == 404

    @pytest.mark.parametrize(
        "list_id", ["0", "-1", "1.0", "1.5", "1e1", "", " ", "one", "spare-parts", "\u0661", str(2**53 + 1), "1" * 30]
    )
    def test_must_be_a_whole_number(self, anna: Member, list_id: str) -> None:
        response = anna.get("/products", timestamp=EARLIEST, list_id=list_id)

        assert response.status_code == 400
        assert response.json() == {"reason": "list_id must be a whole number from 1 to 9007199254740992"}


class TestStanding:
    """GET products, `deleted` and `include_archived`."""

    def test_shows_neither_archived_nor_deleted_products_by_itself(self, anna: Member) -> None:
        make_one_of_each(anna)

        assert numbers(shown(anna)) == ["live"]

    @pytest.mark.parametrize("word", ["", "false", "FALSE", "False", "0", "no", "No", "NO", "off", "OFF"])
    def test_takes_these_words_for_not_deleted(self, anna: Member, word: str) -> None:
        make_one_of_each(anna)

        assert numbers(shown(anna, deleted=word)) == ["live"]

    @pytest.mark.parametrize("word", ["true", "TRUE", "1", "yes", "on", "t", "x", "2", "-1", "00", "null", "none", " "])
    @pytest.mark.parametrize("include_archived", [None, "true", "false"])
    def test_takes_all_else_for_deleted_archived_or_not(
        self, anna: Member, word: str, include_archived: str | None
    ) -> None:
        make_one_of_each(anna)

        products = shown(anna, deleted=word, include_archived=include_archived)

        assert numbers(products) == ["deleted", "both"]
        assert [product["is_deleted"] for product in products] == [True, True]

    @pytest.mark.parametrize("word", ["true", "TRUE", "True", "tRuE", "1"])
    def test_takes_these_words_for_archived_too(self, anna: Member, word: str) -> None:
        make_one_of_each(anna)

        assert numbers(shown(anna, include_archived=word)) == ["live", "archived"]

    @pytest.mark.parametrize("word", ["", "false", "0", "yes", "on", "t", "2", "01", "1.0", "null", "true ", "deleted"])
    def test_takes_all_else_for_not_archived(self, anna: Member, word: str) -> None:
        make_one_of_each(anna)

        assert numbers(shown(anna, include_archived=word)) == ["live"]

    def test_orders_archived_products_among_the_others(self, anna: Member) -> None:
        made = [f"A-{number}" for number in range(6)]
        for number in made:
            make_product(anna, number)
        for number in made[::2]:
            archive(anna, number)
        for number in made[1::2]:
            anna.put("/products", {"article_number": number, "product": {"designation": "Bolt"}})
        for number in made[:2]:
            anna.put("/products", {"article_number": number, "product": {"designation": "Bolt"}})

        products = shown(anna, include_archived="true")

        assert numbers(products) == ["A-2", "A-4", "A-3", "A-5", "A-0", "A-1"]

    def test_shows_a_product_again_when_its_standing_changes(self, anna: Member) -> None:
        """A client that follows sees each change of standing behind its cursor."""
        make_product(anna)
        created = found_product(anna)["updated_at"]

        archive(anna, "A-1")
        archived = shown(anna, created, include_archived="true")
        delete(anna, "A-1")

        assert numbers(archived) == ["A-1"]
        assert shown(anna, archived[0]["updated_at"], include_archived="true") == []
        assert numbers(shown(anna, archived[0]["updated_at"], deleted="true")) == ["A-1"]


class TestPages:
    """GET products, `page`."""

    @pytest.mark.parametrize("query", STANDINGS.values(), ids=STANDINGS)
    @pytest.mark.parametrize("in_list", [False, True])
    def test_join_to_the_whole(self, anna: Member, query: dict[str, str], in_list: bool) -> None:  # noqa: FBT001
        """Also deep down, where they are read by another statement."""
        made = [f"A-{number:03}" for number in range(130)]
        other = make_list(anna, "Other")
        make_products(anna, ["first in the other list"], list_id=other)
        make_products(anna, made, list_id=anna.list_id)
        make_products(anna, ["last in the other list"], list_id=other)
        every = ["first in the other list", *made, "last in the other list"]
        put_into_standing(anna, every, query)

        pages = [shown(anna, page=page, list_id=anna.list_id if in_list else None, **query) for page in range(1, 7)]

        expected = made if in_list else every
        stamps = [product["updated_at"] for page in pages for product in page]
        assert [number for page in pages for number in numbers(page)] == expected[::-1]
        assert [len(page) for page in pages] == [30, 30, 30, 30, len(expected) - 120, 0]
        assert stamps == sorted(set(stamps))

    def test_begin_with_the_first(self, anna: Member) -> None:
        make_products(anna, [f"A-{number:03}" for number in range(31)], list_id=anna.list_id)

        unnamed = anna.get("/products", timestamp=EARLIEST)

        assert unnamed.content == anna.get("/products", timestamp=EARLIEST, page=1).content
        assert len(unnamed.json()["products"]) == 30

    def test_are_counted_after_the_timestamp(self, anna: Member) -> None:
        made = [f"A-{number:03}" for number in range(70)]
        make_products(anna, made, list_id=anna.list_id)
        cursor = shown(anna)[9]["updated_at"]

        pages = [numbers(shown(anna, cursor, page=page)) for page in (1, 2, 3)]

        assert pages == [made[10:40], made[40:70], []]

    @pytest.mark.parametrize("page", [2, 3, 4, 5, 1000, 2**31 - 1])
    @pytest.mark.parametrize("query", STANDINGS.values(), ids=STANDINGS)
    def test_are_empty_past_the_end(self, anna: Member, page: int, query: dict[str, str]) -> None:
        make_one_of_each(anna)

        response = anna.get("/products", timestamp=EARLIEST, page=page, **query)

        assert response.status_code == 200
        assert response.json() == {"products": []}

    def test_ask_the_database_once_deep_down_too(self, anna: Member) -> None:
        make_products(anna, [f"A-{number:03}" for number in range(130)], list_id=anna.list_id)

        taken = statements_for(lambda: shown(anna, page=5))

        assert taken == 1


def put_into_standing(member: Member, article_numbers: list[str], query: dict[str, str]) -> None:
    """Archive every second product, and delete all, so far as a query asks for such; the last made is changed first."""

    async def put(write: Write) -> None:
        for number in reversed(article_numbers):
            is_archived = bool(query) and article_numbers.index(number) % 2 == 0
            await archive_products(write, [Archiving(number, "anna", is_archived=is_archived)])
        if "deleted" in query:
            await delete_products(write, [Deed(number, "anna") for number in reversed(article_numbers)])

    member.service.write(member.instance_id, put)
