"""The page at `/docs`, as a pure function of the contract.

No fixtures: the page is made once and cached by the function itself.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from stammdaten.http.documentation import contract, contract_page

Node = dict[str, Any]

DOCUMENT = Path(__file__).parents[1] / "openapi" / "v1.yaml"
CONTRACT: Node = yaml.load(DOCUMENT.read_bytes(), Loader=yaml.CSafeLoader)
SCHEMAS: Node = CONTRACT["components"]["schemas"]
METHODS = ("get", "post", "put", "delete")
OPERATIONS = [
    pytest.param(path, method, item[method], id=item[method]["operationId"])
    for path, item in CONTRACT["paths"].items()
    for method in METHODS
    if method in item
]
# Elements without an end tag.
VOID = {"meta", "br", "wbr"}


class Page(HTMLParser):
    """What a browser would make of the page: its text, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(contract_page().decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


PAGE = Page()


class TestContract:
    """documentation.contract."""

    def test_is_the_file_as_it_was_written(self) -> None:
        assert contract() == DOCUMENT.read_bytes()


class TestContractPage:
    """documentation.contract_page."""

    @pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
    def test_shows_each_operation(self, path: str, method: str, operation: Node) -> None:
        article = contract_page().decode().split(f'<article id="{operation["operationId"]}">')[1]
        article = article.split("</article>")[0]

        plain = re.sub(r"<[^>]*>", "", article)

        assert f"{method.upper()}{path}" in plain
        for code in operation["responses"]:
            assert f"<code>{code}</code>" in article
        assert ("Request body" in plain) == ("requestBody" in operation)

    @pytest.mark.parametrize("name", ["List", "Product", "ProductData", "CmpVzta", "Contact", "Match"])
    def test_shows_each_field_of_an_answer(self, name: str) -> None:
        section = contract_page().decode().split(f'id="{name}"><h3>')[1].split("</section>")[0]

        shown = re.findall(r"<tr><td><code>(.*?)</code></td>", section)

        assert sorted(shown) == sorted(SCHEMAS[name]["properties"])

    @pytest.mark.parametrize(
        "field",
        [
            *(f"product.{name}" for name in SCHEMAS["ProductFields"]["properties"]),
            *(f"contact.{name}" for name in SCHEMAS["ContactFields"]["properties"]),
            "product.article_number",
            "product.reset_classification",
            "product.country_of_origin.made_in",
            "contact.contact_uid",
        ],
    )
    def test_shows_each_field_of_a_request(self, field: str) -> None:
        assert field in PAGE.text

    def test_tells_how_to_follow_changes(self) -> None:
        assert "Pages are for looking, not for following." in PAGE.text

    def test_loads_nothing_and_runs_nothing(self) -> None:
        tags = {tag for tag, _ in PAGE.elements}
        attributes = {name for _, attributes in PAGE.elements for name in attributes}

        assert not tags & {"script", "link", "img", "iframe", "object", "form", "base", "svg"}
        assert attributes <= {"aria-label", "charset", "class", "content", "href", "id", "lang", "name"}
        assert [tag for tag, _ in PAGE.elements].count("style") == 1
        assert not re.search(rb"https?://|url\(|@import|javascript:", contract_page())

    def test_leads_only_to_places_that_exist(self) -> None:
        identifiers = [attributes["id"] for _, attributes in PAGE.elements if "id" in attributes]
        links = {attributes["href"] for tag, attributes in PAGE.elements if tag == "a"}

        assert len(identifiers) == len(set(identifiers))
        assert links <= {f"#{identifier}" for identifier in identifiers} | {"openapi.yaml"}

    def test_closes_what_it_opens(self) -> None:
        assert PAGE.open == []

    def test_escapes_what_the_contract_says(self) -> None:
        assert "&lt;!doctype html&gt;…" in contract_page().decode()
