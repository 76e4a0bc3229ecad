"""One check: what the lists in force, or a server, say of a subject. Knows no store."""

import json
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from stammdaten.screening.entries import Entry, written
from stammdaten.screening.matching import ENGINE, Index, Match, comparable
from stammdaten.screening.measuring import measured_screening
from stammdaten.screening.queries import ListVersion, Rules, Standing
from stammdaten.screening.shapes import Check, Subject
from stammdaten.screening.sources.drafts import clean

NO_LIST = "No official sanctions list is loaded."
# Namesakes beyond these are counted, not shown: a contact must not grow without end.
_MOST_MATCHES = 500


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists in force at one moment, ready to be asked."""

    activation: int
    versions: tuple[ListVersion, ...]
    index: Index
    # For a block list: entries by name as `to_the_letter` has it, and by uid.
    names: dict[str, list[tuple[str, str]]]


class Remote(NamedTuple):
    """What a server answered of a subject."""

    name: str
    found: list[Match]


@dataclass(frozen=True, slots=True)
class Consulted:
    """Everything that the checks of one batch rest on."""

    standing: Standing
    rules: Rules
    official: Lists | None  # None where a server is asked
    blocked: Lists | None
    now: datetime

    def check(self, subject: Subject, remote: Remote | None) -> Check:
        """Check one subject."""
        found, by_letter = self._blocked(subject)
        can_compare = comparable(subject.party)
        unusable, is_for_age = self._unusable() if remote is None else ("", False)
        if remote is not None:
            found += [*remote.found, *_still_confirmed(subject, remote)]
        elif can_compare and self.official is not None:
            with measured_screening():
                found += self._listed(subject, self.official.index)
        versions = [*self._used(), *(self.blocked.versions if self.blocked else ())]
        lists = [
            {"name": version.source, "version": version.list_date, "entries": version.entries} for version in versions
        ]
        return Check(
            subject=subject,
            standing=self.standing,
            rules=self.rules,
            lists=tuple(lists if remote is None else [{"name": remote.name, "version": "", "entries": 0}, *lists]),
            engine=ENGINE if remote is None else "yente",
            found=_shown(found, {*by_letter, *subject.confirmed}),
            left_out=max(0, len(found) - _MOST_MATCHES),
            blocked=by_letter,
            failed=unusable if can_compare else "The name holds nothing that could be compared.",
            are_lists_too_old=can_compare and is_for_age,
        )

    def _used(self) -> list[ListVersion]:
        wanted = self.rules.sources
        if self.official is None:
            return []
        return [version for version in self.official.versions if not wanted or version.source in wanted]

    def _unusable(self) -> tuple[str, bool]:
        """Return why the lists do not do, and whether they are merely too old; "" if they do."""
        used = self._used()
        missing = sorted(set(self.rules.sources) - {version.source for version in used})
        if missing:
            return f"The list {missing[0]} is not loaded.", False
        if not used:
            return NO_LIST, False
        oldest = min(used, key=lambda version: version.checked_at)
        if _is_too_old(oldest, self.rules, self.now):
            return (
                f"The list {oldest.source} was last brought up to date at {oldest.checked_at}; "
                f"lists may be {self.rules.most_age_days} days old."
            ), True
        return "", False

    def _listed(self, subject: Subject, index: Index) -> list[Match]:
        found = index.matches(subject.party, least=self.rules.threshold)
        found += _held(index, subject.confirmed, found, "confirmed")
        return [match for match in found if not self.rules.sources or match.source in self.rules.sources]

    def _blocked(self, subject: Subject) -> tuple[list[Match], frozenset[tuple[str, str]]]:
        if self.blocked is None:
            return [], frozenset()
        letters = (to_the_letter(subject.party.name), f"uid:{clean(subject.contact_uid)}")
        by_letter = frozenset(key for letter in letters for key in self.blocked.names.get(letter, ()))
        index = self.blocked.index
        found = index.matches(subject.party, least=self.rules.threshold)
        found += _held(index, by_letter, found, "to the letter")
        found += _held(index, subject.confirmed, found, "confirmed")
        return found, by_letter


def _held(index: Index, entries: Iterable[tuple[str, str]], found: list[Match], why: str) -> list[Match]:
    """Return entries that are matches for another reason than their likeness; those that are no longer listed are not.

    What is equal to the letter counts whole, what a person confirmed needs no likeness.
    """
    known = {(match.source, match.entry_id) for match in found}
    held = []
    for source, entry_id in sorted(set(entries) - known):
        document = index.document(source, entry_id)
        if document is not None:
            name = next((name for name, _ in json.loads(document)["names"]), "")
            score = 1.0 if why == "to the letter" else 0.0
            held.append(Match(source, entry_id, name, name, score, {why: score}, document))
    return held


def _shown(found: list[Match], needed: set[tuple[str, str]]) -> tuple[Match, ...]:
    """Return the best matches, and among them all that are needed, best first."""
    by_need = sorted(found, key=lambda match: ((match.source, match.entry_id) not in needed, -match.score))
    return tuple(sorted(by_need[:_MOST_MATCHES], key=lambda match: -match.score))


def _still_confirmed(subject: Subject, remote: Remote) -> list[Match]:
    """Return what a person confirmed and the server does not find any more: it does not say whether it is delisted."""
    known = {(match.source, match.entry_id) for match in remote.found}
    return [
        Match(source, entry_id, "", "", 0.0, {"confirmed": 0.0}, written(Entry(entry_id=entry_id, names=())))
        for source, entry_id in sorted(subject.confirmed - known)
        if source == remote.name
    ]


def _is_too_old(version: ListVersion, wanted: Rules, now: datetime) -> bool:
    """Tell whether a list was brought up to date longer ago than these rules allow."""
    return datetime.fromisoformat(version.checked_at) < now - timedelta(days=wanted.most_age_days)


def to_the_letter(name: str) -> str:
    """Return a name as block lists compare it: composed, without case, with single blanks and nothing invisible."""
    return unicodedata.normalize("NFC", clean(name)).casefold()


def by_letter(listed: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Return entries by `to_the_letter` of their names, and by `uid:` with the uid they block."""
    found: dict[str, list[tuple[str, str]]] = {}
    for source, document in listed:
        entry: dict[str, Any] = json.loads(document)
        uids = [number for number in entry.get("identifiers", ()) if number.startswith("uid:")]
        for letter in {*(to_the_letter(name) for name, _ in entry["names"]), *uids}:
            found.setdefault(letter, []).append((source, entry["entry_id"]))
    return found
