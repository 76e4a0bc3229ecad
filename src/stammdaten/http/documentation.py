"""The contract, as its bytes and as a page to read; knows nothing of the service behind it."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

# A part of the parsed contract: JSON enters here.
Node = dict[str, Any]

_METHODS = ("get", "post", "put", "delete")
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_MARKDOWN = MarkdownIt("commonmark", {"html": False})
_ONE_LINE = 76

# The page is sent with a policy that forbids scripts, fonts, pictures and every other address.
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6678; --paper: #fff; --side: #f6f7f9;
  --line: #e2e6ec; --code: #f3f5f8; --link: #0b5cad; --get: #0b6e4f; --put: #9a5b00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #dfe4ec; --soft: #98a3b5; --paper: #14181f;
  --side: #191e27; --line: #2b323e; --code: #1d232d; --link: #7db7f5; --get: #5cc79d; --put: #e0a958;
  --delete: #f08b84; } }
* { box-sizing: border-box; } html { scroll-padding-top: 1rem; }
body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); color: var(--ink);
  background: var(--paper); font: 16px/1.6 system-ui, "Segoe UI", Roboto, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.75rem 1.25rem; font-size: .875rem;
  background: var(--side); border-right: 1px solid var(--line); }
nav h2, h4 { margin: 1.5rem 0 .35rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase;
  color: var(--soft); }
nav a { display: flex; gap: .5rem; align-items: baseline; padding: .16rem 0; color: inherit; }
nav .method { flex: 0 0 3rem; } main { padding: 2.5rem clamp(1.25rem, 4vw, 4rem) 6rem; max-width: 96rem; }
main > header, .schema { max-width: 48rem; }
h1, h2, h3 { line-height: 1.25; letter-spacing: -.01em; } h1 { margin: 0 0 .4rem; font-size: 2rem; }
h2 { margin: 4rem 0 .25rem; font-size: 1.5rem; } h3 { margin: 2.25rem 0 .4rem; font-size: 1.15rem; }
p, ul { margin: .5rem 0; } ul { padding-left: 1.25rem; } li { margin: .3rem 0; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
code, .path, .method { font-family: ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
code { padding: 0 .3em; border-radius: 4px; background: var(--code); font-size: .86em; }
pre { margin: .4rem 0 1rem; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px;
  overflow: auto; max-height: 36rem; background: var(--code); font-size: .8rem; line-height: 1.5; }
pre code { padding: 0; font-size: inherit; overflow-wrap: normal; }
article { display: grid; grid-template-columns: minmax(0, 1.4fr) minmax(0, 1fr); gap: 0 2.5rem;
  padding: 2rem 0; border-top: 1px solid var(--line); }
article > header { grid-column: 1 / -1; } article h3, aside h4:first-child { margin-top: .5rem; }
.path { margin: 0; font-size: .92rem; }
.path var { color: var(--link); font-style: normal; }
.path .method { margin-right: .6rem; padding: .2rem .5rem; border: 1px solid; border-radius: 5px; }
.method { font-size: .74rem; } .get { color: var(--get); } .post { color: var(--link); }
.put { color: var(--put); } .delete, .required { color: var(--delete); } .scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; line-height: 1.5; }
th { padding: .3rem 1rem .3rem 0; text-align: left; color: var(--soft); }
td { padding: .5rem 1rem .5rem 0; border-top: 1px solid var(--line); vertical-align: top; }
td:first-child code { padding: 0; background: none; font-weight: 600; overflow-wrap: normal; }
td:nth-child(3) { min-width: 9rem; } small { display: block; color: var(--soft); font-size: .82rem; }
h4 span { margin-left: .4em; font-weight: 400; text-transform: none; letter-spacing: 0; }
summary { margin: 1rem 0 .5rem; cursor: pointer; font-size: .875rem; color: var(--soft); }
@media (max-width: 76rem) { article { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 52rem) { body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } body { display: block; } pre { max-height: none; } }
"""


@cache
def contract() -> bytes:
    """Return `openapi/v1.yaml` as it was written."""
    packaged = files(__package__) / "v1.yaml"
    if packaged.is_file():
        return packaged.read_bytes()
    # In a checkout it lies at the top of the tree; only a built wheel carries it beside this module.
    return (Path(__file__).parents[3] / "openapi" / "v1.yaml").read_bytes()


