"""The kinds of fields that bodies have, and the sentences that say what is wrong with one; no web framework.

Texts follow `decisions.md`, Text: nothing is normalised; `null` and `""` clear an optional field; lengths count
characters; one-line fields hold no control characters.
"""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from stammdaten.clock import german_timestamp
from stammdaten.refusals import Fault, Invalid

SHORT, LONG, TEXT = 255, 1_000, 4_000
# Beyond it, JSON numbers lose digits in many clients, and beyond 64 bits databases refuse them.
LARGEST_NUMBER = 2**53

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"
_NO_NUL = r"^[^\x00]*$"


class Shape(BaseModel):
    """An object of a body: strict types, unknown members ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


def wrong(sentence: str) -> PydanticCustomError:
    """Say what is wrong with a field, from a validator."""
    # Braces would be taken for places to fill in.
    return PydanticCustomError("field", "{sentence}", {"sentence": sentence})


def trimmed(text: str) -> str:
    """Trim an identifier; a control character is no blank and is refused, wherever it stands."""
    return text if CONTROL.search(text) else text.strip()


def _trimmed(given: object) -> object:
    # Before the length is counted.
    return trimmed(given) if isinstance(given, str) else given


def _not_blank(text: str) -> str:
    if not text.strip():
        raise wrong("must not be empty")
    return text


def _whole(given: object) -> object:
    # JSON has one kind of number: 3.0 is 3.
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _cleared(given: object) -> object:
    # The empty text alone clears; 0 and [] are of a wrong type.
    return None if given == "" else given


def one_of(choices: Iterable[str]) -> AfterValidator:
    """Allow a text only out of a few; the sentence names them."""
    allowed = tuple(choices)

    def check(given: str) -> str:
        if given not in allowed:
            raise wrong(f"must be one of {', '.join(allowed)}")
        return given

    return AfterValidator(check)


CLEARED = BeforeValidator(_cleared)
SHORT_LINE = StringConstraints(max_length=SHORT, pattern=_ONE_LINE)
_LONG_LINE = StringConstraints(max_length=LONG, pattern=_ONE_LINE)
_LINES = StringConstraints(max_length=TEXT, pattern=_NO_NUL)
_NOT_BLANK = AfterValidator(_not_blank)

Identifier = Annotated[str, SHORT_LINE, BeforeValidator(_trimmed), _NOT_BLANK]
RequiredShort = Annotated[str, SHORT_LINE, _NOT_BLANK]
RequiredLong = Annotated[str, _LONG_LINE, _NOT_BLANK]
RequiredText = Annotated[str, _LINES, _NOT_BLANK]
AnyText = Annotated[str, _LINES]
Short = Annotated[str, SHORT_LINE] | None
Long = Annotated[str, _LONG_LINE] | None
Text = AnyText | None
OptionalFlag = bool | None
ListId = Annotated[int, Field(ge=1, le=LARGEST_NUMBER), BeforeValidator(_whole)]


def german_time(name: str, given: str) -> str:
    """Read a timestamp as naive German time in the form of the stamps.

    :raises Invalid: if it is not ISO 8601.
    """
    try:
        return german_timestamp(given)
    except ValueError as error:
        raise Invalid([Fault(name, "must be ISO 8601, e.g. 2026-11-21T09:30:00.000000")]) from error


def faults(error: ValidationError, within: str = "") -> list[Fault]:
    """Say what is wrong, one fault a field, as `product.vendor must be a String`."""
    found: dict[str, Fault] = {}
    for detail in error.errors(include_url=False, include_input=True):
        path = _path(within, detail["loc"])
        found.setdefault(path, Fault(path, _sentence(detail)))
    return list(found.values())


def _path(within: str, steps: Iterable[int | str]) -> str:
    path = within
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step.isidentifier():
            path += f".{step}" if path else step
    return path


# The union members of Pydantic's own making never reach a caller: only identifiers are steps of a path.
_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "missing": lambda _: "is required",
    "string_type": lambda _: "must be a String",
    "string_too_long": lambda context: f"must not be longer than {context['max_length']} characters",
    "string_unicode": lambda _: "must not hold lone surrogates",
    "bool_type": lambda _: "must be true or false",
    "int_type": lambda _: "must be an Integer",
    "greater_than_equal": lambda context: f"must be at least {context['ge']}",
    "less_than_equal": lambda context: f"must be at most {context['le']}",
    "model_type": lambda _: "must be an Object",
    "dict_type": lambda _: "must be an Object",
    "list_type": lambda _: "must be an Array",
    "too_long": lambda context: f"must not hold more than {context['max_length']} entries",
    "field": lambda context: str(context["sentence"]),
}


def _sentence(detail: Any) -> str:
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return _pattern_sentence(given, context["pattern"])
    if kind == "int_type" and isinstance(given, str):
        # The interface has `id` as a String on lists and `list_id` as an Integer on products (Product list).
        return "must be an Integer: send the number itself, not a String"
    return _SENTENCES[kind](context)


def _pattern_sentence(given: str, pattern: str) -> str:
    if "\0" in given:
        return "must not hold NUL characters"
    return "must not hold control characters" if pattern == _ONE_LINE else "is not allowed"
