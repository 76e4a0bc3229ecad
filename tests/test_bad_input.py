"""Bad input: each gets a 4xx with the body of its path, names the field, and changes nothing.

One instance a module and engine serves all of it: since nothing may ever change there, each test finds it as it was.
Over 300 lines, because it is one table of everything that can be wrong, to be read as a whole.
"""

# ruff: noqa: RUF001 - letters that look alike stand here on purpose

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2 as httpx
import pytest

from tests.cast import Member, Service, found_product, make_contact, make_list, make_product
from tests.test_access import everything, fill

BODY_LIMIT = 1024 * 1024
LARGEST = 2**53
LONG_TEXT = "x" * 100_000
NUL, LONE = "must not hold NUL characters", "must not hold lone surrogates"
OUT_OF_RANGE = f"must be within ±{LARGEST}"

# Each endpoint that takes JSON, with a body that it takes; `{list_id}` is that of the instance.
ENDPOINTS: dict[str, str] = {
    "POST /products": '{"list_id": {list_id}, "product": {"article_number": "B-1", "designation": "Bolt"}}',
    "PUT /products": '{"article_number": "A-1", "product": {"designation": "Bolt"}}',
    "POST /products/find": '{"article_number": "A-1"}',
    "POST /contacts": '{"contact": {"contact_uid": "K-2", "last_name": "Berg"}}',
    "PUT /contacts/K-1": '{"contact": {"last_name": "Berg"}}',
    "POST /contacts/find": '{"contact_uid": "K-1"}',
}
PRODUCTS, CONTACTS = list(ENDPOINTS)[:3], list(ENDPOINTS)[3:]
# The object that holds the fields, "" where they stand in the body itself.
INNER = {
    "POST /products": "product",
    "PUT /products": "product",
    "POST /contacts": "contact",
    "PUT /contacts/K-1": "contact",
}


@pytest.fixture(scope="module")
def anna(service: Service) -> Member:
    """ANNA, with one of everything, for all tests of this module."""
    member = service.member("anna", roles=["api-user", "clerk"])
    fill(member)
    return member


@pytest.fixture(scope="module")
def bruno(service: Service) -> Member:
    """BRUNO, with things that ANNA has not."""
    member = service.member("bruno", roles=["api-user", "clerk"])
    for number in range(30):
        make_product(member, f"Bruno {number}")
    member.list_id = make_list(member, "Beyond")
    make_contact(member, "Bruno")
    return member


def good(member: Member, endpoint: str) -> str:
    """Return a body that the endpoint takes."""
    return ENDPOINTS[endpoint].replace("{list_id}", str(member.list_id))


def with_member(text: str, member: str) -> str:
    """Put one more member in front of those of an object."""
    return "{" + member + ", " + text.removeprefix("{")


def send(member: Member, endpoint: str, content: Any) -> httpx.Response:
    """Send a body as it is."""
    method, path = endpoint.split(" ")
    return member.request(method, path, content=content.encode() if isinstance(content, str) else content)


def send_all(member: Member, content: Callable[[str], Any], endpoints: list[str] | None = None) -> dict[str, Any]:
    """Send a body, made of the good one, to each endpoint; return status and body of each answer."""
    answers = {}
    for endpoint in endpoints or ENDPOINTS:
        response = send(member, endpoint, content(good(member, endpoint)))
        answers[endpoint] = (response.status_code, response.json())
    return answers


def kind(endpoint: str) -> str:
    """Return the member that an endpoint refuses with."""
    return "message" if endpoint in CONTACTS else "reason"