@cache
def contract_page() -> bytes:
    """Return the contract as one HTML page that loads nothing."""
    spec: Node = yaml.load(contract(), Loader=_LOADER)  # noqa: S506 - the safe loader, in C where there is one
    title = escape(spec["info"]["title"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>{_navigation(spec)}<main>"
        f'<header id="top"><h1>{title}</h1><p>{_inline(spec["info"]["summary"])} '
        f'For machines: <a href="openapi.yaml">openapi.yaml</a>.</p>{_prose(spec["info"])}</header>'
        f"{''.join(_chapter(spec, tag) for tag in spec['tags'])}{_schemas(spec)}</main></body></html>"
    ).encode()


def _navigation(spec: Node) -> str:
    links = "".join(
        f"<h2>{escape(tag['name'])}</h2>"
        + "".join(
            f'<a href="#{operation["operationId"]}">{_badge(method)}{_inline(operation["summary"])}</a>'
            for method, _, operation in _operations(spec, tag)
        )
        for tag in spec["tags"]
    )
    schemas = "".join(f'<a href="#{name}">{name}</a>' for name in _described(spec))
    return f'<nav aria-label="Contents"><a href="#top">Overview</a>{links}<h2>Schemas</h2>{schemas}</nav>'


def _operations(spec: Node, tag: Node) -> Iterator[tuple[str, str, Node]]:
    for path, shared in spec["paths"].items():
        for method in _METHODS:
            operation = shared.get(method)
            if operation and tag["name"] in operation["tags"]:
                parameters = [*shared.get("parameters", ()), *operation.get("parameters", ())]
                yield method, path, {**operation, "parameters": parameters}


def _chapter(spec: Node, tag: Node) -> str:
    operations = "".join(_operation(spec, *found) for found in _operations(spec, tag))
    return f"<section><h2>{escape(tag['name'])}</h2>{_prose(tag)}{operations}</section>"


def _operation(spec: Node, method: str, path: str, operation: Node) -> str:
    shown = escape(path).replace("{", "<var>{").replace("}", "}</var>")
    bodies = operation.get("requestBody", {}).get("content", {})
    # A file has no members: it is shown as one, under its media type.
    files = {"properties": {kind: body["schema"] for kind, body in bodies.items()}, "required": list(bodies)}
    schema = bodies.get("application/json", {"schema": files})["schema"]
    responses = {code: _resolved(spec, response) for code, response in operation["responses"].items()}
    parameters = (_parameter(spec, _resolved(spec, parameter)) for parameter in operation["parameters"])
    return (
        f'<article id="{operation["operationId"]}"><header><h3>{_inline(operation["summary"])}</h3>'
        f'<p class="path">{_badge(method)}{shown}</p></header><div>{_prose(operation)}'
        f"{_table('Parameters', parameters)}"
        f"{_table('Request body', _fields(spec, schema))}"
        f"{_responses(responses)}</div><aside>{''.join(_examples(spec, 'Request', body) for body in bodies.values())}"
        f"{_answers(spec, responses)}</aside></article>"
    )


def _parameter(spec: Node, parameter: Node) -> str:
    field = {**parameter["schema"], "description": parameter["description"]}
    place = f"in the {parameter['in']}"
    return _row(spec, parameter["name"], field, required=parameter.get("required", False), place=place)


def _fields(spec: Node, schema: Node, path: str = "") -> Iterator[str]:
    """Yield a row for each member; those of nested objects follow under the path that error texts name."""
    parts = [_resolved(spec, part) for part in (schema, *_resolved(spec, schema).get("allOf", ()))]
    members = {name: field for part in parts for name, field in part.get("properties", {}).items()}
    required = {name for part in parts for name in part.get("required", ())}
    for name, field in sorted(members.items(), key=lambda member: member[0] not in required):
        # Answers hold all their fields: to mark each of them would say nothing.
        yield _row(spec, path + name, field, required=name in required and not _is_closed(parts[0]))
        if "$ref" not in field:
            yield from _fields(spec, field, f"{path}{name}.")


def _row(spec: Node, name: str, field: Node, *, required: bool, place: str = "") -> str:
    resolved = _resolved(spec, field)
    mark = '<small class="required">required</small>' if required else ""
    limits = "; ".join(filter(None, (place, *_limits(resolved))))
    return (
        f"<tr><td><code>{escape(name).replace('.', '.<wbr>')}</code></td><td>{_kind(spec, field)}{mark}</td>"
        f"<td>{_inline(resolved.get('description', ''))}{_small(limits)}</td></tr>"
    )


def _kind(spec: Node, field: Node) -> str:
    name = field.get("$ref", "").rpartition("/")[2]
    if name in _described(spec):
        return f'<a href="#{name}">{name}</a>'
    resolved = _resolved(spec, field)
    if "type" not in resolved:
        choices = resolved.get("oneOf") or resolved.get("anyOf") or ()
        kinds = ["String" if "enum" in resolved else "Any"] if not choices else []
        kinds += ["null"] if None in resolved.get("enum", ()) else []
        return " or ".join(dict.fromkeys([*kinds, *(_kind(spec, choice) for choice in choices)]))
    types = [resolved["type"]] if isinstance(resolved["type"], str) else resolved["type"]
    entries = f" of {_kind(spec, resolved['items'])}" if "items" in resolved else ""
    return " or ".join("null" if kind == "null" else f"{kind.title()}{entries}" for kind in types)


def _limits(field: Node) -> Iterator[str]:
    if "enum" in field:
        yield "one of " + ", ".join(f"<code>{escape(json.dumps(value))}</code>" for value in field["enum"])
    if "const" in field:
        yield f"always <code>{escape(json.dumps(field['const']))}</code>"
    if "maxLength" in field:
        yield f"at most {field['maxLength']} characters"
    if "minimum" in field and "type" in field:
        yield f"{field['minimum']} " + (f"to {field['maximum']}" if "maximum" in field else "or more")
    if "maxItems" in field:
        exactly = field.get("minItems") == field["maxItems"]
        yield f"{'exactly' if exactly else 'at most'} {field['maxItems']}"
    if "default" in field:
        yield f"default <code>{escape(_written(field['default']))}</code>"


def _responses(responses: dict[str, Node]) -> str:
    rows = []
    for code, response in responses.items():
        headers = ", ".join(escape(name) for name in response["headers"] if name != "X-Request-ID")
        bodies = "".join(_body(*content) for content in response.get("content", {}).items())
        meaning = f"{_inline(response['description'].strip())}{_small(headers)}"
        rows.append(f"<tr><td><code>{code}</code></td><td>{meaning}</td><td>{bodies}</td></tr>")
    return _table("Responses", rows, head=("Status", "Meaning and headers", "Body"))


def _body(media_type: str, content: Node) -> str:
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    return f'<a href="#{name}">{name}</a>' if name else escape(media_type)


def _answers(spec: Node, responses: dict[str, Node]) -> str:
    contents = [(code, body) for code, found in responses.items() for body in found.get("content", {}).values()]
    good = "".join(_examples(spec, f"Response {code}", body) for code, body in contents if code < "400")
    errors = "\n".join(
        f"{code}  {json.dumps(_resolved(spec, example)['value'], ensure_ascii=False)}"
        for code, body in contents
        for example in body["examples"].values()
        if code >= "400"
    )
    return f"{good}<details><summary>Examples of errors</summary>{_block(errors)}</details>"


def _examples(spec: Node, title: str, body: Node) -> str:
    examples = (_resolved(spec, example) for example in body["examples"].values())
    return "".join(
        f"<h4>{title}<span>{_inline(example.get('summary', ''))}</span></h4>{_block(_written(example['value']))}"
        for example in examples
    )


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) <= _ONE_LINE else json.dumps(value, ensure_ascii=False, indent=2)


