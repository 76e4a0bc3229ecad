"""POST products: every field with its default and its limits, and what makes a number unique."""

# Over 300 lines: one endpoint, and each of its fields in every state.
# ruff: noqa: RUF001 - letters that look alike stand here on purpose

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any

import pytest

from stammdaten.clock import german_stamp, utc_now
from stammdaten.products.countries import COUNTRY_CODES
from stammdaten.products.shapes import read_create
from stammdaten.products.standing import Archiving, Deed, archive_products, delete_products
from stammdaten.refusals import Invalid
from tests.cast import Member, found_product, make_list, make_product
from tests.test_products_update import CLEARED, FULL, OPTIONAL, actions_of, kept_product

FLAGS = [name for name, value in FULL.items() if isinstance(value, bool)]
TEXTS = [name for name, value in FULL.items() if isinstance(value, str)]
ORIGINS = ["non_preferential", "preferential", "made_in"]
LENGTHS = {
    **dict.fromkeys(["vendor", "machine_type", "assembly_group"], 255),
    **dict.fromkeys(["supplier_ctn", "presystem_ctn", "system_material"], 255),
    **dict.fromkeys(["designation", "designation2", *(f"feature{number}" for number in range(1, 7))], 1000),
    "eccn_comment": 4000,
}
ONE_LINE = sorted(LENGTHS.keys() - {"eccn_comment"})
COUNTRY_REASON = "must be a country code of ISO 3166-1 alpha-2, or one of XK, XI, XS, XC, XL, EU"
NUMBERS = [
    *("4711", "007", "0", "-", "a", "A B", "A  B", "Ä-1", "ß", "Жаба-7", "品番12", "رقم٣", "मूल्य", "𝔘𝔫𝔦", "ａ１"),
    *("/", "a/b", "../..", ".", "..", "%", "%2F", "%00", "_", "\\", "\\%", "'", '"', "' OR 1=1 --", "'; DROP", "a;b"),
    *("🔩", "👩‍🔧", "🇩🇪", "e\u0301", "\u200b", "\ufeff", "\u202eabc", "\ufffd", "\U0010ffff", "null", "{}", "[1]"),
    *("<b>", "&amp;", "a?b=c", "#", "+", "a+b", "$1", "?", ":name", "%s", "{0}", "x" * 255, "🔩" * 255),
]


def create(member: Member, article_number: object = "A-1", **fields: object) -> Any:
    """Send a create; the designation is the one that `make_product` gives, unless it is given here."""
    product = {"article_number": article_number, "designation": "Hex bolt M8", **fields}
    return member.post("/products", {"list_id": member.list_id, "product": product})


def shown_products(member: Member, **query: object) -> list[dict[str, Any]]:
    """Return a page of the member's products, archived ones among them."""
    response = member.get("/products", timestamp="1970-01-01", include_archived="true", **query)
    assert response.status_code == 200, response.text
    products: list[dict[str, Any]] = response.json()["products"]
    return products


