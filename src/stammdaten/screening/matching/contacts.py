"""Contacts in memory, asked whom a listed entry resembles. Knows no store."""

from collections.abc import Iterable, Iterator
from typing import Self

from stammdaten.screening.matching.candidates import Names
from stammdaten.screening.matching.folding import fold
from stammdaten.screening.matching.index import Index
from stammdaten.screening.matching.judging import Bearer, alike_by_name, asked, could_be, judged, read
from stammdaten.screening.matching.weights import Weights, weights_of
from stammdaten.screening.parties import Party

_BLOCK = 60  # with 40, two of 151 matches were lost that the contacts' own check gives; with 60 none
_BLOCKS = 1_000  # a common name may be that of thousands, and none of them may be lost


class Contacts:
    """The parties of all contacts, immutable: a changed entry is screened against them, not they against all."""

    def __init__(self, parties: Iterable[tuple[int, Party]], weights: Weights | None) -> None:
        self._bearers: dict[str, list[tuple[int, Party]]] = {}
        for contact, party in parties:
            folded = fold(party.name)
            if folded:
                self._bearers.setdefault(folded, []).append((contact, party))
        self._names = Names(list(self._bearers))
        self._weights = weights or weights_of(self._bearers)

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
        for block in self._names.like(folded, block=_BLOCK, blocks=_BLOCKS):
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
