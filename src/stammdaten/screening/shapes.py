"""What a sanctions check says of a contact."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """Status, outcome of the last check alone, its result, and the matches (decisions: Sanctions status)."""

    status: str
    sanctions_check: str
    result: dict[str, Any] = field(default_factory=dict)
    matches: list[dict[str, Any]] = field(default_factory=list)
    checked_at: str | None = None


# The door where screening comes in: contacts take their verdict from here, and none says green without a check.
UNCHECKED = Verdict(status="gray", sanctions_check="unchecked")
