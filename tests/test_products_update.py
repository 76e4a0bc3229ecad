"""PUT products: what changes, what stays, and the action whose id comes back."""

# Over 300 lines: one endpoint, and each of its fields in every state.
# ruff: noqa: RUF001 - letters that look alike stand here on purpose

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stammdaten.history.queries import actions_on
from stammdaten.products.queries import live_products
from stammdaten.products.shapes import Product
from stammdaten.products.standing import Archiving, Deed, archive_products, delete_products
from stammdaten.store import Store
from tests.cast import Member, Service, found_product, make_product

# What a product holds where every field was given; the input-only ones among them.
FULL: dict[str, Any] = {
    "designation": "Servo motor 2.0 kW",
    "designation2": "with holding brake",
    "vendor": "Example Drives GmbH",
    "feature1": "400 V",
    "feature2": "IP 65",
    "feature3": "3000 rpm",
    "feature4": "resolver",
    "feature5": "shaft with key",
    "feature6": "painted",
    "is_prio": True,
    "is_eccn": True,
    "eccn_comment": "check\nre-export",
    "machine_type": "M7",
    "assembly_group": "drive unit",
    "is_nuclear": True,
    "import_article": True,
    "is_military": True,
    "supplier_ctn": "85015220",
    "presystem_ctn": "85015290",
    "type_of_sourcing": "F",
    "system_material": "4711",
    "non_preferential": "DE",
    "preferential": "CH",
    "made_in": "CZ",
}
# Another value for each of them.
OTHER: dict[str, Any] = {name: f"other {value}" for name, value in FULL.items()}
OTHER |= {name: False for name, value in FULL.items() if value is True}
OTHER |= {"type_of_sourcing": "X", "non_preferential": "FR", "preferential": "XK", "made_in": "EU"}
CLEARED: dict[str, Any] = {name: False if isinstance(value, bool) else "" for name, value in FULL.items()}
OPTIONAL = sorted(FULL.keys() - {"designation"})
ORIGINS = ("non_preferential", "preferential", "made_in")


def kept_product(member: Member, article_number: str = "A-1") -> dict[str, Any]:
    """Return the columns of a live product that a caller can give, those that no answer shows among them."""

    async def look(store: Store) -> Product:
        async with store.reading(member.instance_id) as read:
            return (await live_products(read, [article_number]))[article_number][0]

    product = member.service.run(look)
    return {name: getattr(product, name) for name in FULL}


def actions_of(member: Member, product_id: int) -> list[tuple[int, str, str, str, str, str]]:
    """Return the actions on a product, newest first: id, category, text, user name, stamp, changes as JSON."""

    async def look(store: Store) -> list[tuple[int, str, str, str, str, str]]:
        async with store.reading(member.instance_id) as read:
            return [tuple(row) for row in await actions_on(read, product_id)]

    return member.service.run(look)


def update(member: Member, article_number: str = "A-1", **fields: object) -> Any:
    """Send an update; the designation is the one that `make_product` gives, unless it is given here."""
    product = {"designation": "Hex bolt M8", **fields}
    return member.put("/products", {"article_number": article_number, "product": product})