class TestCreateProduct:
    """POST products."""

    def test_returns_the_id_of_the_new_product(self, anna: Member) -> None:
        response = create(anna)

        assert response.status_code == 201
        assert response.json() == {"id": found_product(anna)["id"]}
        assert isinstance(response.json()["id"], int)

    def test_fills_what_was_not_given(self, anna: Member) -> None:
        """Unset Strings are "", unset Booleans false; what the staff have not recorded is null or empty."""
        product_id = make_product(anna)

        product = found_product(anna)

        assert product == {
            "id": product_id,
            "article_number": "A-1",
            "classification": None,
            "data": [
                {
                    "article_number": "A-1",
                    "designation": "Hex bolt M8",
                    "designation2": "",
                    "feature1": "",
                    "feature2": "",
                    "feature3": "",
                    "feature4": "",
                    "feature5": "",
                    "feature6": "",
                    "is_prio": False,
                    "is_eccn": False,
                    "eccn_comment": "",
                    "machine_type": "",
                    "assembly_group": "",
                    "status": "",
                    "vendor": "",
                }
            ],
            "eccns": None,
            "is_unlisted": False,
            "files": [],
            "inserted_at": product["inserted_at"],
            "updated_at": product["inserted_at"],
            "is_deleted": False,
            "list_id": anna.list_id,
            "user_id": product["user_id"],
            "user_name": product["user_id"],
        }

    def test_returns_what_was_given_but_the_input_only_fields(self, anna: Member) -> None:
        make_product(anna, **FULL)

        product = found_product(anna)

        assert product["data"] == [
            {
                "article_number": "A-1",
                "designation": "Servo motor 2.0 kW",
                "designation2": "with holding brake",
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
                "status": "",
                "vendor": "Example Drives GmbH",
            }
        ]
        # The ECCN comment of the caller does not feed what the staff record (decisions: Products).
        assert (product["classification"], product["eccns"]) == (None, None)

    def test_keeps_every_field(self, anna: Member) -> None:
        create(anna, **FULL)

        assert kept_product(anna) == FULL

    def test_keeps_the_defaults_of_the_input_only_fields(self, anna: Member) -> None:
        create(anna)

        assert kept_product(anna) == {**CLEARED, "designation": "Hex bolt M8"}

    @pytest.mark.parametrize("name", OPTIONAL)
    def test_takes_null_for_unset(self, anna: Member, name: str) -> None:
        response = create(anna, **{**FULL, name: None})

        assert response.status_code == 201
        assert kept_product(anna) == {**FULL, name: CLEARED[name]}

    @pytest.mark.parametrize("name", [name for name in OPTIONAL if name in TEXTS])
    def test_takes_the_empty_text_for_unset(self, anna: Member, name: str) -> None:
        response = create(anna, **{**FULL, name: ""})

        assert response.status_code == 201
        assert kept_product(anna) == {**FULL, name: ""}

    @pytest.mark.parametrize("name", FLAGS)
    @pytest.mark.parametrize("value", [True, False])
    def test_keeps_a_flag(self, anna: Member, name: str, value: bool) -> None:  # noqa: FBT001
        create(anna, **{name: value})

        assert kept_product(anna)[name] is value

    @pytest.mark.parametrize("name", FLAGS)
    def test_refuses_what_is_no_flag(self, anna: Member, name: str) -> None:
        values: list[Any] = ["", "true", "false", 0, 1, 1.0, [], {}, [True]]

        responses = [create(anna, **{name: value}) for value in values]

        assert {response.status_code for response in responses} == {400}
        assert {response.text for response in responses} == {f'{{"reason":"product.{name} must be true or false"}}'}
        assert shown_products(anna) == []

    @pytest.mark.parametrize("name", ["article_number", *TEXTS])
    def test_refuses_what_is_no_text(self, anna: Member, name: str) -> None:
        values: list[Any] = [1, 0, 1.5, True, False, [], {}, ["A"], {"a": "b"}]

        responses = [create(anna, **{**FULL, "article_number": "A-1", name: value}) for value in values]

        assert {response.status_code for response in responses} == {400}
        assert {response.text for response in responses} == {f'{{"reason":"product.{name} must be a String"}}'}
        assert shown_products(anna) == []

    @pytest.mark.parametrize("name", LENGTHS)
    @pytest.mark.parametrize("letter", ["x", "ß", "品", "🔩"])
    def test_keeps_a_text_as_long_as_allowed(self, anna: Member, name: str, letter: str) -> None:
        text = letter * LENGTHS[name]

        response = create(anna, **{name: text})

        assert response.status_code == 201
        assert kept_product(anna)[name] == text

    @pytest.mark.parametrize("name", LENGTHS)
    @pytest.mark.parametrize("letter", ["x", "🔩"])
    def test_refuses_a_longer_one(self, anna: Member, name: str, letter: str) -> None:
        response = create(anna, **{name: letter * (LENGTHS[name] + 1)})

        assert response.status_code == 400
        assert response.json() == {"reason": f"product.{name} must not be longer than {LENGTHS[name]} characters"}
        assert shown_products(anna) == []

    @pytest.mark.parametrize("name", ONE_LINE)
    def test_refuses_control_characters_in_one_line(self, anna: Member, name: str) -> None:
        characters = ["\t", "\n", "\r", "\x01", "\x1b", "\x1f", "\x7f", "\x80", "\x85", "\x9f"]

        responses = [create(anna, **{name: text}) for each in characters for text in (f"a{each}b", each, f"a{each}")]

        reason = f"product.{name} must not hold control characters"
        assert [response.json() for response in responses] == [{"reason": reason}] * 30
        assert shown_products(anna) == []

    def test_keeps_the_lines_of_a_comment(self, anna: Member) -> None:
        comment = "first\r\n\tsecond\x1b\x7f\x85\u2028\n"

        response = create(anna, eccn_comment=comment)

        assert response.status_code == 201
        assert found_product(anna)["data"][0]["eccn_comment"] == comment

    @pytest.mark.parametrize("name", ONE_LINE)
    def test_keeps_the_text_as_it_is(self, anna: Member, name: str) -> None:
        """No trimming, no normalisation, no folding of case."""
        text = "  Müller Mu\u0308ller ﬁ ŉ ＡＢＣ \u00a0 ' \" \\ % _ <b> 🔩 \u200b "

        create(anna, **{name: text})

        assert kept_product(anna)[name] == text

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ({"designation": "Bolt"}, "product.article_number is required"),
            ({"article_number": None, "designation": "Bolt"}, "product.article_number must be a String"),
            ({"article_number": "", "designation": "Bolt"}, "product.article_number must not be empty"),
            ({"article_number": " \u3000", "designation": "Bolt"}, "product.article_number must not be empty"),
            ({"article_number": "A-1"}, "product.designation is required"),
            ({"article_number": "A-1", "designation": None}, "product.designation must be a String"),
            ({"article_number": "A-1", "designation": ""}, "product.designation must not be empty"),
            ({"article_number": "A-1", "designation": " \u00a0"}, "product.designation must not be empty"),
        ],
    )
    def test_requires_number_and_designation(self, anna: Member, given: dict[str, object], reason: str) -> None:
        response = anna.post("/products", {"list_id": anna.list_id, "product": given})

        assert response.status_code == 400
        assert response.json() == {"reason": reason}
        assert shown_products(anna) == []

    def test_names_each_wrong_field(self, anna: Member) -> None:
        product = {"is_prio": "yes", "vendor": 7, "type_of_sourcing": "Z", "country_of_origin": {"made_in": "D"}}

        response = anna.post("/products", {"list_id": anna.list_id, "product": product})

        assert response.status_code == 400
        assert sorted(response.json()["reason"].split("; ")) == [
            "product.article_number is required",
            f"product.country_of_origin.made_in {COUNTRY_REASON}",
            "product.designation is required",
            "product.is_prio must be true or false",
            "product.type_of_sourcing must be one of F, E, H, X",
            "product.vendor must be a String",
        ]

    @pytest.mark.parametrize("value", ["F", "E", "H", "X"])
    def test_keeps_the_type_of_sourcing(self, anna: Member, value: str) -> None:
        create(anna, type_of_sourcing=value)

        assert kept_product(anna)["type_of_sourcing"] == value

    @pytest.mark.parametrize("value", ["f", "A", "FE", " F", "F ", "Ｆ", "external", "F\n", "x" * 5000])
    def test_refuses_other_types_of_sourcing(self, anna: Member, value: str) -> None:
        response = create(anna, type_of_sourcing=value)

        assert response.status_code == 400
        assert response.json() == {"reason": "product.type_of_sourcing must be one of F, E, H, X"}
        assert shown_products(anna) == []

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("id", 999_999),
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
            ("reset_classification", "nonsense"),
            ("list_id", 999),
            ("unknown", [{"a": 1.5}]),
            ("", ""),
        ],
    )
    def test_ignores_what_a_caller_cannot_set(self, anna: Member, name: str, value: object) -> None:
        """What a product shows beside its own numbers and stamps is what one without the member shows."""
        make_product(anna, "A-2")
        product = {"article_number": "A-1", "designation": "Hex bolt M8", name: value}

        response = anna.post("/products", {"list_id": anna.list_id, "product": product, f"_{name}": value})

        shown, expected = found_product(anna), found_product(anna, "A-2")
        own = {key: shown[key] for key in ("id", "inserted_at", "updated_at")}
        data = [{**expected["data"][0], "article_number": "A-1"}]
        assert response.status_code == 201
        assert shown == {**expected, **own, "article_number": "A-1", "data": data}
        assert own["id"] < 999_999
        assert own["inserted_at"] == own["updated_at"] > expected["updated_at"]

    @pytest.mark.parametrize("content_type", ["", "text/plain", "application/xml", "application/json; charset=latin1"])
    def test_does_not_look_at_the_content_type(self, anna: Member, content_type: str) -> None:
        body = f'{{"list_id": {anna.list_id}, "product": {{"article_number": "Ä", "designation": "Öse"}}}}'

        response = anna.request("POST", "/products", content=body.encode(), headers={"Content-Type": content_type})

        assert response.status_code == 201
        assert found_product(anna, "Ä")["data"][0]["designation"] == "Öse"

    def test_stamps_in_german_time_and_writes_an_action(self, anna: Member) -> None:
        before = german_stamp(utc_now())
        product_id = make_product(anna)
        after = german_stamp(utc_now())

        product = found_product(anna)

        (action,) = actions_of(anna, product_id)
        assert before <= product["inserted_at"] <= after
        assert product["updated_at"] == product["inserted_at"]
        assert action[1:5] == ("created", "Product Created", "anna", product["inserted_at"])

    def test_counts_ids_and_stamps_up(self, anna: Member) -> None:
        made = [make_product(anna, f"A-{number}") for number in range(5)]

        shown = shown_products(anna)

        stamps = [product["updated_at"] for product in shown]
        assert [product["id"] for product in shown] == made == sorted(set(made))
        assert stamps == sorted(set(stamps))

    def test_names_its_creator_by_number(self, anna: Member, no_role: Member) -> None:
        make_product(anna, "A-1")
        make_product(no_role, "A-2")

        first, second = shown_products(anna)

        assert first["user_id"] == first["user_name"] != second["user_id"] == second["user_name"]


