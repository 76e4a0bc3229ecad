"""The contract itself: that it is sound, complete and strict. That the service keeps it, other tests see to.

No fixtures: the document is read once, and everything here is a function of it.
"""

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
import yaml
from schemathesis.core.result import Ok

Node = dict[str, Any]

DOCUMENT = Path(__file__).parents[1] / "openapi" / "v1.yaml"
CONTRACT: Node = yaml.load(DOCUMENT.read_bytes(), Loader=yaml.CSafeLoader)
SCHEMAS: Node = CONTRACT["components"]["schemas"]
OPERATION_IDS = {
    *("list_lists", "list_products", "create_product", "find_product", "update_product"),
    *(
        "list_contacts",
        "create_contact",
        "find_contact",
        "contact_by_uid",
        "update_contact",
        "delete_contact",
    ),
    *("import_list", "export_list", "show_import", "show_report"),
    *("live", "ready", "metrics", "openapi", "docs"),
}
# The objects in answers whose members are not fixed.
OPEN_OBJECTS = {"sanctions_check_result", "features", "errors"}

TARIFF = {
    "type",
    "ctn",
    "ctn_8",
    "ctn_10",
    "ctn_format",
    "tradename2",
    "comment",
    "is_fixed",
    "is_av3",
    "status",
}
TARIFF |= {"tradename"}
BTI = TARIFF | {"bti", "reason", "valid_from", "valid_until", "bti_found"}
# Specification, Classification: the fields of each type.
CLASSIFICATIONS = {
    "cmp_vzta": BTI,
    "grt_vzta": BTI,
    "manual": TARIFF | {"reason", "features"},
    "special": TARIFF,
}


def resolved(node: Node) -> Node:
    """Return what a node or its reference says."""
    while "$ref" in node:
        target = CONTRACT
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def validator(schema: Node) -> jsonschema_rs.Draft202012Validator:
    """Compile a schema of the contract."""
    # The document stands around the schema, so that references into its components are found.
    return jsonschema_rs.Draft202012Validator({"allOf": [schema], "components": CONTRACT["components"]})


def accepts(name: str, value: object) -> bool:
    """Whether a schema of the contract takes a value."""
    return validator({"$ref": f"#/components/schemas/{name}"}).is_valid(value)


def objects(node: object, place: str = "#") -> Iterator[tuple[str, Node]]:
    """Yield every object of the document with its place, but look into no example's value."""
    if isinstance(node, dict):
        yield place, node
        for name, member in node.items():
            if name not in {"value", "example", "const", "default", "enum"}:
                yield from objects(member, f"{place}/{name}")
    elif isinstance(node, list):
        for index, member in enumerate(node):
            yield from objects(member, f"{place}/{index}")


def operations() -> Iterator[tuple[str, Node]]:
    """Return every operation of the contract."""
    for path, item in CONTRACT["paths"].items():
        for method in ("get", "post", "put", "delete"):
            if method in item:
                yield path, item[method]


def responses() -> Iterator[tuple[str, str, str, Node]]:
    """Yield path, operation, status code and response of every answer there can be."""
    for path, operation in operations():
        for code, response in operation["responses"].items():
            yield path, operation["operationId"], code, resolved(response)


def examples() -> Iterator[Any]:
    """Return every example with its schema."""
    for place, node in objects(CONTRACT):
        if isinstance(node.get("schema"), dict):
            named = {name: resolved(example)["value"] for name, example in node.get("examples", {}).items()}
            single = {"example": node["example"]} if "example" in node else {}
            for name, value in (named | single).items():
                yield pytest.param(node["schema"], value, id=f"{place}/{name}")
        elif isinstance(node.get("examples"), list):
            for index, value in enumerate(node["examples"]):
                yield pytest.param(node, value, id=f"{place}/{index}")


def answer_objects() -> Iterator[Any]:
    """Yield every object schema that an answer can hold, with its place."""
    pending = [
        (f"{operation_id} {code}", content["schema"])
        for _, operation_id, code, response in responses()
        for media_type, content in response.get("content", {}).items()
        if media_type == "application/json"
    ]
    seen = set()
    while pending:
        place, schema = pending.pop()
        if "$ref" in schema:
            place = schema["$ref"]
        if place in seen:
            continue
        seen.add(place)
        schema = resolved(schema)
        if schema.get("type") == "object" and place.rpartition("/")[2] not in OPEN_OBJECTS:
            yield pytest.param(schema, id=place)
        pending += [(f"{place}/{name}", member) for name, member in schema.get("properties", {}).items()]
        pending += [(f"{place}/{index}", variant) for index, variant in enumerate(schema.get("oneOf", []))]
        pending += [(f"{place}/items", schema["items"])] if "items" in schema else []


OPERATIONS = [pytest.param(path, operation, id=operation["operationId"]) for path, operation in operations()]
RESPONSES = [
    pytest.param(path, code, response, id=f"{operation_id}-{code}")
    for path, operation_id, code, response in responses()
]


