"""From bytes to values and from faults to sentences: pure functions, held against simpler ones and the contract."""

# Over 300 lines: one set of strategies serves all readers of bodies.

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stammdaten.classification.shapes import read_classification
from stammdaten.contacts.shapes import read_contact_update, read_new_contact
from stammdaten.contacts.shapes import read_find as read_find_contact
from stammdaten.http.bodies import json_body, unstorable
from stammdaten.products.shapes import read_create, read_find, read_update
from stammdaten.refusals import Invalid, Malformed
from tests.cast import Member
from tests.contract import contract

# Machines are shared, and a slow example is no fault; `anna` may meet them all.
UNHURRIED = settings(deadline=None, suppress_health_check=list(HealthCheck))
LARGEST = 2**53
# All code points, NUL and lone surrogates among them, the awkward ones often.
LETTERS = st.one_of(
    st.characters(exclude_categories=()), st.sampled_from("\0\t\n\x7f\x85\ud800\udfff\ufeff /%\\'\"🔩ß")
)
TEXTS = st.text(LETTERS, max_size=20)
NUMBERS = st.one_of(
    st.integers(),
    st.integers(-(2**64), 2**64),
    st.sampled_from([LARGEST, -LARGEST, LARGEST + 1, -LARGEST - 1, 10**30]),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
# What is not JSON, but nearly.
SCRAPS = st.lists(
    st.sampled_from(
        [
            *("{", "}", "[", "]", ",", ":", '"', '"a"', "1", "-", "0", ".5", "1e5", "true", "nul", " ", "\\", "'a'"),
            *("NaN", "Infinity", "-Infinity", "1e400", "9" * 400, "\\u0000", "\\ud800", "\0", "\ufeff", "/* */"),
        ]
    ),
    max_size=12,
).map("".join)


def depth(value: Any) -> int:
    """Return how many objects and arrays are inside each other."""
    if not isinstance(value, dict | list):
        return 0
    members = value.values() if isinstance(value, dict) else value
    return 1 + max((depth(member) for member in members), default=0)


def as_python_reads(body: bytes) -> Any:
    """Parse as the standard library does, but for NaN and Infinity.

    :raises ValueError: if it cannot.
    """

    def refuse(name: str) -> Any:
        raise ValueError(name)

    return json.loads(body.decode("utf-8"), parse_constant=refuse)


def faulty_paths(path: str, value: Any) -> set[str]:
    """Return where a value holds what cannot be kept."""
    if isinstance(value, str):
        return {path or "body"} if "\0" in value or any("\ud800" <= each <= "\udfff" for each in value) else set()
    if isinstance(value, dict):
        found = {path or "body" for name in value if faulty_paths("name", name)}
        members = (
            (f"{path}.{name}" if path else name, each) for name, each in value.items() if not faulty_paths("", name)
        )
        return found.union(*(faulty_paths(inner, each) for inner, each in members))
    if isinstance(value, list):
        return set().union(*(faulty_paths(f"{path}[{place}]", each) for place, each in enumerate(value)))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {path or "body"} if is_number and abs(value) > LARGEST else set()


class TestJsonBody:
    """http.bodies.json_body."""

    @UNHURRIED
    @given(VALUES, st.sampled_from([None, 1]))
    def test_reads_what_python_writes(self, value: Any, indent: int | None) -> None:
        read = json_body(json.dumps(value, indent=indent).encode())

        assert read == value
        assert repr(read) == repr(value)

    @UNHURRIED
    @given(VALUES)
    def test_reads_letters_that_are_not_escaped(self, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False)
        body = text.encode("utf-8", "surrogatepass")

        if any("\ud800" <= letter <= "\udfff" for letter in text):
            with pytest.raises(Malformed):
                json_body(body)
        else:
            assert json_body(body) == value

    @UNHURRIED
    @given(st.one_of(st.binary(), SCRAPS.map(str.encode)))
    @example(b"\xef\xbb\xbf{}")
    @example('{"a": 1}'.encode("utf-16"))
    @example('{"a": 1}'.encode("utf-16-le"))
    @example('{"a": 1}'.encode("utf-32"))
    @example(b'{"a": "\xed\xa0\x80"}')
    @example(b'{"a": "\xc0\x80"}')
    @example(b'{"a": 1e400}')
    @example(b'{"a": 1, "a": 2}')
    def test_refuses_what_python_refuses_and_nothing_else(self, body: bytes) -> None:
        try:
            expected = as_python_reads(body)
        except ValueError:
            with pytest.raises(Malformed, match=r"^(The body|Numbers in the body) must .*\.$"):
                json_body(body)
        else:
            assert json_body(body) == expected

    @UNHURRIED
    @given(st.lists(st.sampled_from(["[]", "{}"]), min_size=1, max_size=130), st.booleans())
    def test_takes_64_levels(self, levels: list[str], has_neighbours: bool) -> None:  # noqa: FBT001
        """Of objects and arrays alike, and only where they are inside each other."""
        value: Any = 0
        for level in levels:
            value = (
                [*([[[]], {}] if has_neighbours and len(levels) > 3 else []), value] if level == "[]" else {"a": value}
            )
        body = json.dumps(value).encode()

        if depth(value) <= 64:
            assert json_body(body) == value
        else:
            with pytest.raises(Malformed) as refused:
                json_body(body)
            assert str(refused.value) == "The body must not be nested over 64 levels."

    @pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":', '{"a":[{},'])
    @pytest.mark.parametrize("count", [65, 1_000, 100_000])
    def test_refuses_endless_brackets(self, opening: str, count: int) -> None:
        with pytest.raises(Malformed):
            json_body(opening.encode() * count)

    def test_counts_no_brackets_in_texts_or_beside_each_other(self) -> None:
        value = {"a": "[{" * 1000, "b": [[], {}] * 1000}

        assert json_body(json.dumps(value).encode()) == value

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            (b"", "The body must be a JSON object; it is empty."),
            (b"\xff", "The body must be UTF-8; byte 0 is not."),
            (b'{"a": "\xe4"}', "The body must be UTF-8; byte 7 is not."),
            (b'{"a":', "The body must be JSON: Expecting value at line 1, column 6."),
            (b'{\n"a" 1}', "The body must be JSON: Expecting ':' delimiter at line 2, column 5."),
            (b"NaN", "The body must be JSON; NaN is not."),
            (b"[-Infinity]", "The body must be JSON; -Infinity is not."),
            (b"9" * 5000, "Numbers in the body must be within ±9007199254740992."),
        ],
    )
    def test_says_what_is_wrong(self, body: bytes, sentence: str) -> None:
        with pytest.raises(Malformed) as refused:
            json_body(body)

        assert str(refused.value) == sentence

    def test_does_not_tell_how_it_was_built(self) -> None:
        """A mark at the beginning is refused in words for the caller, not for who writes the parser."""
        with pytest.raises(Malformed) as refused:
            json_body(b"\xef\xbb\xbf{}")

        assert "utf-8-sig" not in str(refused.value)


