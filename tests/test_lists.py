"""Product lists: GET lists, and the operations behind `stammdaten list`."""

# Over 300 lines: GET lists and what operators do to lists share their makers.
# ruff: noqa: RUF001 - letters that look alike stand here on purpose

import re
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY

from stammdaten.clock import german_stamp, utc_now
from stammdaten.lists.operations import create_list, delete_list, slug_of
from stammdaten.refusals import AlreadyExists, Invalid, NotFound
from tests.cast import Member, found_product, make_list, make_product

STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}")
PAGE_REASON = "page must be a whole number from 1 to 2147483647"


def shown_lists(member: Member, **query: object) -> list[dict[str, Any]]:
    """Return a page of the member's lists."""
    response = member.get("/lists", **query)
    assert response.status_code == 200, response.text
    lists: list[dict[str, Any]] = response.json()["lists"]
    return lists


def make_slugged_list(member: Member, slug: str, name: str = "Spare Parts") -> int:
    """Make a list with a slug of one's own choice."""
    return member.service.write(member.instance_id, lambda write: create_list(write, name=name, slug=slug))


def drop_list(member: Member, list_id: int) -> None:
    """Delete a list as the command does."""
    member.service.write(member.instance_id, lambda write: delete_list(write, list_id=list_id))


class TestListLists:
    """GET lists."""

    def test_returns_every_field(self, anna: Member) -> None:
        response = anna.get("/lists")

        stamp = response.json()["lists"][0]["inserted_at"]
        assert response.status_code == 200
        assert STAMP.fullmatch(stamp)
        assert response.json() == {
            "lists": [
                {
                    "id": str(anna.list_id),
                    "slug": "spare-parts",
                    "name": "Spare Parts",
                    "inserted_at": stamp,
                    "updated_at": stamp,
                    "is_deleted": False,
                }
            ]
        }

    def test_stamps_in_german_time(self, anna: Member) -> None:
        before = german_stamp(utc_now())
        make_list(anna)
        after = german_stamp(utc_now())

        made = shown_lists(anna)[-1]

        assert before <= made["inserted_at"] <= after

    def test_names_the_list_as_products_do_but_as_a_string(self, anna: Member) -> None:
        """Keep both types as written: `id` a String here, `list_id` an Integer there."""
        make_product(anna)

        list_id = shown_lists(anna)[0]["id"]

        assert list_id == str(found_product(anna)["list_id"])

    def test_orders_by_id_as_a_number(self, anna: Member) -> None:
        """Ordered as the texts they are shown as, 10 would come before 9."""
        made = [anna.list_id, *(make_list(anna, name) for name in "zyxwvutsrqpo")]

        shown = [int(each["id"]) for each in shown_lists(anna)]

        assert len({len(str(list_id)) for list_id in made}) > 1
        assert shown == made == sorted(made)

    def test_shows_30_a_page(self, anna: Member) -> None:
        made = [str(anna.list_id), *(str(make_list(anna)) for _ in range(30))]

        first, second, third = ([each["id"] for each in shown_lists(anna, page=page)] for page in (1, 2, 3))

        assert first == made[:30]
        assert second == made[30:]
        assert third == []

    def test_shows_the_first_page_when_none_is_named(self, anna: Member) -> None:
        for _ in range(30):
            make_list(anna)

        unnamed = anna.get("/lists")

        assert unnamed.content == anna.get("/lists", page=1).content

    @pytest.mark.parametrize("page", [2, 1000, 2**31 - 1])
    def test_is_empty_past_the_end(self, anna: Member, page: int) -> None:
        response = anna.get("/lists", page=page)

        assert response.status_code == 200
        assert response.json() == {"lists": []}

    def test_flags_a_deleted_list_and_moves_its_stamp(self, anna: Member) -> None:
        other = make_list(anna, "Other")
        before = shown_lists(anna)
        drop_list(anna, anna.list_id)

        dropped, kept = shown_lists(anna)

        assert dropped == {**before[0], "is_deleted": True, "updated_at": dropped["updated_at"]}
        assert dropped["updated_at"] > before[1]["updated_at"]
        assert kept == before[1]
        assert kept["id"] == str(other)

    @pytest.mark.parametrize(
        "page",
        [
            *("0", "-1", "+1", "1.5", "1.0", "1e1", str(2**31), str(10**30), "9" * 5000),
            *("", " ", "1 ", "one", "0x1", "\u0661", "1,2", "null", "NaN", "\0", "1\0"),
        ],
    )
    def test_refuses_what_is_no_page(self, anna: Member, page: str) -> None:
        response = anna.get("/lists", page=page)

        assert response.status_code == 400
        assert response.json() == {"reason": PAGE_REASON}

    def test_shows_nobody_elses(self, anna: Member, bruno: Member) -> None:
        make_list(anna, "Annas Geheimnis")

        shown = shown_lists(bruno)

        assert [(each["id"], each["name"]) for each in shown] == [(str(bruno.list_id), "Spare Parts")]

    def test_asks_the_database_once(self, anna: Member) -> None:
        taken = statements_for(lambda: anna.get("/lists"))

        assert taken == 1


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


class TestSlugOf:
    """lists.operations.slug_of."""

    @pytest.mark.parametrize(
        ("name", "slug"),
        [
            ("Spare Parts", "spare-parts"),
            ("Ersatzteile & Zubehör", "ersatzteile-zubehoer"),
            ("ÄÖÜ äöü ß ẞ", "aeoeue-aeoeue-ss-ss"),
            ("Café Ångel Łódź Ñandú", "cafe-angel-odz-nandu"),
            ("  --a__b//c--  ", "a-b-c"),
            ("4711", "4711"),
            ("備品", "list"),
            ("🚚", "list"),
            ("…", "list"),
            ("x" * 64, "x" * 63),
            ("x" * 62 + " y", "x" * 62),
        ],
    )
    def test_keeps_to_letters_and_digits(self, name: str, slug: str) -> None:
        assert slug_of(name) == slug