class TestUpdateProduct:
    """PUT products."""

    def test_returns_the_id_of_the_newest_action(self, anna: Member) -> None:
        product_id = make_product(anna)

        response = update(anna, vendor="Bosch")

        updated, created = actions_of(anna, product_id)
        assert response.status_code == 200
        assert response.json() == {"id": updated[0]}
        assert updated[0] > created[0]
        assert updated[1:4] == ("updated", "Product Updated", "anna")
        assert updated[5] == '{"vendor":["","Bosch"]}'

    @pytest.mark.parametrize("name", sorted(FULL))
    def test_changes_the_field_given_and_no_other(self, anna: Member, name: str) -> None:
        make_product(anna, **FULL)

        response = update(anna, **{"designation": FULL["designation"], name: OTHER[name]})

        assert response.status_code == 200
        assert kept_product(anna) == {**FULL, name: OTHER[name]}

    def test_changes_every_field_at_once(self, anna: Member) -> None:
        make_product(anna, **FULL)

        update(anna, **OTHER)

        assert kept_product(anna) == OTHER

    @pytest.mark.parametrize("name", OPTIONAL)
    def test_clears_a_field_by_null(self, anna: Member, name: str) -> None:
        make_product(anna, **FULL)

        response = update(anna, **{"designation": FULL["designation"], name: None})

        assert response.status_code == 200
        assert kept_product(anna) == {**FULL, name: CLEARED[name]}

    @pytest.mark.parametrize("name", [name for name in OPTIONAL if isinstance(FULL[name], str)])
    def test_clears_a_text_by_the_empty_text(self, anna: Member, name: str) -> None:
        make_product(anna, **FULL)

        response = update(anna, **{"designation": FULL["designation"], name: ""})

        assert response.status_code == 200
        assert kept_product(anna) == {**FULL, name: ""}

    def test_shows_what_was_changed(self, anna: Member) -> None:
        make_product(anna, **FULL)
        before = found_product(anna)

        update(anna, designation="Motor", feature6="", is_prio=None, vendor="Bosch")

        after = found_product(anna)
        data = {**before["data"][0], "designation": "Motor", "feature6": "", "is_prio": False, "vendor": "Bosch"}
        assert after == {**before, "data": [data], "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]

    def test_stamps_and_writes_an_action_where_nothing_changes(self, anna: Member) -> None:
        product_id = make_product(anna, **FULL)
        before = found_product(anna)

        response = update(anna, **FULL)

        after = found_product(anna)
        newest, created = actions_of(anna, product_id)
        assert response.json() == {"id": newest[0]}
        assert after == {**before, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]
        assert newest == (newest[0], "updated", "Product Updated", "anna", after["updated_at"], "{}")
        assert created[0] < newest[0]

    def test_leaves_the_creator_and_names_the_updater(self, anna: Member, no_role: Member) -> None:
        product_id = make_product(anna)
        before = found_product(anna)

        update(no_role, vendor="Bosch")

        after = found_product(anna)
        assert [action[3] for action in actions_of(anna, product_id)] == ["no_role", "anna"]
        assert (after["user_id"], after["user_name"]) == (before["user_id"], before["user_id"])

    @pytest.mark.parametrize("inner", ["A-2", "", "  ", None, 5, True, ["A-2"], {"a": 1}, "x" * 300, "A\n1"], ids=repr)
    def test_ignores_an_inner_article_number(self, anna: Member, inner: object) -> None:
        make_product(anna)
        make_product(anna, "A-2")
        other = found_product(anna, "A-2")
        product = {"article_number": inner, "designation": "Bolt"}

        response = anna.put("/products", {"article_number": "A-1", "product": product})

        updated = found_product(anna)
        assert response.status_code == 200
        assert (updated["article_number"], updated["data"][0]["article_number"]) == ("A-1", "A-1")
        assert updated["data"][0]["designation"] == "Bolt"
        assert found_product(anna, "A-2") == other

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("id", 1),
            ("list_id", 999),
            ("user_id", 999),
            ("is_deleted", True),
            ("is_archived", True),
            ("is_unlisted", True),
            ("status", "expired"),
            ("classification", {"type": "special", "ctn": "99050000"}),
            ("eccns", {"codes": "3A225", "comment": ""}),
            ("files", [{"path": "a", "username": "b", "date": "c"}]),
            ("inserted_at", "2001-01-01T00:00:00.000000"),
            ("updated_at", "2001-01-01T00:00:00.000000"),
            ("unknown", [{"a": 1.5}]),
        ],
    )
    def test_ignores_what_a_caller_cannot_set(self, anna: Member, name: str, value: Any) -> None:
        make_product(anna)
        before = found_product(anna)

        response = update(anna, **{name: value})

        after = found_product(anna)
        assert response.status_code == 200
        assert after == {**before, "updated_at": after["updated_at"]}
        assert after["updated_at"] > before["updated_at"]

    def test_finds_the_product_by_its_trimmed_number(self, anna: Member) -> None:
        make_product(anna)

        response = update(anna, " \u00a0A-1\u3000 ", vendor="Bosch")

        assert response.status_code == 200
        assert found_product(anna)["data"][0]["vendor"] == "Bosch"

    @pytest.mark.parametrize("article_number", ["a-1", "A-1.", "A", "A-%", "A_1", "A‐1", "Ａ-1", "A-1\u200b", "0"])
    def test_refuses_a_number_that_is_not_exactly_the_same(self, anna: Member, article_number: str) -> None:
        make_product(anna)
        before = found_product(anna)

        response = update(anna, article_number, vendor="Bosch")

        assert response.status_code == 404
        assert response.json() == {"reason": "There is no product with this article_number."}
        assert found_product(anna) == before

    def test_tells_composed_letters_from_decomposed_ones(self, anna: Member) -> None:
        make_product(anna, "Mu\u0308ller")
        make_product(anna, "M\u00fcller")

        update(anna, "M\u00fcller", vendor="Bosch")

        assert found_product(anna, "M\u00fcller")["data"][0]["vendor"] == "Bosch"
        assert found_product(anna, "Mu\u0308ller")["data"][0]["vendor"] == ""

    def test_refuses_a_deleted_product(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(delete_products, Deed("A-1", "anna"))
        before = found_product(anna, deleted=True)

        response = update(anna, vendor="Bosch")

        assert response.status_code == 404
        assert response.json() == {"reason": "There is no product with this article_number."}
        assert found_product(anna, deleted=True) == before

    def test_updates_the_newer_of_two_with_one_number(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(delete_products, Deed("A-1", "anna"))
        deleted = found_product(anna, deleted=True)
        make_product(anna)

        update(anna, vendor="Bosch")

        assert found_product(anna)["data"][0]["vendor"] == "Bosch"
        assert found_product(anna, deleted=True) == deleted

    def test_updates_an_archived_product_and_leaves_it_archived(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(archive_products, Archiving("A-1", "anna", is_archived=True))

        response = update(anna, vendor="Bosch")

        assert response.status_code == 200
        assert found_product(anna)["data"][0]["vendor"] == "Bosch"
        assert anna.get("/products", timestamp="1970-01-01").json() == {"products": []}

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({}, "product.designation is required"),
            ({"vendor": "Bosch"}, "product.designation is required"),
            ({"designation": None, "vendor": "Bosch"}, "product.designation must be a String"),
            ({"designation": "", "vendor": "Bosch"}, "product.designation must not be empty"),
            ({"designation": " \u3000", "vendor": "Bosch"}, "product.designation must not be empty"),
        ],
    )
    def test_requires_the_designation(self, anna: Member, given: dict[str, object], reason: str) -> None:
        make_product(anna)
        before = found_product(anna)

        response = anna.put("/products", {"article_number": "A-1", "product": given})

        assert response.status_code == 400
        assert response.json() == {"reason": reason}
        assert found_product(anna) == before

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            ({"product": {"designation": "Bolt"}}, "article_number is required"),
            ({"product": {"designation": "Bolt", "article_number": "A-1"}}, "article_number is required"),
            ({"article_number": "A-1"}, "product is required"),
            ({"article_number": "A-1", "product": None}, "product must be an Object"),
            ({"article_number": "A-1", "product": []}, "product must be an Object"),
        ],
    )
    def test_requires_number_and_product(self, anna: Member, body: object, reason: str) -> None:
        make_product(anna)
        before = found_product(anna)

        response = anna.put("/products", body)

        assert response.status_code == 400
        assert response.json() == {"reason": reason}
        assert found_product(anna) == before

    def test_changes_nothing_where_one_field_is_wrong(self, anna: Member) -> None:
        product_id = make_product(anna)
        before = found_product(anna)

        response = update(anna, vendor="Bosch", made_in="DEU", is_prio=True)

        assert response.status_code == 400
        assert response.json()["reason"].startswith("product.made_in must be a country code")
        assert found_product(anna) == before
        assert len(actions_of(anna, product_id)) == 1