def _schemas(spec: Node) -> str:
    sections = "".join(
        f'<section class="schema" id="{name}"><h3>{name}</h3>{_prose(schema)}'
        + (f"<p>{_kind(spec, schema)}</p>" if "oneOf" in schema else _table("", _fields(spec, schema)))
        + "</section>"
        for name, schema in _described(spec).items()
    )
    return f"<section><h2>Schemas</h2><p>What answers are made of; every field is there.</p>{sections}</section>"


def _described(spec: Node) -> Node:
    # The bodies of requests are left out: they are shown in full with their operations.
    schemas = spec["components"]["schemas"].items()
    return {name: schema for name, schema in schemas if _is_closed(schema) or "oneOf" in schema}


def _is_closed(schema: Node) -> bool:
    return schema.get("additionalProperties") is False


def _resolved(spec: Node, node: Node) -> Node:
    while "$ref" in node:
        target: Node = spec
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        # What stands beside a reference, a description for one, wins over what it refers to.
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def _table(title: str, rows: Iterable[str], head: Iterable[str] = ("Name", "Type", "Meaning")) -> str:
    body = "".join(rows)
    if not body:
        return ""
    heading = f"<h4>{title}</h4>" if title else ""
    cells = "".join(f"<th>{cell}</th>" for cell in head)
    table = f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
    return f'{heading}<div class="scroll">{table}</div>'


def _badge(method: str) -> str:
    return f'<b class="method {method}">{method.upper()}</b>'


def _block(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"


def _small(html: str) -> str:
    return f"<small>{html}</small>" if html else ""


def _prose(node: Node) -> str:
    return str(_MARKDOWN.render(node.get("description", "")))


def _inline(text: str) -> str:
    return str(_MARKDOWN.renderInline(text))