class TestCreateList:
    """lists.operations.create_list."""

    def test_numbers_the_slugs_of_one_name(self, anna: Member) -> None:
        make_list(anna)
        make_list(anna)

        slugs = [each["slug"] for each in shown_lists(anna)]

        assert slugs == ["spare-parts", "spare-parts-2", "spare-parts-3"]

    def test_passes_over_a_numbered_slug_in_use(self, anna: Member) -> None:
        make_slugged_list(anna, "spare-parts-2")

        make_list(anna)

        assert shown_lists(anna)[-1]["slug"] == "spare-parts-3"

    def test_numbers_the_slug_of_a_deleted_list_too(self, anna: Member) -> None:
        drop_list(anna, anna.list_id)

        make_list(anna)

        assert shown_lists(anna)[-1]["slug"] == "spare-parts-2"

    def test_keeps_numbered_slugs_short(self, anna: Member) -> None:
        make_list(anna, "x" * 70)

        make_list(anna, "x" * 70)

        assert [each["slug"] for each in shown_lists(anna)][1:] == ["x" * 63, "x" * 61 + "-2"]

    def test_gives_two_instances_the_same_slug(self, anna: Member, bruno: Member) -> None:
        make_list(anna, "Zubehör")
        make_list(bruno, "Zubehör")

        slugs = [shown_lists(member)[-1]["slug"] for member in (anna, bruno)]

        assert slugs == ["zubehoer", "zubehoer"]

    @pytest.mark.parametrize("slug", ["a", "-", "0-9", "x" * 63])
    def test_takes_a_given_slug(self, anna: Member, slug: str) -> None:
        list_id = make_slugged_list(anna, slug, name="Zubehör")

        made = shown_lists(anna)[-1]

        assert (made["id"], made["slug"], made["name"]) == (str(list_id), slug, "Zubehör")

    @pytest.mark.parametrize("slug", ["", " ", "A", "ä", "a b", "a_b", "a/b", "a\n", "x" * 64, "\0"])
    def test_refuses_a_slug_of_other_characters(self, anna: Member, slug: str) -> None:
        with pytest.raises(Invalid, match=r"^slug must be 1 to 63 characters of a-z, 0-9 and -$"):
            make_slugged_list(anna, slug)

        assert len(shown_lists(anna)) == 1

    @pytest.mark.parametrize("is_deleted", [False, True])
    def test_refuses_a_slug_in_use(self, anna: Member, is_deleted: bool) -> None:  # noqa: FBT001
        if is_deleted:
            drop_list(anna, anna.list_id)

        with pytest.raises(AlreadyExists, match="'spare-parts'"):
            make_slugged_list(anna, "spare-parts")

        assert len(shown_lists(anna)) == 1

    @pytest.mark.parametrize("name", ["", "  ", "\u3000", "x" * 256, "a\nb", "a\0b", "a\x85b", "a\ud800b"])
    def test_refuses_a_name_that_is_no_short_line(self, anna: Member, name: str) -> None:
        with pytest.raises(Invalid, match=r"^name must "):
            make_list(anna, name)

        assert len(shown_lists(anna)) == 1

    @pytest.mark.parametrize(
        "name", ["x" * 255, "Teile 'n' \"Co\" \\ 100 % 🚚", "Pièces\u00a0: 5", "قطعه\u200cها", "क्\u200dष"]
    )
    def test_keeps_the_name_as_it_was_given(self, anna: Member, name: str) -> None:
        make_list(anna, name)

        assert shown_lists(anna)[-1]["name"] == name


class TestDeleteList:
    """lists.operations.delete_list."""

    def test_lets_no_new_product_in(self, anna: Member) -> None:
        drop_list(anna, anna.list_id)
        product = {"article_number": "A-1", "designation": "Hex bolt M8"}

        response = anna.post("/products", {"list_id": anna.list_id, "product": product})

        assert response.status_code == 404
        assert response.json() == {"reason": "There is no product list with this list_id."}

    def test_keeps_the_products(self, anna: Member) -> None:
        make_product(anna)
        before = found_product(anna)

        drop_list(anna, anna.list_id)

        listed = anna.get("/products", timestamp="1970-01-01", list_id=anna.list_id)
        assert found_product(anna) == before
        assert listed.json() == {"products": [before]}

    def test_lets_its_products_be_updated(self, anna: Member) -> None:
        make_product(anna)
        drop_list(anna, anna.list_id)

        response = anna.put("/products", {"article_number": "A-1", "product": {"designation": "Bolt"}})

        updated = found_product(anna)
        assert response.status_code == 200
        assert (updated["data"][0]["designation"], updated["list_id"]) == ("Bolt", anna.list_id)

    def test_refuses_a_second_time(self, anna: Member) -> None:
        drop_list(anna, anna.list_id)
        before = shown_lists(anna)

        with pytest.raises(NotFound):
            drop_list(anna, anna.list_id)

        assert shown_lists(anna) == before

    def test_finds_nobody_elses(self, anna: Member, bruno: Member) -> None:
        for _ in range(5):  # an id that Bruno's instance has not reached
            foreign = make_list(anna)
        before = shown_lists(anna)

        with pytest.raises(NotFound):
            drop_list(bruno, foreign)

        assert shown_lists(anna) == before
