"""The lists in memory, asked whom a party resembles. Knows no store."""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from stammdaten.screening.matching.candidates import Names
from stammdaten.screening.matching.folding import fold
from stammdaten.screening.matching.judging import Asked, Bearer, Judgement, alike_by_name, asked, judged, read
from stammdaten.screening.matching.weights import weights_of
from stammdaten.screening.parties import Party

# Most contacts resemble nobody: their first block gives nothing and is the last. Who has a common name gets more.
_BLOCK = 30
_BLOCKS = 8


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
        self._places: dict[tuple[str, str], int] = {}
        bearers: dict[str, list[tuple[int, int]]] = {}
        for place, (source, document) in enumerate(listed):
            said = json.loads(document)
            self._places[source, said["entry_id"]] = place
            for number, (name, _) in enumerate(said["names"]):
                folded = fold(name)
                if folded:
                    bearers.setdefault(folded, []).append((place, number))
        # Tuples of plain values: the garbage collector does not walk them, which took 0.3 s at a time.
        self._bearers = {folded: tuple(places) for folded, places in bearers.items()}
        self._names = Names(list(self._bearers))
        self.weights = weights_of(self._bearers)
        self.names = sum(map(len, self._bearers.values()))
        self.entries = len(listed)

    @classmethod
    def of(cls, listed: Iterable[tuple[str, str]]) -> Self:
        """Build the index of (source, document) pairs; documents as `entries.written` writes them."""
        return cls(list(listed))

    def matches(self, party: Party, *, least: float) -> list[Match]:
        """Return the entries a party resembles with a score of at least `least`, best first, one match each."""
        this = asked(party)
        if not this.folded:
            return []
        best: dict[int, Match] = {}
        for folded, by_name in self._alike_by_name(this, least):
            for place, number in self._bearers[folded]:
                self._keep_better(best, place, number, folded, this, by_name)
        found = [match for match in best.values() if match.score >= least]
        return sorted(found, key=lambda match: (-match.score, match.source, match.entry_id))

    def document(self, source: str, entry_id: str) -> str | None:
        """Return an entry, or None if it is on no list."""
        place = self._places.get((source, entry_id))
        return None if place is None else self._listed[place][1]

    def resembling(self, folded: str) -> list[str]:
        """Return the folded listed names that are compared with this folded name at least."""
        return next(self._names.like(folded, block=_BLOCK, blocks=1), [])

    def _alike_by_name(self, this: Asked, least: float) -> Iterator[tuple[str, Judgement]]:
        for block in self._names.like(this.folded, block=_BLOCK, blocks=_BLOCKS):
            any_found = False
            for folded in block:
                by_name = alike_by_name(this, folded, self.weights, least=least)
                if by_name:
                    any_found = True
                    yield folded, by_name
            if not any_found:
                return

    def _keep_better(  # noqa: PLR0913, PLR0917
        self, best: dict[int, Match], place: int, number: int, folded: str, this: Asked, by_name: Judgement
    ) -> None:
        source, document = self._listed[place]
        said = read(document)
        score, features = judged(this, folded, Bearer(source, said, number), by_name)
        if place not in best or best[place].score < score:
            names = said["names"]
            best[place] = Match(source, said["entry_id"], names[0][0], names[number][0], score, features, document)
