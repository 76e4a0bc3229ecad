"""From the bytes of a body to JSON values; no web framework. Where a body is refused as a whole, it is refused here."""

import codecs
import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from stammdaten.http.fields import LARGEST_NUMBER
from stammdaten.refusals import Fault, Malformed

DEEPEST = 64
# An answer must not grow far beyond what was asked: thousands of faults, each with a path as long as the body, would.
_MOST_FAULTS = 50
_LONGEST_STEP = 100

# Only such a body can hold a NUL, a lone surrogate or a number out of range: the others are not walked.
_SUSPICIOUS = re.compile(r"\\u(?:0000|[dD][89a-fA-F])|[0-9]{16}|[0-9][eE]")


def json_body(body: bytes) -> Any:
    """Parse a body as the interface reads it.

    :raises Malformed: if it is empty, no UTF-8, no JSON, holds NaN or Infinity, or is nested over 64 levels.
    """
    if not body:
        raise Malformed("The body must be a JSON object; it is empty.")
    try:
        if body.startswith(codecs.BOM_UTF8):
            raise Malformed("The body must be JSON; it begins with a byte order mark.")
        # Decoded here: left to itself, the parser takes UTF-16 and UTF-32 too.
        return _parse(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Malformed(f"The body must be UTF-8; byte {error.start} is not.") from error
    except json.JSONDecodeError as error:
        raise Malformed(f"The body must be JSON: {error.msg} at line {error.lineno}, column {error.colno}.") from error
    except RecursionError as error:
        raise Malformed(f"The body must not be nested over {DEEPEST} levels.") from error
    except ValueError as error:  # an integer with thousands of digits
        raise Malformed(f"Numbers in the body must be within ±{LARGEST_NUMBER}.") from error


def _parse(text: str) -> Any:
    value = json.loads(text, parse_constant=_refuse_constant)
    # So few brackets cannot be nested too deep.
    if text.count("[") + text.count("{") > DEEPEST:
        _check_depth(value)
    return value


def _refuse_constant(name: str) -> Any:
    raise Malformed(f"The body must be JSON; {name} is not.")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [member for parent in level if isinstance(parent, dict | list) for member in _members(parent)]
        if not level:
            return
    if any(isinstance(value, dict | list) for value in level):
        raise Malformed(f"The body must not be nested over {DEEPEST} levels.")


def _members(parent: Any) -> Iterator[Any]:
    return iter(parent.values() if isinstance(parent, dict) else parent)


def unstorable(body: bytes, value: Any) -> list[Fault]:
    """Find what no database keeps and no client reads back, with paths: NUL, lone surrogates, numbers over 2^53."""
    if not _SUSPICIOUS.search(body.decode("utf-8")):
        return []
    return list(islice(_unstorable("", value), _MOST_FAULTS))


def _unstorable(path: str, value: Any) -> Iterator[Fault]:
    if isinstance(value, str):
        if sentence := _unstorable_text(value):
            yield Fault(path or "body", sentence)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
            yield Fault(path or "body", f"must be within ±{LARGEST_NUMBER}")
    elif isinstance(value, dict):
        for name, member in value.items():
            if sentence := _unstorable_text(name):
                yield Fault(path or "body", f"has a member whose name {sentence}")
            else:
                step = name[:_LONGEST_STEP]
                yield from _unstorable(f"{path}.{step}" if path else step, member)
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from _unstorable(f"{path}[{place}]", member)


def _unstorable_text(text: str) -> str:
    if "\0" in text:
        return "must not hold NUL characters"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "must not hold lone surrogates"
    return ""