class TestUnstorable:
    """http.bodies.unstorable."""

    @UNHURRIED
    @given(VALUES)
    def test_finds_what_a_walk_finds(self, value: Any) -> None:
        """Whatever short cut it takes over bodies that look harmless."""
        body = json.dumps(value).encode()

        found = unstorable(body, json_body(body))

        assert {fault.path for fault in found} == faulty_paths("", value)

    @UNHURRIED
    @given(VALUES)
    def test_names_the_field(self, value: Any) -> None:
        body = json.dumps({"product": {"files": [0, value]}}).encode()

        found = unstorable(body, json_body(body))

        assert all(fault.path.startswith("product.files[1]") for fault in found)
        assert {fault.path for fault in found} == faulty_paths("product.files[1]", value)

    @pytest.mark.parametrize(
        ("text", "paths"),
        [
            ('{"a": 1e400}', ["a"]),
            ('{"a": -1E+400}', ["a"]),
            ('{"a": [1, 1.5e16]}', ["a[1]"]),
            ('{"a": 9007199254740992}', []),
            ('{"a": 9007199254740993}', ["a"]),
            ('{"a": -9007199254740992}', []),
            ('{"a": -9007199254740993}', ["a"]),
            ('{"a": 90071992547409920.0}', ["a"]),
            ('{"a": 0.12345678901234567890}', []),
            ('{"a": 1e-400}', []),
            ('{"a": 1e15}', []),
            (r'{"a": "\u0000"}', ["a"]),
            (r'{"a": "\\u0000"}', []),
            (r'{"a": "\ud83d\ude00"}', []),
            (r'{"a": "\uD83D\uDE00"}', []),
            (r'{"a": "\ude00\ud83d"}', ["a"]),
            (r'{"a": "\ud83d\u0041"}', ["a"]),
            (r'{"a": {"b\u0000": 1}}', ["a"]),
            (r'{"\uD800": 1}', ["body"]),
            (r'"\uDFFF"', ["body"]),
            (r'[["\u0000"]]', ["[0][0]"]),
            ("10000000000000000", ["body"]),
            ('{"a": true, "b": null}', []),
        ],
    )
    def test_finds(self, text: str, paths: list[str]) -> None:
        body = text.encode()

        assert [fault.path for fault in unstorable(body, json_body(body))] == paths