# Bodies that are refused as a whole, made of one that is good; where the sentence begins alike, its beginning.
MALFORMED: dict[str, tuple[Callable[[str], bytes], str]] = {
    "nothing": (lambda _: b"", "The body must be a JSON object; it is empty."),
    "a blank": (lambda _: b" ", "The body must be JSON: "),
    "a word": (lambda _: b"nothing", "The body must be JSON: "),
    "a form": (lambda _: b"article_number=A-1&contact_uid=K-1", "The body must be JSON: "),
    "XML": (lambda _: b"<?xml version='1.0'?><product/>", "The body must be JSON: "),
    "a cut body": (lambda good: good[:-1].encode(), "The body must be JSON: "),
    "a tail": (lambda good: f"{good}}}".encode(), "The body must be JSON: "),
    "two bodies": (lambda good: (good + good).encode(), "The body must be JSON: "),
    "a comment": (lambda good: f"{good} // done".encode(), "The body must be JSON: "),
    "single quotes": (lambda good: good.replace('"', "'").encode(), "The body must be JSON: "),
    "a comma too many": (lambda good: f"{good[:-1]},}}".encode(), "The body must be JSON: "),
    "a name without quotes": (lambda good: with_member(good, "a: 1").encode(), "The body must be JSON: "),
    "a raw line break": (lambda good: with_member(good, '"a": "x\ny"').encode(), "The body must be JSON: "),
    "a raw NUL": (lambda good: with_member(good, '"a": "x\0y"').encode(), "The body must be JSON: "),
    "NUL behind it": (lambda good: f"{good}\0".encode(), "The body must be JSON: "),
    "a bad escape": (lambda good: with_member(good, r'"a": "\x41"').encode(), "The body must be JSON: "),
    "half an escape": (lambda good: with_member(good, r'"a": "\u00"').encode(), "The body must be JSON: "),
    "a leading zero": (lambda good: with_member(good, '"a": 01').encode(), "The body must be JSON: "),
    "a plus": (lambda good: with_member(good, '"a": +1').encode(), "The body must be JSON: "),
    "no digit before the point": (lambda good: with_member(good, '"a": .5').encode(), "The body must be JSON: "),
    "a hexadecimal number": (lambda good: with_member(good, '"a": 0x10').encode(), "The body must be JSON: "),
    "Arabic digits": (lambda good: with_member(good, '"a": \u0661').encode(), "The body must be JSON: "),
    "a byte order mark": (
        lambda good: b"\xef\xbb\xbf" + good.encode(),
        "The body must be JSON; it begins with a byte order mark.",
    ),
    "NaN": (lambda good: with_member(good, '"a": NaN').encode(), "The body must be JSON; NaN is not."),
    "Infinity": (lambda good: with_member(good, '"a": Infinity').encode(), "The body must be JSON; Infinity is not."),
    "-Infinity": (
        lambda good: with_member(good, '"a": -Infinity').encode(),
        "The body must be JSON; -Infinity is not.",
    ),
    "UTF-16 with a mark": (lambda good: good.encode("utf-16"), "The body must be UTF-8; byte 0 is not."),
    "UTF-16": (lambda good: good.encode("utf-16-le"), "The body must be JSON: "),
    "UTF-32": (lambda good: good.encode("utf-32-be"), "The body must be JSON: "),
    "Latin-1": (lambda good: with_member(good, '"a": "ä"').encode("latin-1"), "The body must be UTF-8; byte 7 is not."),
    "a byte that none begins with": (lambda good: good.encode() + b"\xff", "The body must be UTF-8; byte "),
    "a letter cut short": (lambda good: with_member(good, '"a": "').encode() + b"\xe2\x82", "The body must be UTF-8; "),
    "an overlong NUL": (
        lambda good: with_member(good, '"a": "?"').encode().replace(b"?", b"\xc0\x80"),
        "The body must be UTF-8; byte 7 ",
    ),
    "a raw surrogate": (lambda good: good.encode() + b"\xed\xa0\x80", "The body must be UTF-8; byte "),
    "compressed": (lambda _: b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "The body must be UTF-8; byte 1 is not."),
    "65 levels": (lambda good: nested(good, 65).encode(), "The body must not be nested over 64 levels."),
    "65 levels of objects": (lambda good: nested(good, 65, '{"a":').encode(), "The body must not be nested over 64 "),
    "1,000 levels": (lambda good: nested(good, 1_000).encode(), "The body must not be nested over 64 levels."),
    "100,000 opening brackets": (lambda _: b"[" * 100_000, "The body must not be nested over 64 levels."),
    "100,000 opening braces": (lambda _: b'{"a":' * 100_000, "The body must not be nested over 64 levels."),
    "100,000 levels": (lambda good: nested(good, 100_000).encode(), "The body must not be nested over 64 levels."),
    "5,000 digits": (
        lambda good: with_member(good, '"a": ' + "9" * 5_000).encode(),
        "Numbers in the body must be within",
    ),
}


def nested(text: str, levels: int, opening: str = "[") -> str:
    """Put a member into an object so that it is so many levels deep."""
    closing = "]" if opening == "[" else "}"
    return with_member(
        text, '"a": ' + opening * (levels - 1) + ("" if opening == "[" else "0") + closing * (levels - 1)
    )


class TestMalformedBody:
    """A body that cannot be read, on every endpoint that takes one."""

    @pytest.mark.parametrize(("content", "sentence"), MALFORMED.values(), ids=MALFORMED)
    def test_is_refused(self, anna: Member, content: Callable[[str], bytes], sentence: str) -> None:
        before = everything(anna)

        answers = send_all(anna, content)

        assert {endpoint: (status, [*body]) for endpoint, (status, body) in answers.items()} == {
            endpoint: (400, [kind(endpoint)]) for endpoint in ENDPOINTS
        }
        assert all(body[kind(endpoint)].startswith(sentence) for endpoint, (_, body) in answers.items()), answers
        assert everything(anna) == before

    @pytest.mark.parametrize(
        "value", ["null", "true", "false", "0", "1.5", '"A-1"', '""', "[]", '[{"article_number": "A-1"}]']
    )
    def test_is_refused_where_it_is_no_object(self, anna: Member, value: str) -> None:
        before = everything(anna)

        answers = send_all(anna, lambda _: value)

        assert answers == {
            **dict.fromkeys(PRODUCTS, (400, {"reason": "body must be a JSON object"})),
            **dict.fromkeys(CONTACTS[:2], faults({"contact": "is required: an Object"})),
            CONTACTS[2]: faults({"contact_uid": "is required"}),
        }
        assert everything(anna) == before


