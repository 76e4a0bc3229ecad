"""What follows from a classification record, and when its status changes; plain values."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_DIGITS = re.compile(r"[0-9]{8}(?:[0-9]{2})?")


class Status(StrEnum):
    """How far a classification can be relied on (decisions: Classification)."""

    CLASSIFIED = "classified"
    REVIEW = "review"
    EXPIRED = "expired"


# Fields of a product that a tariff number rests on.
RESTS_ON = frozenset(
    {
        "designation",
        "designation2",
        *(f"feature{number}" for number in range(1, 7)),
        "machine_type",
        "assembly_group",
        "system_material",
    }
)


@dataclass(frozen=True, slots=True)
class Classification:
    """A record as it is kept, in the order of the table's columns; "" where nothing is recorded."""

    type: str
    ctn: str
    tradename2: str = ""
    status: str = Status.CLASSIFIED
    reason: str = ""
    features: str = ""
    comment: str = ""
    is_fixed: bool = False
    is_av3: bool = False
    bti: str = ""
    bti_found: str | None = None
    valid_from: str = ""
    valid_until: str = ""


def tariff_number(given: str) -> str:
    """Read a tariff number of 8 digits (CN) or 10 (TARIC), blanks and dots ignored.

    :raises ValueError: if it is none.
    """
    digits = given.replace(" ", "").replace(".", "")
    if not _DIGITS.fullmatch(digits):
        raise ValueError(given)
    return digits


def is_expired(valid_until: str, today: str) -> bool:
    """Whether a record whose validity ends on a day (`YYYY-MM-DD`, "" never) is past it."""
    return valid_until != "" and valid_until < today


def needs_review(record: Classification, changed: Iterable[str]) -> bool:
    """Whether a change of these product fields takes the ground from under a record: never one that is fixed."""
    return record.status == Status.CLASSIFIED and not record.is_fixed and not RESTS_ON.isdisjoint(changed)