class TestListOfANewProduct:
    """POST products, `list_id`."""

    @pytest.mark.parametrize(
        ("list_id", "reason"),
        [
            (None, "list_id must be an Integer"),
            (True, "list_id must be an Integer"),
            (1.5, "list_id must be an Integer"),
            ([], "list_id must be an Integer"),
            ({}, "list_id must be an Integer"),
            ("", "list_id must be an Integer: send the number itself, not a String"),
            ("one", "list_id must be an Integer: send the number itself, not a String"),
            (0, "list_id must be at least 1"),
            (-1, "list_id must be at least 1"),
            (2**53 + 1, "list_id must be within ±9007199254740992"),
            (-(2**53) - 1, "list_id must be within ±9007199254740992"),
            (2**63, "list_id must be within ±9007199254740992"),
            (10**30, "list_id must be within ±9007199254740992"),
            (1e300, "list_id must be within ±9007199254740992"),
        ],
    )
    def test_must_be_an_integer(self, anna: Member, list_id: object, reason: str) -> None:
        product = {"article_number": "A-1", "designation": "Hex bolt M8"}

        response = anna.post("/products", {"list_id": list_id, "product": product})

        assert response.status_code == 400
        assert response.json() == {"reason": reason}
        assert shown_products(anna) == []

    def test_must_not_be_the_string_that_the_list_shows(self, anna: Member) -> None:
        shown = anna.get("/lists").json()["lists"][0]["id"]
        product = {"article_number": "A-1", "designation": "Hex bolt M8"}

        response = anna.post("/products", {"list_id": shown, "product": product})

        assert shown == str(anna.list_id)
        assert response.status_code == 400
        assert response.json() == {"reason": "list_id must be an Integer: send the number itself, not a String"}

    def test_is_required(self, anna: Member) -> None:
        response = anna.post("/products", {"product": {"article_number": "A-1", "designation": "Hex bolt M8"}})

        assert response.status_code == 400
        assert response.json() == {"reason": "list_id is required"}

    @pytest.mark.parametrize("list_id", [999_999, 2**31, 2**53])
    def test_must_be_known(self, anna: Member, list_id: int) -> None:
        product = {"article_number": "A-1", "designation": "Hex bolt M8"}

        response = anna.post("/products", {"list_id": list_id, "product": product})

        assert response.status_code == 404
        assert response.json() == {"reason": "There is no product list with this list_id."}
        assert shown_products(anna) == []

    def test_must_be_a_list_and_not_another_thing_with_an_id(self, anna: Member) -> None:
        product_id = make_product(anna)
        product = {"article_number": "A-2", "designation": "Hex bolt M8"}

        response = anna.post("/products", {"list_id": product_id, "product": product})

        assert response.status_code == 404
        assert len(shown_products(anna)) == 1

    def test_is_where_the_product_appears(self, anna: Member) -> None:
        anna.list_id = other = make_list(anna, "Other")

        make_product(anna)

        assert found_product(anna)["list_id"] == other
        assert [product["id"] for product in shown_products(anna, list_id=other)] == [found_product(anna)["id"]]