class TestDocument:
    """The document as a whole."""

    def test_is_read_by_a_generated_client(self) -> None:
        contract = schemathesis.openapi.from_path(DOCUMENT)

        read = list(contract.get_all_operations())

        assert all(isinstance(result, Ok) for result in read)
        assert {operation["operationId"] for _, operation in operations()} == OPERATION_IDS
        assert len(read) == len(OPERATION_IDS)

    def test_says_that_it_is_openapi_31(self) -> None:
        assert re.fullmatch(r"3\.1\.\d+", CONTRACT["openapi"])

    def test_has_no_dangling_reference(self) -> None:
        references = [node for _, node in objects(CONTRACT) if "$ref" in node]

        for node in references:
            assert resolved(node)

    def test_uses_every_component(self) -> None:
        text = DOCUMENT.read_text()
        names = [
            f"#/components/{kind}/{name}"
            for kind, components in CONTRACT["components"].items()
            for name in components
            if kind != "securitySchemes"
        ]

        unused = [name for name in names if f'"{name}"' not in text]

        assert unused == []

    @pytest.mark.parametrize("name", SCHEMAS)
    def test_has_valid_schemas(self, name: str) -> None:
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[name]})


class TestExamples:
    """Examples of requests and answers."""

    @pytest.mark.parametrize(("schema", "value"), list(examples()))
    def test_are_valid(self, schema: Node, value: object) -> None:
        assert [str(error) for error in validator(schema).iter_errors(value)] == []

    @pytest.mark.parametrize(("path", "operation"), OPERATIONS)
    def test_are_there_for_every_body(self, path: str, operation: Node) -> None:
        bodies = [resolved(response) for response in operation["responses"].values()]
        bodies += [operation["requestBody"]] if "requestBody" in operation else []

        contents = [content for body in bodies for content in body.get("content", {}).values()]

        assert contents, path
        assert all(content["examples"] for content in contents)


class TestOperations:
    """What each operation says."""

    @pytest.mark.parametrize(("path", "operation"), OPERATIONS)
    def test_name_their_refusals(self, path: str, operation: Node) -> None:
        codes = operation["responses"].keys()

        if path.startswith("/api/"):
            assert "security" not in operation
            assert codes >= {"401", "403", "405", "431", "503"}
        else:
            assert operation["security"] == []
            assert not codes & {"401", "403"}
        assert not codes & {"default", "500"}
        assert ("413" in codes) == ("requestBody" in operation)

    @pytest.mark.parametrize(("path", "code", "response"), RESPONSES)
    def test_carry_their_headers(self, path: str, code: str, response: Node) -> None:
        expected = {"X-Request-ID"} | {
            "401": {"WWW-Authenticate"},
            "405": {"Allow"},
            "503": {"Retry-After"},
        }.get(code, set())
        expected |= {"Content-Disposition"} if "text/csv" in response.get("content", {}) else set()

        assert response["headers"].keys() == expected, path

    @pytest.mark.parametrize(("path", "code", "response"), RESPONSES)
    def test_refuse_with_the_body_of_their_path(self, path: str, code: str, response: Node) -> None:
        if code < "400":
            return
        refusal = resolved(response["content"]["application/json"]["schema"])

        contacts = {"message", "errors"} if code == "422" else {"message"}
        assert set(refusal["required"]) == (contacts if "/contacts" in path else {"reason"})


class TestAnswers:
    """How strict the shapes of answers are."""

    @pytest.mark.parametrize("schema", list(answer_objects()))
    def test_hold_exactly_their_fields(self, schema: Node) -> None:
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) == schema["properties"].keys()

    @pytest.mark.parametrize("kind", CLASSIFICATIONS)
    def test_classify_with_the_fields_of_the_specification(self, kind: str) -> None:
        name = SCHEMAS["Classification"]["discriminator"]["mapping"][kind].rpartition("/")[2]

        properties = SCHEMAS[name]["properties"]

        assert properties.keys() == CLASSIFICATIONS[kind]
        assert properties["type"]["const"] == kind

    @pytest.mark.parametrize(
        ("name", "stamp", "accepted"),
        [
            ("GermanTime", "2026-03-02T09:15:42.118204", True),
            ("GermanTime", "2026-03-02T09:15:42.118204Z", False),
            ("GermanTime", "2026-03-02T09:15:42", False),
            ("GermanTime", "2026-03-02 09:15:42.118204", False),
            ("GermanTime", "2026-03-02T09:15:42.118204\n", False),
            ("UtcTime", "2026-03-02T09:15:42.118204Z", True),
            ("UtcTime", "2026-03-02T09:15:42.118204", False),
            ("UtcTime", "2026-03-02T09:15:42.118204+00:00", False),
            ("UtcTime", None, False),
            ("UtcTimeOrNull", None, True),
        ],
    )
    def test_stamp_with_six_digits(self, name: str, stamp: str | None, accepted: bool) -> None:  # noqa: FBT001
        assert accepts(name, stamp) is accepted


