"""Holds answers against `openapi/v1.yaml`, which is binding."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import httpx2 as httpx
import jsonschema_rs
import yaml

CONTRACT = Path(__file__).parent.parent / "openapi" / "v1.yaml"


@cache
def contract() -> dict[str, Any]:
    """Return the parsed contract."""
    parsed: dict[str, Any] = yaml.safe_load(CONTRACT.read_text("utf-8"))
    return parsed


@cache
def _templates() -> list[tuple[re.Pattern[str], str]]:
    # A literal path before one with a parameter in the same place: `/contacts/find` is not a uid.
    paths = sorted(contract()["paths"], key=lambda path: (path.count("{"), path))
    return [(re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path) + "$"), path) for path in paths]


@cache
def _validator(template: str, method: str, status: str) -> Any:
    operation = contract()["paths"][template][method]
    response = operation["responses"].get(status)
    assert response is not None, f"{method} {template} must not answer {status}"
    response = _resolved(response)
    schema = response.get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return None
    return jsonschema_rs.Draft202012Validator({**schema, "components": contract()["components"]})


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        target: Any = contract()
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def check_answer(method: str, path: str, response: httpx.Response) -> None:
    """Assert that the contract allows this answer; paths and methods it does not know answer 401, 403, 404 or 405."""
    assert response.status_code != 500, response.text
    assert response.headers["x-request-id"]
    raw = path.partition("?")[0]
    verb = "get" if method == "HEAD" else method.lower()
    # By method too: `/contacts/find` is the path of POST, and for the others that of a contact whose uid is `find`.
    matching = [template for pattern, template in _templates() if pattern.match(raw)]
    template = next((template for template in matching if verb in contract()["paths"][template]), None)
    if template is None:
        assert response.status_code in {401, 403, 404, 405}, f"{method} {raw}: {response.status_code}"
        return
    validator = _validator(template, verb, str(response.status_code))
    if validator is not None and method != "HEAD":
        validator.validate(response.json())