class TestCountriesOfANewProduct:
    """POST products, countries of origin."""

    @pytest.mark.parametrize("name", ORIGINS)
    @pytest.mark.parametrize("code", ["DE", "de", "dE", "xk", "XI", "xs", "Xc", "xL", "eu", "GB", "zw", "aq"])
    def test_are_kept_in_upper_case(self, anna: Member, name: str, code: str) -> None:
        create(anna, "A-1", **{name: code})
        create(anna, "A-2", country_of_origin={name: code})

        beside, nested = kept_product(anna, "A-1"), kept_product(anna, "A-2")

        assert beside == nested == {**CLEARED, "designation": "Hex bolt M8", name: code.upper()}

    @pytest.mark.parametrize("name", ORIGINS)
    @pytest.mark.parametrize("is_nested", [False, True])
    def test_must_be_codes(self, anna: Member, name: str, is_nested: bool) -> None:  # noqa: FBT001
        codes = ["D", "DEU", "ZZ", "XX", "UK", "QX", "EN", " ", " DE", "DE ", "D E", "D1", "12", "Germany"]
        codes += ["ß", "ＤＥ", "\u0414\u0415", "ﬆ", "ıt", "D\u0307E", "🇩🇪"]

        responses = [
            create(anna, **({"country_of_origin": {name: code}} if is_nested else {name: code})) for code in codes
        ]

        path = f"product.country_of_origin.{name}" if is_nested else f"product.{name}"
        assert {response.status_code for response in responses} == {400}
        assert {response.json()["reason"] for response in responses} == {f"{path} {COUNTRY_REASON}"}
        assert shown_products(anna) == []

    @pytest.mark.parametrize("value", ["DE", 1, True, [], ["DE"]])
    def test_stand_in_an_object(self, anna: Member, value: object) -> None:
        response = create(anna, country_of_origin=value)

        assert response.status_code == 400
        assert response.json() == {"reason": "product.country_of_origin must be an Object"}

    @pytest.mark.parametrize(
        ("given", "kept"),
        [
            ({"country_of_origin": {}}, ("", "", "")),
            ({"country_of_origin": None}, ("", "", "")),
            ({"country_of_origin": {"made_in": "cz"}}, ("", "", "CZ")),
            ({"country_of_origin": {"made_in": "CZ"}, "made_in": "DE"}, ("", "", "CZ")),
            ({"country_of_origin": {"made_in": "CZ"}, "preferential": "DE"}, ("", "DE", "CZ")),
            ({"country_of_origin": {"made_in": ""}, "made_in": "DE"}, ("", "", "")),
            ({"country_of_origin": {"made_in": None}, "made_in": "DE"}, ("", "", "")),
            ({"country_of_origin": {}, "made_in": "DE"}, ("", "", "DE")),
            (
                {"country_of_origin": {"non_preferential": "US", "preferential": "EU", "made_in": "XS"}},
                ("US", "EU", "XS"),
            ),
        ],
        ids=repr,
    )
    def test_mean_the_same_nested_or_not_and_nested_wins(
        self, anna: Member, given: dict[str, object], kept: tuple[str, str, str]
    ) -> None:
        response = create(anna, **given)

        assert response.status_code == 201
        assert tuple(kept_product(anna)[name] for name in ORIGINS) == kept

    def test_are_those_of_iso_and_of_customs(self) -> None:
        table = (files("tzdata") / "zoneinfo" / "iso3166.tab").read_text("utf-8")

        iso = {line[:2] for line in table.splitlines() if not line.startswith("#")}

        assert iso | {"XK", "XI", "XS", "XC", "XL", "EU"} == COUNTRY_CODES

    def test_are_read_in_either_case(self) -> None:
        letters = [chr(letter) for letter in range(ord("A"), ord("Z") + 1)]
        pairs = [first + second for first in letters for second in letters]

        taken = {pair for pair in pairs if takes_country(pair.lower()) and takes_country(pair)}

        assert taken == COUNTRY_CODES


