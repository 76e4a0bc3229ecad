"""From what a check found to what the contact says of it (decisions: Sanctions status); pure, but for new ids."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from stammdaten.screening.entries import content_hash
from stammdaten.screening.matching import Match
from stammdaten.screening.queries import KeptMatch
from stammdaten.screening.shapes import BLOCK_LIST, CONFIRMED, OPEN, REJECTED, Check, party_hash

GRAY, GREEN, YELLOW, RED, BLACK = "gray", "green", "yellow", "red", "black"
UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What stands in the contact; and the matches to be kept beside it, new or changed."""

    status: str
    sanctions_check: str
    result: dict[str, Any]
    shown: list[dict[str, Any]]
    added: list[KeptMatch] = field(default_factory=list)
    changed: list[KeptMatch] = field(default_factory=list)

    @property
    def highest_score(self) -> float | None:
        """The highest score of all matches."""
        return max((match["score"] for match in self.shown), default=None)


def concluded(
    check: Check, kept: Iterable[KeptMatch], *, contact_id: int, next_id: Callable[[], int], now: str
) -> Verdict:
    """Weigh what was found against what was decided before; `now` is UTC."""
    known = {(match.source, match.entry_id): match for match in kept}
    added, changed, shown = [], [], []
    identity = party_hash(check.subject.party)
    for match in check.found:
        key, content = (match.source, match.entry_id), content_hash(match.document)
        before = known.pop(key, None)
        if match.score < check.rules.threshold and key not in check.blocked and not _is_confirmed(before):
            # Asked for because it was confirmed, which was taken back meanwhile.
            continue
        if before is None:
            after = KeptMatch(next_id(), contact_id, *key, party_hash=identity, entry_hash=content)
            added.append(after)
        else:
            after = _looked_at_again(before, identity, content)
            if after != before:
                changed.append(after)
        shown.append(rendered_match(after, match))
    changed += [gone._replace(is_standing=False) for gone in known.values() if gone.is_standing]
    result = _result(check, shown, now)
    return Verdict(
        status=status_of(shown, result),
        sanctions_check=_outcome(check, shown),
        result=result,
        shown=shown,
        added=added,
        changed=changed,
    )


def waiting(reason: str, shown: list[dict[str, Any]]) -> Verdict:
    """Return what stands in a contact that is yet to be checked: gray, unless somebody was confirmed."""
    result = {"reason": reason}
    return Verdict(status=status_of(shown, result), sanctions_check=UNCHECKED, result=result, shown=shown)


def rendered_match(kept: KeptMatch, match: Match) -> dict[str, Any]:
    """Render a match as the interface shows it (decisions: Sanctions status)."""
    entry = json.loads(match.document)
    return {
        "id": kept.id,
        "list": match.source,
        "entry_id": match.entry_id,
        "name": match.name,
        "matched_name": match.matched_name,
        "score": match.score,
        "features": match.features,
        "programs": entry.get("programs", []),
        "url": entry.get("url", ""),
        **decided(kept),
    }


def decided(kept: KeptMatch) -> dict[str, Any]:
    """Render what was decided of a match."""
    return {
        "decision": kept.decision,
        "decided_by": kept.decided_by,
        "decided_at": kept.decided_at or None,
        "comment": kept.comment,
    }


def status_of(shown: list[dict[str, Any]], result: dict[str, Any]) -> str:
    """Return the status that matches and their decisions make; the result of the check says whether it was one."""
    certain, blocked = result.get("certain", 1.0), set(result.get("blocked", ()))
    held = [match for match in shown if match["decision"] != REJECTED]
    if any(match["id"] in blocked for match in held):
        return BLACK
    # What a person has confirmed does not wait for a check.
    if any(match["decision"] == CONFIRMED for match in held):
        return RED
    if result.get("reason"):
        return GRAY
    if any(_counts_as_certain(match, certain) for match in held):
        return RED
    return YELLOW if held or result.get("left_out") else GREEN


def _looked_at_again(before: KeptMatch, identity: str, content: str) -> KeptMatch:
    """Keep a decision, unless what it was about has changed."""
    after = before._replace(is_standing=True, party_hash=identity, entry_hash=content)
    reasons = {
        "the contact's identifying data changed": before.party_hash != identity,
        "the list entry changed": before.entry_hash != content,
    }
    changed = " and ".join(reason for reason, is_so in reasons.items() if is_so)
    if before.decision != REJECTED or not changed:
        return after
    said = f"Opened again because {changed}. Rejected by {before.decided_by} at {before.decided_at}: {before.comment}"
    return after._replace(decision=OPEN, decided_by="", decided_at="", comment=said)


def _is_confirmed(kept: KeptMatch | None) -> bool:
    return kept is not None and kept.decision == CONFIRMED


def _counts_as_certain(match: dict[str, Any], certain: float) -> bool:
    # Of a company's own block list only the very name or uid is more than a resemblance (decisions).
    is_certain = match["score"] >= certain and match["list"] != BLOCK_LIST
    return bool(match["decision"] == CONFIRMED or is_certain)


def _blocked_ids(check: Check, shown: list[dict[str, Any]]) -> list[int]:
    return [match["id"] for match in shown if (match["list"], match["entry_id"]) in check.blocked]


def _outcome(check: Check, shown: list[dict[str, Any]]) -> str:
    if _blocked_ids(check, shown):
        return "match"
    if check.failed:
        return "failed"
    highest = max((match["score"] for match in shown if match["list"] != BLOCK_LIST), default=0.0)
    if highest >= check.rules.certain:
        return "match"
    return "potential_match" if shown else "clear"


def _result(check: Check, shown: list[dict[str, Any]], now: str) -> dict[str, Any]:
    return {
        "checked_at": now,
        "reason": check.failed,
        "lists": list(check.lists),
        "algorithm": check.engine,
        "threshold": check.rules.threshold,
        "certain": check.rules.certain,
        "highest_score": max((match["score"] for match in shown), default=None),
        "blocked": _blocked_ids(check, shown),
        "left_out": check.left_out,
    }