def faults(found: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """Return the answer of a contact path to these faults."""
    sentences = {path: f"{path} {sentence}" for path, sentence in found.items()}
    return 422, {"message": "; ".join(sentences.values()), "errors": {path: [each] for path, each in sentences.items()}}


def refusal(endpoint: str, path: str, sentence: str) -> tuple[int, dict[str, Any]]:
    """Return the answer of an endpoint to one fault."""
    return faults({path: sentence}) if endpoint in CONTACTS else (400, {"reason": f"{path} {sentence}"})


class TestLargeBody:
    """A body over 1 MiB, on every endpoint that takes one."""

    @pytest.mark.parametrize("excess", [1, 1_000_000, 20 * BODY_LIMIT])
    @pytest.mark.parametrize("is_announced", [True, False])
    def test_is_refused(self, anna: Member, excess: int, is_announced: bool) -> None:  # noqa: FBT001
        before = everything(anna)

        answers = send_all(anna, lambda good: in_parts(padded(good, BODY_LIMIT + excess), is_announced=is_announced))

        sentence = f"The body must not be larger than {BODY_LIMIT} bytes."
        assert answers == {endpoint: (413, {kind(endpoint): sentence}) for endpoint in ENDPOINTS}
        assert everything(anna) == before

    @pytest.mark.parametrize("excess", [1, 1_000_000])
    def test_is_refused_before_it_is_read(self, anna: Member, excess: int) -> None:
        answers = send_all(anna, lambda _: b"[" * (BODY_LIMIT + excess))

        assert {status for status, _ in answers.values()} == {413}

    @pytest.mark.parametrize("is_announced", [True, False])
    def test_of_exactly_1_mib_is_taken(self, service: Service, is_announced: bool) -> None:  # noqa: FBT001
        anna = service.member("anna", roles=["api-user"])
        fill(anna)

        answers = {
            endpoint: send(
                anna, endpoint, in_parts(padded(good(anna, endpoint), BODY_LIMIT), is_announced=is_announced)
            )
            for endpoint in ENDPOINTS
        }

        assert [response.status_code for response in answers.values()] == [201, 200, 200, 201, 200, 200]


def padded(text: str, size: int) -> bytes:
    """Put a text into an unknown member, so long that the body has a size."""
    empty = with_member(text, '"a": ""')
    body = empty.replace('"a": ""', '"a": "' + "x" * (size - len(empty)) + '"').encode()
    assert len(body) == size
    return body


def in_parts(body: bytes, *, is_announced: bool) -> Any:
    """Send a body with its length in front, or in parts that do not tell it."""
    return body if is_announced else iter([body[: len(body) // 2], body[len(body) // 2 :]])


# Values that cannot be kept, wherever they stand, and what is said of them.
UNSTORABLE: dict[str, str] = {
    str(LARGEST + 1): OUT_OF_RANGE,
    str(-LARGEST - 1): OUT_OF_RANGE,
    str(2**63): OUT_OF_RANGE,
    str(2**64): OUT_OF_RANGE,
    str(-(2**63) - 1): OUT_OF_RANGE,
    "9" * 4000: OUT_OF_RANGE,
    "1e16": OUT_OF_RANGE,
    "1e308": OUT_OF_RANGE,
    "1e400": OUT_OF_RANGE,
    "-1e400": OUT_OF_RANGE,
    r'"\u0000"': NUL,
    r'"A\u0000B"': NUL,
    r'"\ud800"': LONE,
    r'"\udfff"': LONE,
    r'"\uDC00\uD800"': LONE,
    r'"A\ud83dB"': LONE,
}


class TestUnstorableValue:
    """NUL, lone surrogates and numbers out of range, on every endpoint that takes JSON."""

    @pytest.mark.parametrize(("value", "sentence"), UNSTORABLE.items(), ids=[value[:20] for value in UNSTORABLE])
    def test_is_refused_in_a_member_that_is_ignored(self, anna: Member, value: str, sentence: str) -> None:
        before = everything(anna)

        answers = send_all(anna, lambda good: with_member(good, f'"unknown": [{{"a": [0, {value}]}}]'))

        assert answers == {each: refusal(each, "unknown[0].a[1]", sentence) for each in ENDPOINTS}
        assert everything(anna) == before

    @pytest.mark.parametrize(("value", "sentence"), UNSTORABLE.items(), ids=[value[:20] for value in UNSTORABLE])
    def test_is_refused_among_the_fields(self, anna: Member, value: str, sentence: str) -> None:
        before = everything(anna)

        answers = send_all(anna, lambda good: good.replace('": {"', f'": {{"unknown": {value}, "'), list(INNER))

        assert answers == {each: refusal(each, f"{INNER[each]}.unknown", sentence) for each in INNER}
        assert everything(anna) == before

    @pytest.mark.parametrize(("value", "sentence"), [each for each in UNSTORABLE.items() if each[0][0] == '"'])
    def test_is_refused_as_an_identifier(self, anna: Member, value: str, sentence: str) -> None:
        before = everything(anna)
        paths = ["product.article_number", "article_number", "article_number", "contact.contact_uid", "contact_uid"]
        endpoints = [endpoint for endpoint in ENDPOINTS if endpoint != "PUT /contacts/K-1"]

        answers = send_all(anna, lambda good: re.sub('"(B-1|A-1|K-2|K-1)"', lambda _: value, good), endpoints)

        assert answers == {each: refusal(each, path, sentence) for each, path in zip(endpoints, paths, strict=True)}
        assert everything(anna) == before

    @pytest.mark.parametrize(("name", "sentence"), [(r"a\u0000", NUL), (r"\ud800", LONE)])
    def test_is_refused_as_a_name(self, anna: Member, name: str, sentence: str) -> None:
        before = everything(anna)

        answers = send_all(anna, lambda good: with_member(good, f'"{name}": 1'))

        assert answers == {each: refusal(each, "body", f"has a member whose name {sentence}") for each in ENDPOINTS}
        assert everything(anna) == before

    @pytest.mark.parametrize(("value", "sentence"), UNSTORABLE.items(), ids=[value[:20] for value in UNSTORABLE])
    def test_is_refused_as_what_find_calls_deleted(self, anna: Member, value: str, sentence: str) -> None:
        response = send(anna, "POST /products/find", f'{{"article_number": "A-1", "deleted": {value}}}')

        assert (response.status_code, response.json()) == (400, {"reason": f"deleted {sentence}"})

    def test_is_not_answered_by_more_than_could_be_asked(self, anna: Member) -> None:
        """Each fault repeats the path to it: a long name over many of them would be multiplied."""
        name, values = "x" * 20_000, ", ".join([r'"\u0000"'] * 1_000)
        before = everything(anna)

        sizes = {}
        for endpoint in ENDPOINTS:
            response = send(anna, endpoint, with_member(good(anna, endpoint), f'"{name}": [{values}]'))
            sizes[endpoint] = (response.status_code, len(response.content) <= BODY_LIMIT)

        assert sizes == {endpoint: (422 if endpoint in CONTACTS else 400, True) for endpoint in ENDPOINTS}
        assert everything(anna) == before

    @pytest.mark.parametrize(
        "value",
        [str(LARGEST), str(-LARGEST), "1e15", "1e-400", r'"\\u0000"', r'"\ud83d\ude00"', "0.1234567890123456789"],
    )
    def test_is_not_what_only_looks_like_it(self, service: Service, value: str) -> None:
        anna = service.member("anna", roles=["api-user"])
        fill(anna)

        answers = send_all(anna, lambda good: with_member(good, f'"unknown": {value}'))

        assert [status for status, _ in answers.values()] == [201, 200, 200, 201, 200, 200]


class TestAllowedBody:
    """What is just not bad."""

    @pytest.mark.parametrize("opening", ["[", '{"a":'])
    def test_may_have_64_levels(self, service: Service, opening: str) -> None:
        anna = service.member("anna", roles=["api-user"])
        fill(anna)

        answers = send_all(anna, lambda good: nested(good, 64, opening))

        assert [status for status, _ in answers.values()] == [201, 200, 200, 201, 200, 200]

    def test_counts_the_last_of_two_members_with_one_name(self, anna: Member) -> None:
        product = send(anna, "POST /products/find", '{"article_number": "B-1", "article_number": "A-1"}')
        contact = send(anna, "POST /contacts/find", '{"contact_uid": "K-2", "contact_uid": "K-1"}')

        assert product.json()["product"]["article_number"] == "A-1"
        assert contact.json()["contact"]["contact_uid"] == "K-1"

    def test_may_be_written_with_blanks_and_escapes(self, anna: Member) -> None:
        response = send(anna, "POST /products/find", '\r\n\t {"article\\u005fnumber" :\n"\\u0041-1"}\n ')

        assert response.json() == {"product": found_product(anna)}


STRING: dict[str, list[Any]] = {"must be a String": [0, 1, 1.5, -1, True, False, [], {}, ["x"], {"x": "y"}]}
FLAG = {"must be true or false": [0, 1, 1.0, "", "true", "false", "1", [], {}, [True]]}
CONTROLS = {"must not hold control characters": ["\n", "a\nb", "\t", "\x1b", "\x7f", "\x85", "a\r"]}
EMPTY: dict[str, list[Any]] = {"must not be empty": ["", " ", "\u3000\u00a0", " " * 255]}
NULL: dict[str, list[Any]] = {"must be a String": [*STRING["must be a String"], None]}
COUNTRY = {
    **STRING,
    "must be a country code of ISO 3166-1 alpha-2, or one of XK, XI, XS, XC, XL, EU": [
        *("D", "DEU", "UK", "  ", " DE", "ß", "1"),
    ],
}
SOURCING = {"must be one of F, E, H, X": ["f", "Z", " ", "FE", LONG_TEXT]}


def at_most(longest: int) -> dict[str, list[Any]]:
    """Return texts that are too long, and what is said of them."""
    return {f"must not be longer than {longest} characters": ["x" * (longest + 1), "🔩" * (longest + 1), LONG_TEXT]}


SHORT, LONG = {**STRING, **CONTROLS, **at_most(255)}, {**STRING, **CONTROLS, **at_most(1000)}
IDENTIFIER = {**NULL, **CONTROLS, **EMPTY, **at_most(255)}
# Every field of `product` with values that it refuses, by what is said of them.
PRODUCT_FIELDS: dict[str, dict[str, list[Any]]] = {
    "designation": {**NULL, **CONTROLS, **EMPTY, **at_most(1000)},
    **dict.fromkeys(["designation2", *(f"feature{number}" for number in range(1, 7))], LONG),
    **dict.fromkeys(["vendor", "machine_type", "assembly_group"], SHORT),
    **dict.fromkeys(["supplier_ctn", "presystem_ctn", "system_material"], SHORT),
    "eccn_comment": {**STRING, **at_most(4000)},
    **dict.fromkeys(["is_prio", "is_eccn", "is_nuclear", "import_article", "is_military"], FLAG),
    "type_of_sourcing": {**STRING, **SOURCING},
    "country_of_origin": {"must be an Object": ["", "DE", 0, 1.5, True, [], ["DE"], [{"made_in": "DE"}]]},
    **dict.fromkeys(["non_preferential", "preferential", "made_in"], COUNTRY),
    **dict.fromkeys([f"country_of_origin.{name}" for name in ("non_preferential", "preferential", "made_in")], COUNTRY),
}
INTEGER: dict[str, list[Any]] = {
    "must be an Integer": [None, True, False, 1.5, [], {}, [1]],
    "must be an Integer: send the number itself, not a String": ["", "1", "one", "1.0"],
    "must be at least 1": [0, -1, -LARGEST, 0.0],
}
# What stands beside `product`, and what only one of the two has in it.
PRODUCT_BODIES: dict[str, dict[str, dict[str, list[Any]]]] = {
    "POST /products": {
        "list_id": INTEGER,
        "product": {"must be an Object": [None, "", "A-1", 0, True, [], [{}]]},
        "product.article_number": IDENTIFIER,
        **{f"product.{name}": wrong for name, wrong in PRODUCT_FIELDS.items()},
    },
    "PUT /products": {
        "article_number": IDENTIFIER,
        "product": {"must be an Object": [None, "", "A-1", 0, True, [], [{}]]},
        "product.reset_classification": FLAG,
        **{f"product.{name}": wrong for name, wrong in PRODUCT_FIELDS.items()},
    },
    "POST /products/find": {"article_number": IDENTIFIER},
}
LAST_NAME = {**NULL, **CONTROLS, **EMPTY, **at_most(255)}
CONTACT_FIELDS: dict[str, dict[str, list[Any]]] = {
    **dict.fromkeys(["first_name", "phone", "street", "postal_code", "city", "country_or_region"], SHORT),
    "last_name": LAST_NAME,
    "comment": {**STRING, **at_most(4000)},
    "gender": {**STRING, "must be one of male, female": ["m", "Male", "divers", " ", LONG_TEXT]},
    "email": {
        **SHORT,
        "must be an e-mail address: one @ with something on both sides and no blanks": [
            *("a", "@", "a@", "@b", "a@b@c", "a@@b", "a b@c", "a@b c", " a@b", "a@b ", "a\u00a0@b", "a@\u3000"),
        ],
    },
    **dict.fromkeys(["is_watchlist", "is_archived"], FLAG),
    "status": {**NULL, "must be one of green, yellow, red, gray, black": ["", "grey", "Green", " green", LONG_TEXT]},
    "notes": {
        "must be an Array": ["", "x", 0, True, {}, {"text": "x"}],
        "must not hold more than 1000 entries": [["x"] * 1001, [{"text": "x"}] * 1001],
    },
}
CONTACT_BODIES: dict[str, dict[str, dict[str, list[Any]]]] = {
    "POST /contacts": {
        "contact": {"must be an Object": [None, "", "K-1", 0, True, [], [{}]]},
        "contact.contact_uid": IDENTIFIER,
        **{f"contact.{name}": wrong for name, wrong in CONTACT_FIELDS.items()},
    },
    "PUT /contacts/K-1": {
        "contact": {"must be an Object": [None, "", "K-1", 0, True, [], [{}]]},
        "contact.contact_uid": {**IDENTIFIER, "cannot be changed": ["K-2", "k-1", "K-1.", "K"]},
        **{f"contact.{name}": wrong for name, wrong in CONTACT_FIELDS.items()},
    },
    "POST /contacts/find": {"contact_uid": IDENTIFIER},
}


def each_field(tables: dict[str, dict[str, dict[str, list[Any]]]]) -> Iterator[Any]:
    """Yield endpoint, field and what it refuses."""
    for endpoint, fields in tables.items():
        for path, wrong in fields.items():
            yield pytest.param(endpoint, path, wrong, id=f"{endpoint} {path}")


def spoiled(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a body with another value at a path."""
    first, _, rest = path.partition(".")
    return {**body, first: spoiled(body.get(first, {}), rest, value) if rest else value}


def refused(member: Member, endpoint: str, path: str, wrong: dict[str, list[Any]]) -> tuple[list[Any], list[Any]]:
    """Send each wrong value at a path; return the answers, and those that are expected."""
    body = json.loads(good(member, endpoint))
    values = [(value, sentence) for sentence, some in wrong.items() for value in some]
    responses = [send(member, endpoint, json.dumps(spoiled(body, path, value))) for value, _ in values]
    answers = [(response.status_code, response.json()) for response in responses]
    return answers, [refusal(endpoint, path, sentence) for _, sentence in values]


class TestProductField:
    """Each field of POST products, PUT products and POST products/find."""

    @pytest.mark.parametrize(("endpoint", "path", "wrong"), list(each_field(PRODUCT_BODIES)))
    def test_refuses_what_it_cannot_be(
        self, anna: Member, endpoint: str, path: str, wrong: dict[str, list[Any]]
    ) -> None:
        before = everything(anna)

        answers, expected = refused(anna, endpoint, path, wrong)

        assert answers == expected
        assert everything(anna) == before

    def test_is_required_with_its_object(self, anna: Member) -> None:
        before = everything(anna)

        answers = send_all(anna, lambda _: "{}", PRODUCTS)

        required = ["list_id is required; product is required", "article_number is required; product is required"]
        reasons = [*required, "article_number is required"]
        assert answers == {each: (400, {"reason": text}) for each, text in zip(PRODUCTS, reasons, strict=True)}
        assert everything(anna) == before


class TestContactField:
    """Each field of POST contacts, PUT contacts/{contact_uid} and POST contacts/find."""

    @pytest.mark.parametrize(("endpoint", "path", "wrong"), list(each_field(CONTACT_BODIES)))
    def test_refuses_what_it_cannot_be(
        self, anna: Member, endpoint: str, path: str, wrong: dict[str, list[Any]]
    ) -> None:
        before = everything(anna)

        answers, expected = refused(anna, endpoint, path, wrong)

        assert answers == expected
        assert everything(anna) == before

    @pytest.mark.parametrize("endpoint", CONTACTS[:2])
    @pytest.mark.parametrize(
        ("notes", "path", "sentence"),
        [
            ([5], "contact.notes[0]", "must be an Object"),
            (["x", None], "contact.notes[1]", "must be an Object"),
            (["x", "y", ["z"]], "contact.notes[2]", "must be an Object"),
            ([{}], "contact.notes[0].text", "is required"),
            ([{"text": None}], "contact.notes[0].text", "must be a String"),
            ([{"text": 5}], "contact.notes[0].text", "must be a String"),
            ([{"text": ""}], "contact.notes[0].text", "must not be empty"),
            (["x", ""], "contact.notes[1]", "must not be empty"),
            ([" \n"], "contact.notes[0]", "must not be empty"),
            (["x" * 4001], "contact.notes[0]", "must not be longer than 4000 characters"),
            ([{"text": LONG_TEXT}], "contact.notes[0].text", "must not be longer than 4000 characters"),
        ],
    )
    def test_refuses_what_is_no_note(
        self, anna: Member, endpoint: str, notes: object, path: str, sentence: str
    ) -> None:
        before = everything(anna)
        body = json.loads(good(anna, endpoint))

        response = send(anna, endpoint, json.dumps(spoiled(body, "contact.notes", notes)))

        assert (response.status_code, response.json()) == faults({path: sentence})
        assert everything(anna) == before

    def test_is_required_with_its_object(self, anna: Member) -> None:
        before = everything(anna)

        answers = send_all(anna, lambda _: "{}", CONTACTS)
        created = send(anna, "POST /contacts", '{"contact": {}}')

        assert answers == {
            **dict.fromkeys(CONTACTS[:2], faults({"contact": "is required: an Object"})),
            CONTACTS[2]: faults({"contact_uid": "is required"}),
        }
        assert created.json()["errors"] == {
            "contact.contact_uid": ["contact.contact_uid is required"],
            "contact.last_name": ["contact.last_name is required"],
        }
        assert everything(anna) == before


class TestNobodysThings:
    """Numbers, uids and lists that are unknown here, or another instance's."""

    @pytest.mark.parametrize("article_number", ["unknown", "Bruno 1", "a-1", "A-1\u200b", "%", "deleted", "x" * 255])
    def test_of_products(self, anna: Member, bruno: Member, article_number: str) -> None:
        before = everything(anna), everything(bruno)

        found = anna.post("/products/find", {"article_number": article_number})
        updated = anna.put("/products", {"article_number": article_number, "product": {"designation": "Bolt"}})

        expected = (404, {"reason": "There is no product with this article_number."})
        assert [(response.status_code, response.json()) for response in (found, updated)] == [expected] * 2
        assert (everything(anna), everything(bruno)) == before

    @pytest.mark.parametrize("list_id", [None, 999_999, LARGEST])
    def test_of_lists(self, anna: Member, bruno: Member, list_id: int | None) -> None:
        before = everything(anna), everything(bruno)
        product = {"article_number": "B-1", "designation": "Bolt"}

        created = anna.post("/products", {"list_id": list_id or bruno.list_id, "product": product})
        listed = anna.get("/products", timestamp="1970-01-01", list_id=list_id or bruno.list_id)

        expected = (404, {"reason": "There is no product list with this list_id."})
        assert [(response.status_code, response.json()) for response in (created, listed)] == [expected] * 2
        assert (everything(anna), everything(bruno)) == before

    @pytest.mark.parametrize(
        "path_segment",
        [
            "unknown",
            "Bruno",
            "k-1",
            "%25",
            "%00",
            "K-1%00",
            "%ff",
            "%ed%a0%80",
            "%c0%80",
            "%0a",
            "%20",
            "x" * 5000,
            "%",
            "%zz",
        ],
    )
    def test_of_contacts(self, anna: Member, bruno: Member, path_segment: str) -> None:
        before = everything(anna), everything(bruno)

        responses = [
            anna.get(f"/contacts/{path_segment}"),
            anna.put(f"/contacts/{path_segment}", {"contact": {"city": "Kiel"}}),
            anna.delete(f"/contacts/{path_segment}"),
        ]

        answers = [(response.status_code, response.json()) for response in responses]
        assert answers == [(404, {"message": "Contact not found"})] * 3
        assert (everything(anna), everything(bruno)) == before

    @pytest.mark.parametrize("contact_uid", ["unknown", "Bruno", "k-1", "K-1\u200b", "%", "x" * 255])
    def test_of_contacts_by_find(self, anna: Member, contact_uid: str) -> None:
        response = anna.post("/contacts/find", {"contact_uid": contact_uid})

        assert (response.status_code, response.json()) == (404, {"message": "Contact not found"})


NO_NUMBERS = [
    "0",
    "-1",
    "+1",
    "1.5",
    "1.0",
    "1e3",
    str(10**30),
    "9" * 5000,
    "",
    " ",
    "1 ",
    "one",
    "0x1",
    "\u0661",
    "NaN",
    "\0",
]
# No timestamps: not ISO 8601, or of a date or time that does not exist.
NO_TIMESTAMPS = [
    *(" ", "yesterday", "now", "null", "NaN", "1763720000", "1763720000.5", "1763720000000", "9" * 5000),
    *("2026", "2026-11", "202611", "2026-W47", "2026-W47-6", "2026-325", "26-11-21", "2026-1-2", "2026-11-1"),
    *("21.11.2026", "11/21/2026", "2026/11/21", "21 Nov 2026", "2026.11.21", "2026-1121", "202611-21"),
    *("2026-00-10", "2026-13-01", "2026-01-00", "2026-01-32", "2026-04-31", "2026-02-29", "2026-02-30"),
    *("1900-02-29", "20260229", "20261301", "0000-01-01", "00000101", "10000-01-01", "100000101", "-2026-01-01"),
    *("2026-11-21T", "2026-11-21T24", "2026-11-21T24:00", "2026-11-21T24:00:00", "2026-11-21T23:60"),
    *("2026-11-21T23:59:60", "2026-11-21T23:59:61", "20261121T240000", "20261121T093060", "2026-11-21T9:30"),
    *("2026-11-21T09:3", "2026-11-21T09:30:0", "2026-11-21T09:30:00.", "2026-11-21T09:30:00,", "2026-11-21T.5"),
    *("2026-11-21T09:30:00.1.2", "2026-11-21T09:30:00.1a", "2026-11-21T-9:30", "2026-11-21T09:30:00ZZ"),
    *("2026-11-21T09:30:00+", "2026-11-21T09:30:00+1", "2026-11-21T09:30:00+24:00", "2026-11-21T09:30:00+99:99"),
    *("2026-11-21T09:30:00+01:60", "2026-11-21T09:30:00+01:00:00", "2026-11-21T09:30:00 Europe/Berlin"),
    *("2026-11-21T09:30:00[Europe/Berlin]", "2026-11-21T09:30:00 CET", "2026-11-21T09:30:00\0", "2026-11-21\n"),
    *(
        "\u06f2\u06f0\u06f2\u06f6-\u06f1\u06f1-\u06f2\u06f1",
        "２０２６-11-21",
        "2026-11-21T09:30:00\u221201:00",
        "' OR 1=1 --",
    ),
]
PAGE_SENTENCE = "must be a whole number from 1 to 2147483647"
ID_SENTENCE = f"must be a whole number from 1 to {LARGEST}"
GERMAN_SENTENCE = "must be ISO 8601, e.g. 2026-11-21T09:30:00.000000"
UTC_SENTENCE = "must be ISO 8601, e.g. 2026-11-21T08:30:00.000000Z"
SEARCH_SENTENCE = "must be at most 255 characters, none of them NUL"
NO_FLAGS = ["yes", "no", "2", "on", "off", "t", "-1", "01", " ", "true ", "null", "\0"]
# Path and parameter, what it refuses and what is said of it.
QUERIES = [
    ("/lists", "page", [*NO_NUMBERS, str(2**31)], PAGE_SENTENCE),
    ("/products", "page", [*NO_NUMBERS, str(2**31)], PAGE_SENTENCE),
    ("/products", "list_id", [*NO_NUMBERS, str(LARGEST + 1)], ID_SENTENCE),
    ("/products", "timestamp", ["", *NO_TIMESTAMPS], GERMAN_SENTENCE),
    ("/contacts", "page", [*NO_NUMBERS, str(2**31)], PAGE_SENTENCE),
    ("/contacts", "per_page", [*NO_NUMBERS, str(LARGEST + 1)], ID_SENTENCE),
    ("/contacts", "timestamp", NO_TIMESTAMPS, UTC_SENTENCE),
    ("/contacts", "is_watchlist", NO_FLAGS, "must be one of true, 1, false, 0"),
    ("/contacts", "is_archived", NO_FLAGS, "must be one of true, 1, false, 0"),
    ("/contacts", "search", ["\0", "a\0b", "x" * 256, "x" * 50_000], SEARCH_SENTENCE),
]


class TestQuery:
    """Each parameter of each query."""

    @pytest.mark.parametrize(("path", "name", "values", "sentence"), QUERIES)
    def test_refuses_what_it_cannot_be(
        self, anna: Member, path: str, name: str, values: list[str], sentence: str
    ) -> None:
        before = everything(anna)

        responses = {value: anna.get(path, **{"timestamp": "1970-01-01", name: value}) for value in values}

        expected = refusal("POST /contacts" if path == "/contacts" else "POST /products", name, sentence)
        answers = {value: (response.status_code, response.json()) for value, response in responses.items()}
        assert answers == dict.fromkeys(values, expected)
        assert everything(anna) == before

    def test_of_contacts_names_all_its_faults_at_once(self, anna: Member) -> None:
        response = anna.get("/contacts", page="0", per_page="x", is_archived="?", timestamp="?", search="\0")

        assert response.status_code == 422
        assert response.json()["errors"].keys() == {"page", "per_page", "is_archived", "timestamp", "search"}

    @pytest.mark.parametrize("path", ["/lists", "/products?timestamp=1970-01-01", "/contacts"])
    @pytest.mark.parametrize("more", ["unknown=1", "%00=%00", "%ff=%ff", "=", "&&", "a;b", "x" * 5000, "page", "%"])
    def test_ignores_what_it_does_not_know(self, anna: Member, path: str, more: str) -> None:
        expected = anna.request("GET", path)

        response = anna.request("GET", f"{path}{'&' if '?' in path else '?'}{more}&page=1")

        assert (response.status_code, response.content) == (200, expected.content)