def takes_country(code: str) -> bool:
    """Whether a create with this country can be read; what is read is the code in upper case."""
    product = {"article_number": "A-1", "designation": "Bolt", "made_in": code}
    try:
        _, _, values = read_create({"list_id": 1, "product": product}, [])
    except Invalid:
        return False
    return bool(values["made_in"] == code.upper())


class TestArticleNumber:
    """POST products, `article_number`."""

    @pytest.mark.parametrize("article_number", NUMBERS)
    def test_may_be_of_any_script(self, anna: Member, article_number: str) -> None:
        response = create(anna, article_number)

        found = found_product(anna, article_number)
        assert response.status_code == 201
        assert response.json() == {"id": found["id"]}
        assert (found["article_number"], found["data"][0]["article_number"]) == (article_number, article_number)
        assert shown_products(anna) == [found]

    def test_is_compared_exactly(self, anna: Member) -> None:
        """Case, composition, width and look-alikes all tell numbers apart, on every engine."""
        alike = ["straße", "strasse", "STRASSE", "Straße", "STRAẞE", "müller", "mu\u0308ller", "MÜLLER", "k", "\u212a"]
        alike += ["a", "A", "а", "ａ", "1", "01", "1.0", "１", "①", "A-1", "A‐1", "A 1", "A\u00a01", "A  1", "%", "_"]
        alike += ["i", "I", "ı", "İ", "ﬁ", "fi", "Å", "\u212b", "A\u030a", "ς", "σ", "Σ", "\u200bA", "A\u200b"]

        made = {make_product(anna, number): number for number in alike}

        assert len(made) == len(set(alike)) == len(alike)
        assert len({unicodedata.normalize("NFKC", number).casefold() for number in alike}) < len(alike)
        assert {found_product(anna, number)["id"]: number for number in alike} == made

    @pytest.mark.parametrize("blank", [" ", "  ", "\u00a0", "\u3000", "\u2003", "\u1680", "\u2028", "\u202f", "\u205f"])
    def test_is_trimmed(self, anna: Member, blank: str) -> None:
        response = create(anna, f"{blank}A{blank}1{blank}")

        found = found_product(anna, f"A{blank}1")
        assert response.status_code == 201
        assert (found["article_number"], found["data"][0]["article_number"]) == (f"A{blank}1", f"A{blank}1")
        assert found_product(anna, f"{blank}{blank}A{blank}1") == found

    def test_is_trimmed_before_its_length_is_counted(self, anna: Member) -> None:
        response = create(anna, " " * 300 + "x" * 255 + "\u3000")

        assert response.status_code == 201
        assert found_product(anna, "x" * 255)["article_number"] == "x" * 255

    @pytest.mark.parametrize("article_number", ["x" * 256, "🔩" * 256, " " + "x" * 256, "x" * 100_000])
    def test_has_a_longest(self, anna: Member, article_number: str) -> None:
        response = create(anna, article_number)

        assert response.status_code == 400
        assert response.json() == {"reason": "product.article_number must not be longer than 255 characters"}
        assert shown_products(anna) == []

    @pytest.mark.parametrize("character", ["\t", "\n", "\r", "\x01", "\x1c", "\x1f", "\x7f", "\x85", "\x9f"])
    @pytest.mark.parametrize("place", ["{}A", "A{}", "A{}1", "{}", " {} "])
    def test_holds_no_control_characters(self, anna: Member, character: str, place: str) -> None:
        """Those that count as blanks in Unicode are not trimmed either."""
        response = create(anna, place.format(character))

        assert response.status_code == 400
        assert response.json() == {"reason": "product.article_number must not hold control characters"}
        assert shown_products(anna) == []