FLAGS = ["is_prio", "is_eccn", "is_nuclear", "import_article", "is_military", "reset_classification"]
LINES = ["designation", "designation2", "vendor", *(f"feature{number}" for number in range(1, 7))]
LINES += ["machine_type", "assembly_group", "supplier_ctn", "presystem_ctn", "system_material", "eccn_comment"]
CODES = ["type_of_sourcing", "non_preferential", "preferential", "made_in"]
PRODUCT = {"article_number": "A-1", "designation": "Bolt"}
CONTACT = {"contact_uid": "K-1", "last_name": "Lindgren"}
CONTACT_FIELDS = ["first_name", "gender", "email", "phone", "street", "postal_code", "city", "country_or_region"]
CONTACT_FIELDS += ["comment", "notes", "is_watchlist", "is_archived", "status", "contact_uid", "last_name"]
# What fields take, nearly take, and never take.
FIELD_VALUES = st.one_of(
    st.sampled_from(
        ["", "F", "f", "de", "XK", "UK", " ", "male", "a@b", "a@", "green", None, True, False, 0, 1, "true"]
    ),
    st.sampled_from([[], ["x"], [{"text": "x"}], [{"text": ""}], {}, {"made_in": "DE"}, {"made_in": 1}, "x" * 256]),
    st.sampled_from(["x" * 255, "x" * 1000, "x" * 1001, "x" * 4000, "x" * 4001, "a\nb", "\x85", "ß", "\u00a0"]),
    VALUES,
)


def bodies(inner: str, names: list[str], base: dict[str, Any], **beside: Any) -> st.SearchStrategy[Any]:
    """Make bodies that are good but for some fields, or for no reason at all."""
    fields = st.dictionaries(st.sampled_from(names), FIELD_VALUES, max_size=3).map(lambda some: {**base, **some})
    good = fields.map(lambda some: {**beside, inner: some})
    spoiled = st.dictionaries(st.sampled_from([inner, *beside, "x"]), FIELD_VALUES, max_size=2)
    return st.one_of(good, st.builds(lambda one, other: {**one, **other}, good, spoiled), VALUES)


CREATES = bodies("product", [*LINES, *FLAGS, *CODES, "country_of_origin", "article_number"], PRODUCT, list_id=1)
UPDATES = bodies("product", [*LINES, *FLAGS, *CODES, "country_of_origin"], PRODUCT, article_number="A-1")
FINDS = bodies("article_number", ["x"], {}, deleted=False)
NEW_CONTACTS = bodies("contact", CONTACT_FIELDS, CONTACT)
SHAPES: dict[str, Any] = {
    "CreateProduct": (read_create, CREATES),
    "UpdateProduct": (read_update, UPDATES),
    "FindProduct": (read_find, FINDS),
    "CreateContact": (read_new_contact, NEW_CONTACTS),
    "UpdateContact": (
        lambda value, faults: read_contact_update(value, faults, contact_uid="K-1"),
        bodies("contact", [name for name in CONTACT_FIELDS if name != "contact_uid"], {}),
    ),
    "FindContact": (read_find_contact, bodies("contact_uid", ["x"], {})),
}


def refused_fields(read: Any, value: Any) -> dict[str, str]:
    """Read a body's value; return what is wrong with which field, {} where nothing is."""
    body = json.dumps(value).encode()
    try:
        read(value, unstorable(body, value))
    except Invalid as refused:
        return {fault.path: fault.sentence for fault in refused.faults}
    return {}


