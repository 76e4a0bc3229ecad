"""One party against one listed name: likeness of names, then what else is known. Knows no index and no store."""

import json
from functools import lru_cache
from typing import Any, NamedTuple

from stammdaten.screening.entries import PERSON, WEAK
from stammdaten.screening.matching.context import DEFAULT_THRESHOLD, Known, could_reach, known, weighed
from stammdaten.screening.matching.folding import fold, is_cut
from stammdaten.screening.matching.parsing import Parsed, identifies, parsed
from stammdaten.screening.matching.scoring import compare
from stammdaten.screening.matching.weights import Weights
from stammdaten.screening.parties import Party

ENGINE = "stammdaten-names 1"

_WEAK_ALIAS = 0.02  # what a name costs that the list itself does not rely on


class Asked(NamedTuple):
    """A party made ready for many comparisons."""

    folded: str
    name: Parsed
    about: Known


def asked(party: Party) -> Asked:
    """Make a party ready for comparison."""
    folded = fold(party.name)
    name = parsed(folded)
    return Asked(folded, name, known(party, name))


def comparable(party: Party) -> bool:
    """Return whether the name holds anything to compare, and no more than is looked at; if not, no list can tell."""
    return identifies(fold(party.name)) and not is_cut(party.name)


def similarity(name_a: str, name_b: str, *, kind: str = "") -> tuple[float, dict[str, float]]:
    """Return how alike two names are, from 0 to 1, and what made it, with no lists to tell which words are rare."""
    score, features = compare(parsed(fold(name_a)), parsed(fold(name_b)), _NO_LISTS, kind)
    return round(score, 4), {name: round(value, 4) for name, value in features.items()}


_NO_LISTS = Weights({})


class Judgement(NamedTuple):
    """What came of a comparison: 0 to 1, and the contributions that add up to it."""

    score: float
    features: dict[str, float]


class Bearer(NamedTuple):
    """Who bears a listed name: the entry, and which of its names it is."""

    source: str
    said: dict[str, Any]  # the entry's document, read
    number: int


def alike_by_name(party: Asked, folded: str, weights: Weights, *, least: float) -> Judgement | None:
    """Compare the names alone; None if nothing else that is known could bring them to `least`."""
    that = parsed(folded)
    # What is under the threshold is not lifted by what else is known, see `context`.
    score, features = compare(party.name, that, weights, party.about.kind, min(least, DEFAULT_THRESHOLD))
    if could_reach(score, least) or party.name.key == that.key:
        return Judgement(score, features)
    return None


def could_be(folded: str, other: str, weights: Weights, *, least: float) -> bool:
    """Return whether two names may come to `least`, whoever bears them."""
    one, two = parsed(folded), parsed(other)
    score, _ = compare(one, two, weights, PERSON, min(least, DEFAULT_THRESHOLD))
    return could_reach(score, least) or one.key == two.key


def judged(party: Asked, folded: str, bearer: Bearer, by_name: Judgement) -> Judgement:
    """Return the likeness of names together with what else the party and the entry say."""
    score, features = by_name.score, dict(by_name.features)
    if bearer.said["names"][bearer.number][1] == WEAK:
        features["weak alias"] = -_WEAK_ALIAS
        score -= _WEAK_ALIAS
    same = party.name.key == parsed(folded).key
    return Judgement(*weighed(score, features, party.about, bearer.said, same=same))


@lru_cache(maxsize=1 << 12)
def read(document: str) -> dict[str, Any]:
    """Read an entry's document; entries that are met often are read once."""
    said: dict[str, Any] = json.loads(document)
    return said