class TestDuplicates:
    """POST products with a number that is in use."""

    @pytest.mark.parametrize("article_number", ["A-1", " A-1", "A-1\u3000"])
    def test_are_refused(self, anna: Member, article_number: str) -> None:
        make_product(anna)
        before = shown_products(anna)

        response = create(anna, article_number, vendor="Bosch")

        assert response.status_code == 409
        assert response.json() == {"reason": "A product with this article_number exists already."}
        assert shown_products(anna) == before

    def test_are_refused_in_another_list_too(self, anna: Member) -> None:
        make_product(anna)
        before = shown_products(anna)
        anna.list_id = make_list(anna, "Other")

        response = create(anna)

        assert response.status_code == 409
        assert shown_products(anna) == before

    def test_of_an_archived_product_are_refused(self, anna: Member) -> None:
        make_product(anna)
        anna.submit(archive_products, Archiving("A-1", "anna", is_archived=True))
        before = shown_products(anna)

        response = create(anna)

        assert response.status_code == 409
        assert shown_products(anna) == before

    def test_of_a_deleted_product_make_another_product(self, anna: Member) -> None:
        first = make_product(anna, vendor="Bosch")
        anna.submit(delete_products, Deed("A-1", "anna"))
        deleted = found_product(anna, deleted=True)

        response = create(anna)

        found = found_product(anna)
        assert response.status_code == 201
        assert response.json()["id"] == found["id"] != first
        assert found["data"][0]["vendor"] == ""
        assert found_product(anna, deleted=True) == deleted

    def test_are_no_duplicates_in_another_instance(self, anna: Member, bruno: Member) -> None:
        make_product(anna, vendor="Bosch")
        before = found_product(anna)

        response = create(bruno, vendor="Siemens")

        assert response.status_code == 201
        assert found_product(bruno)["data"][0]["vendor"] == "Siemens"
        assert found_product(anna) == before

    def test_sent_at_once_make_one_product(self, anna: Member) -> None:
        numbers = [f"A-{number}" for number in range(8) for _ in range(6)]

        with ThreadPoolExecutor(8) as threads:
            responses = list(threads.map(lambda number: create(anna, number), numbers))

        answers = [(number, response.status_code) for number, response in zip(numbers, responses, strict=True)]
        ids = sorted(response.json()["id"] for response in responses if response.status_code == 201)
        for number in set(numbers):
            assert sorted(status for each, status in answers if each == number) == [201, *[409] * 5]
        assert sorted(product["id"] for product in shown_products(anna)) == ids
        assert {product["article_number"] for product in shown_products(anna)} == set(numbers)
