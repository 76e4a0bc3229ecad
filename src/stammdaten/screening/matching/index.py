"""The lists in memory, asked whom a party resembles; contacts, asked whom an entry resembles. Knows no store."""

import json
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from stammdaten.screening.matching.candidates import Candidates
from stammdaten.screening.matching.folding import fold, sound
from stammdaten.screening.matching.judging import Asked, Bearer, Judgement, alike_by_name, asked, could_be, judged, read
from stammdaten.screening.matching.scoring import Weights
from stammdaten.screening.parties import Party

_CANDIDATES = 24  # names by letters, and two thirds as many by consonants: 99.9 % of what all of them would give
_BLOCK = 60
_NAMES_AT_LEAST = 50_000  # words of a short list are no rarer than those of a long one


class Match(NamedTuple):
    """A listed entry that a party resembles, by the best of its names."""

    source: str
    entry_id: str
    name: str  # the entry's first name
    matched_name: str
    score: float  # 0 to 1
    features: dict[str, float]  # what made the score: contributions that add up to it
    document: str


class Index:
    """All lists that are in force, immutable; reading is safe from many threads."""

    def __init__(self, listed: list[tuple[str, str]]) -> None:
        self._listed = listed
        # Values are tuples of plain values: the garbage collector does not walk them, which took 0.3 s at a time.
        self._bearers: dict[str, tuple[tuple[int, int], ...]] = {}
        self._places: dict[tuple[str, str], tuple[int, ...]] = {}
        for place, (source, document) in enumerate(listed):
            said = json.loads(document)
            known_as = (source, said["entry_id"])
            self._places[known_as] = (*self._places.get(known_as, ()), place)
            for number, (name, _) in enumerate(said["names"]):
                folded = fold(name)
                if folded:
                    self._bearers[folded] = (*self._bearers.get(folded, ()), (place, number))
        self._folded = list(self._bearers)
        self._by_key = _by_key(self._folded)
        self._candidates = Candidates(self._folded)
        self.weights = _weights_of(self._folded)
        self.names = sum(map(len, self._bearers.values()))
        self.entries = len(listed)

    @classmethod
    def of(cls, listed: Iterable[tuple[str, str]]) -> Self:
        """Build the index of (source, document) pairs; documents as `entries.written` writes them."""
        return cls(list(listed))

    def matches(self, party: Party, *, least: float, also: Iterable[tuple[str, str]] = ()) -> list[Match]:
        """Return the entries a party resembles, best first, one match each.

        Entries named in `also`, as (source, entry id), are compared whether the index finds them or not.
        """
        this = asked(party)
        if not this.folded:
            return []
        best: dict[int, Match] = {}
        for folded in self.resembling(this.folded):
            by_name = alike_by_name(this, folded, self.weights, least=least)
            if by_name:
                for place, number in self._bearers[folded]:
                    self._keep_better(best, place, number, folded, this, by_name)
        for place in [place for wanted in also for place in self._places.get(wanted, ())]:
            for number, (name, _) in enumerate(read(self._listed[place][1])["names"]):
                by_name = alike_by_name(this, fold(name), self.weights, least=least)
                if by_name:
                    self._keep_better(best, place, number, fold(name), this, by_name)
        found = [match for match in best.values() if match.score >= least]
        return sorted(found, key=lambda match: (-match.score, match.source, match.entry_id))

    def document(self, source: str, entry_id: str) -> str | None:
        """Return an entry, or None if it is on no list."""
        places = self._places.get((source, entry_id))
        return self._listed[places[0]][1] if places else None

    def resembling(self, folded: str) -> dict[str, None]:
        """Return the folded listed names that are compared with this folded name."""
        places = self._candidates.like(folded, most=_CANDIDATES)
        names = dict.fromkeys(self._by_key.get(_key(folded), ()))
        names.update(dict.fromkeys(self._folded[place] for place in places))
        return names

    def _keep_better(  # noqa: PLR0913, PLR0917
        self, best: dict[int, Match], place: int, number: int, folded: str, this: Asked, by_name: Judgement
    ) -> None:
        source, document = self._listed[place]
        said = read(document)
        score, features = judged(this, folded, Bearer(source, said, number), by_name)
        if place not in best or best[place].score < score:
            names = said["names"]
            best[place] = Match(source, said["entry_id"], names[0][0], names[number][0], score, features, document)


class Contacts:
    """The parties of all contacts, immutable: a changed entry is screened against them, not they against all."""

    def __init__(self, parties: Iterable[tuple[int, Party]], weights: Weights | None) -> None:
        self._bearers: dict[str, list[tuple[int, Party]]] = {}
        for contact, party in parties:
            folded = fold(party.name)
            if folded:
                self._bearers.setdefault(folded, []).append((contact, party))
        self._folded = list(self._bearers)
        self._by_key = _by_key(self._folded)
        self._candidates = Candidates(self._folded)
        self._weights = weights or _weights_of(self._folded)

    @classmethod
    def of(cls, parties: Iterable[tuple[int, Party]], weights_from: Index | None) -> Self:
        """Build the index of (contact id, party) pairs, with words as rare as on those lists."""
        return cls(parties, weights_from.weights if weights_from else None)

    def alike(self, document: str, *, least: float) -> list[int]:
        """Return the contacts whose match with this entry comes to `least`, ascending."""
        said = read(document)
        found: set[int] = set()
        for number, (name, _) in enumerate(said["names"]):
            folded = fold(name)
            if folded:
                found.update(self._bearing(folded, Bearer("", said, number), least))
        return sorted(found)

    def _bearing(self, folded: str, bearer: Bearer, least: float) -> Iterator[int]:
        for block in self._blocks(folded):
            any_found = False
            for name in block:
                # Initials count for persons only: what is too little for them is too little for all who bear the name.
                if not could_be(name, folded, self._weights, least=least):
                    continue
                for contact, party in self._bearers[name]:
                    this = asked(party)
                    by_name = alike_by_name(this, folded, self._weights, least=least)
                    if by_name and judged(this, folded, bearer, by_name).score >= least:
                        any_found = True
                        yield contact
            if not any_found:
                return

    def _blocks(self, folded: str) -> Iterator[list[str]]:
        """Give the same names in any order first, then ever less alike ones."""
        same = self._by_key.get(_key(folded), ())
        skip = 0
        while True:
            places = self._candidates.like(folded, most=_BLOCK, skip=skip)
            if not places and skip:
                return
            yield [*same, *(self._folded[place] for place in places)]
            same = ()
            skip += _BLOCK


def _by_key(folded: Iterable[str]) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for name in folded:
        key = _key(name)
        names[key] = (*names.get(key, ()), name)
    return names


def _key(folded: str) -> str:
    return " ".join(sorted(folded.split()))


def _weights_of(folded: Iterable[str]) -> Weights:
    """Return how rare each word of these names is."""
    counts: dict[str, int] = {}
    total = 0
    for name in folded:
        total += 1
        for heard in {sound(word) for word in name.split()}:
            counts[heard] = counts.get(heard, 0) + 1
    whole = math.log(max(total, _NAMES_AT_LEAST))
    return Weights({heard: 1.0 - math.log(count) / whole for heard, count in counts.items() if count > 1})