class TestCountryOfOrigin:
    """PUT products, `country_of_origin` and the fields of the same names."""

    @pytest.mark.parametrize(
        ("given", "changed"),
        [
            ({"country_of_origin": {}}, {}),
            ({"country_of_origin": {"unknown": "FR"}}, {}),
            ({"country_of_origin": {"made_in": "fr"}}, {"made_in": "FR"}),
            ({"country_of_origin": {"made_in": ""}}, {"made_in": ""}),
            ({"country_of_origin": {"made_in": None, "preferential": "at"}}, {"made_in": "", "preferential": "AT"}),
            ({"country_of_origin": None}, dict.fromkeys(ORIGINS, "")),
            ({"made_in": "fr"}, {"made_in": "FR"}),
            ({"made_in": "FR", "country_of_origin": {"made_in": "AT"}}, {"made_in": "AT"}),
            ({"made_in": "FR", "country_of_origin": {"made_in": ""}}, {"made_in": ""}),
            ({"made_in": "FR", "country_of_origin": {"made_in": None}}, {"made_in": ""}),
            (
                {"made_in": "FR", "country_of_origin": {"preferential": "AT"}},
                {"made_in": "FR", "preferential": "AT"},
            ),
            ({"made_in": None, "country_of_origin": {"made_in": "AT"}}, {"made_in": "AT"}),
        ],
        ids=repr,
    )
    def test_means_the_same_nested_or_not_and_nested_wins(
        self, anna: Member, given: dict[str, Any], changed: dict[str, str]
    ) -> None:
        make_product(anna, **FULL)

        response = update(anna, designation=FULL["designation"], **given)

        assert response.status_code == 200
        assert kept_product(anna) == {**FULL, **changed}