def contract_takes(name: str, value: Any) -> bool:
    """Whether a schema of the contract takes a value."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": contract()["components"]}
    return bool(jsonschema_rs.Draft202012Validator(schema).is_valid(value))


class TestFaults:
    """http.fields.faults, by the readers of all bodies."""

    @pytest.mark.parametrize("name", SHAPES)
    @UNHURRIED
    @given(data=st.data())
    def test_are_sentences_about_fields(self, name: str, data: st.DataObject) -> None:
        """Whatever is sent: never an error of ours, never a word of the library's."""
        read, values = SHAPES[name]
        value = data.draw(values)

        found = refused_fields(read, value)

        assert all(found)
        assert all(sentence.startswith(("must ", "is required", "has a ", "cannot ")) for sentence in found.values())
        assert not any(word in path for path in found for word in ("function", "nullable", "constrained"))

    @pytest.mark.parametrize("name", SHAPES)
    @UNHURRIED
    @given(data=st.data())
    def test_are_found_where_the_contract_finds_them(self, name: str, data: st.DataObject) -> None:
        """A body that the contract allows is taken, and no other."""
        read, values = SHAPES[name]
        value = data.draw(values.filter(is_unicode))

        found = refused_fields(read, value)

        assert (found == {}) == contract_takes(name, value), found

    @pytest.mark.parametrize("name", [*LINES, *FLAGS, *CODES])
    @UNHURRIED
    @given(value=FIELD_VALUES)
    def test_name_the_one_field_that_is_wrong(self, name: str, value: Any) -> None:
        found = refused_fields(read_update, {"article_number": "A-1", "product": {**PRODUCT, name: value}})

        assert all(path.partition("[")[0].startswith(f"product.{name}") for path in found)
        assert len(found) <= 1 or isinstance(value, dict | list)

    @UNHURRIED
    @given(
        value=st.one_of(VALUES, st.dictionaries(st.sampled_from(["type", "ctn", "comment", "bti", "x"]), FIELD_VALUES))
    )
    def test_of_a_classification_are_under_its_name(self, value: Any) -> None:
        try:
            read_classification(value, today="2026-03-01")
        except Invalid as refused:
            found = refused.faults
        else:
            found = ()

        assert {fault.path.partition(".")[0] for fault in found} <= {"classification"}


def is_unicode(value: Any) -> bool:
    """Whether a value can be handed to a validator that keeps texts as UTF-8."""
    text = json.dumps(value, ensure_ascii=False)
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


class TestAnyBody:
    """POST products and POST contacts, whatever the body is."""

    @settings(UNHURRIED, max_examples=80)
    @given(value=CREATES)
    def test_makes_a_product_or_is_refused(self, anna: Member, value: Any) -> None:
        """The answer is one that the contract allows, which every request of the tests is held to; never a 500."""
        if isinstance(value, dict) and value.get("list_id") == 1:
            value = {**value, "list_id": anna.list_id}

        response = anna.request("POST", "/products", content=json.dumps(value).encode())

        assert response.status_code in {201, 400, 404, 409}
        if response.status_code == 201:
            number = value["product"]["article_number"]
            found = anna.request("POST", "/products/find", content=json.dumps({"article_number": number}).encode())
            data = found.json()["product"]["data"][0]
            assert found.json()["product"]["id"] == response.json()["id"]
            assert data["designation"] == value["product"]["designation"]

    @settings(UNHURRIED, max_examples=80)
    @given(value=NEW_CONTACTS)
    def test_makes_a_contact_or_is_refused(self, anna: Member, value: Any) -> None:
        response = anna.request("POST", "/contacts", content=json.dumps(value).encode())

        assert response.status_code in {201, 400, 422}
        if response.status_code == 201:
            assert response.json()["contact"]["last_name"] == value["contact"]["last_name"]

    @settings(UNHURRIED, max_examples=80)
    @given(body=st.one_of(st.binary(max_size=200), SCRAPS.map(lambda text: text.encode("utf-8", "surrogatepass"))))
    def test_of_any_bytes_is_refused(self, anna: Member, body: bytes) -> None:
        created = anna.request("POST", "/products", content=body)
        updated = anna.request("PUT", "/products", content=body)
        found = anna.request("POST", "/products/find", content=body)
        added = anna.request("POST", "/contacts", content=body)

        assert (created.status_code, updated.status_code, found.status_code) == (400, 400, 400)
        assert added.status_code in {400, 422}