class TestRequests:
    """What the shapes of requests take and refuse."""

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("Moment", "2026-03-02"),
            ("Moment", "20260302"),
            ("Moment", "2026-03-02T09"),
            ("Moment", "2026-03-02T09:15"),
            ("Moment", "2026-03-02T09:15:42,1"),
            ("Moment", "2026-03-02T09:15:42.1182040001234"),
            ("Moment", "2026-03-02T09:15:42+01:00"),
            ("Moment", "2026-03-02T09:15:42 01:00"),
            ("Moment", "2026-03-02T09:15:42-0530"),
            ("Moment", "20260302T091542.5Z"),
            ("Moment", "2024-02-29"),
            ("Moment", "20000229T00"),
            ("Moment", "0001-01-01"),
            ("ArticleNumber", " SM 2040 "),
            ("ArticleNumber", "品番"),
            ("ArticleNumber", "\ufeff"),
            ("ArticleNumber", "x" * 255),
            ("ShortText", ""),
            ("ShortText", None),
            ("CommentText", "two\r\nlines"),
            ("NoteText", "\nsecond line"),
            ("Email", "a@b"),
            ("Email", "ä@müller.example"),
            ("Email", ""),
            ("Id", 2**53),
            ("Flag", None),
            ("QueryFlag", "tRuE"),
            ("QueryFlag", ""),
            ("Sourcing", ""),
            ("Anything", {"a": [{"b": 2**53, "c": "\n"}]}),
        ],
    )
    def test_accept(self, name: str, value: object) -> None:
        assert accepts(name, value)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("Moment", ""),
            ("Moment", "2026"),
            ("Moment", "0000-01-01"),
            ("Moment", "2026-13-01"),
            ("Moment", "2026-04-31"),
            ("Moment", "2026-02-29"),
            ("Moment", "19000229"),
            ("Moment", "2026-03-02T24:00"),
            ("Moment", "2026-03-02T09:60"),
            ("Moment", "2026-03-02T09:15:42."),
            ("Moment", "2026-03-02T09:15:42+24:00"),
            ("Moment", "2026-03-02T09:15:42Z\n"),
            ("Moment", "٢٠٢٦-٠٣-٠٢"),
            ("ArticleNumber", ""),
            ("ArticleNumber", " \u3000\u00a0"),
            ("ArticleNumber", "SM\n2040"),
            ("ArticleNumber", "SM-2040\n"),
            ("ArticleNumber", "SM\u0085"),
            ("ArticleNumber", "x" * 256),
            ("ArticleNumber", 2040),
            ("ShortText", "a\tb"),
            ("ShortText", "x" * 256),
            ("LongText", "x" * 1001),
            ("CommentText", "x" * 4001),
            ("CommentText", "\0"),
            ("NoteText", " \n\t"),
            ("NoteText", None),
            ("Email", "a@"),
            ("Email", "a@b@c"),
            ("Email", "a b@c"),
            ("Email", "a\u00a0@b"),
            ("Id", 0),
            ("Id", 2**53 + 1),
            ("Id", "3"),
            ("Id", True),
            ("Flag", "true"),
            ("Flag", 1),
            ("QueryFlag", "yes"),
            ("Sourcing", "f"),
            ("Anything", {"a": ["\0"]}),
            ("Anything", {"a\0": 1}),
            ("Anything", [{"a": -(2**53) - 1}]),
        ],
    )
    def test_refuse(self, name: str, value: object) -> None:
        assert not accepts(name, value)

    def test_take_the_country_codes_of_iso_and_of_customs(self) -> None:
        table = (files("tzdata") / "zoneinfo" / "iso3166.tab").read_text("utf-8")
        expected = {line[:2] for line in table.splitlines() if not line.startswith("#")}
        expected |= {"XK", "XI", "XS", "XC", "XL", "EU"}
        country_code = validator({"$ref": "#/components/schemas/CountryCode"})
        pairs = ["".join(letters) for letters in product(ascii_uppercase, repeat=2)]

        for change in (str.upper, str.lower, str.title, str.swapcase):
            assert {pair for pair in pairs if country_code.is_valid(change(pair))} == expected

    @pytest.mark.parametrize("name", ["CreateProduct", "UpdateProduct", "CreateContact", "UpdateContact"])
    def test_ignore_unknown_members(self, name: str) -> None:
        bodies = [
            content["examples"]
            for _, operation in operations()
            for content in operation.get("requestBody", {}).get("content", {}).values()
            if content["schema"].get("$ref", "").endswith(f"/{name}")
        ]
        body = next(iter(bodies[0].values()))["value"]
        inner = "product" if name.endswith("Product") else "contact"

        body = {**body, "unknown": [1.5], inner: {**body[inner], "unknown": {"a": None}}}

        assert accepts(name, body)