class TestUpdateProductRaces:
    """PUT products, many at once."""

    def test_acknowledges_each_with_an_action_of_its_own(self, anna: Member) -> None:
        product_id = make_product(anna)
        vendors = [f"Vendor {number}" for number in range(60)]

        with ThreadPoolExecutor(8) as threads:
            responses = list(threads.map(lambda vendor: update(anna, vendor=vendor), vendors))

        ids = {response.json()["id"]: vendor for response, vendor in zip(responses, vendors, strict=True)}
        *updates, _ = actions_of(anna, product_id)
        assert [response.status_code for response in responses] == [200] * 60
        assert len(ids) == 60
        assert [action[0] for action in updates] == sorted(ids, reverse=True)
        assert found_product(anna)["data"][0]["vendor"] == ids[max(ids)]

    def test_loses_none_of_the_fields(self, anna: Member) -> None:
        """Each writer changes a field that the others leave alone: an update lost would show as an old value."""
        make_product(anna)
        start = threading.Barrier(6)

        def write(name: str) -> list[int]:
            start.wait()
            return [update(anna, **{name: str(number)}).status_code for number in range(10)]

        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(write, [f"feature{number}" for number in range(1, 7)]))

        data = found_product(anna)["data"][0]
        assert answers == [[200] * 10] * 6
        assert [data[f"feature{number}"] for number in range(1, 7)] == ["9"] * 6

    def test_stamps_in_the_order_of_the_actions(self, service: Service, anna: Member, no_role: Member) -> None:
        product_ids = {number: make_product(anna, number) for number in ("A-1", "A-2", "A-3")}
        people = [anna, no_role] * 12
        numbers = list(product_ids) * 8

        with ThreadPoolExecutor(8) as threads:
            responses = list(threads.map(lambda each: update(*each, vendor="Bosch"), zip(people, numbers, strict=True)))

        actions = sorted(each for product_id in product_ids.values() for each in actions_of(anna, product_id))
        stamps = [action[4] for action in actions]
        assert {response.status_code for response in responses} == {200}
        assert len(actions) == 3 + 24
        assert stamps == sorted(set(stamps))
