"""How alike two names are, from 0 to 1, and why. Knows the names alone: no lists, no countries, no thresholds."""

import math
from typing import NamedTuple

from rapidfuzz.distance import OSA

from stammdaten.screening.entries import ORGANISATION
from stammdaten.screening.matching.folding import skeleton
from stammdaten.screening.matching.parsing import Parsed
from stammdaten.screening.matching.vocabulary import TITLES
from stammdaten.screening.matching.weights import GENERAL, LEFT_OUT, LETTER, Weights
from stammdaten.screening.matching.words import SLIP, alike, is_syllable, marks

_MOST_REST = 14  # words without an equal that are compared with each other: keeps time linear in the length of names

_ONE_WORD = 0.12  # what it costs that one word alone was found of a longer name
_JOINED = 0.97
_LEAST_JOINED = 0.75
_UNEVEN = 3  # letters
_LONGEST_FORM = 40  # letters
_SYLLABLES_OF_A_NAME = 3
_ADDED_SYLLABLES = 0.07
_LEAST_TOGETHER = 5  # letters of a name that is compared without its spaces
_INITIAL = 0.86


class Alignment(NamedTuple):
    """What the comparison of the words came to. Weights are sums over words."""

    whole: float  # weight of the shorter name
    longer: float
    loss: float  # what aligned words differ by
    open_a: float  # weight of words without a counterpart
    open_b: float
    missing: float  # weight of words that only one name has
    known: float  # how much the aligned words tell
    aligned: int


class _Rest(NamedTuple):
    """The words without an equal in the other name, and the pairs of them that are worth a comparison."""

    a: list[str]
    b: list[str]
    possible: list[tuple[str, str]]


def _rest(a: Parsed, b: Parsed) -> _Rest:
    rest_a, rest_b = list(a.words), list(b.words)
    for word in a.words:
        if word in rest_b:
            rest_a.remove(word)
            rest_b.remove(word)
    rest_a, rest_b = rest_a[:_MOST_REST], rest_b[:_MOST_REST]
    if a.bare or b.bare:
        return _Rest(rest_a, rest_b, [(word, other) for word in rest_a for other in rest_b])
    marked = [(other, marks(other)) for other in rest_b]
    possible = []
    for word in rest_a:
        here = marks(word)
        for other, there in marked:
            if not here.isdisjoint(there):
                possible.append((word, other))
    return _Rest(rest_a, rest_b, possible)


def _hopeless(rest: _Rest, weights: Weights, whole: float, least: float) -> bool:
    """Return whether words that can have no counterpart, in both names, decide already."""
    lost_a, lost_b = set(rest.a), set(rest.b)
    for word, other in rest.possible:
        if _may_join(word, other):
            return False
        lost_a.discard(word)
        lost_b.discard(other)
    if not lost_a or not lost_b:
        return False
    if 1.0 - _contradiction(LETTER * min(len(lost_a), len(lost_b)), whole) < least:
        return True
    lost = min(sum(map(weights.of, lost_a)), sum(map(weights.of, lost_b)))
    return 1.0 - _contradiction(lost, whole) < least


def align(a: Parsed, b: Parsed, rest: _Rest, weights: Weights, kind: str) -> Alignment:
    """Pair the words of two names, each at most once: equal ones, joined and split ones, then the most alike."""
    one, two = weights.total(a.words), weights.total(b.words)
    open_a, open_b = list(a.words), list(b.words)
    loss = known = 0.0
    aligned = 0
    for word in a.words:
        if word in open_b:
            open_a.remove(word)
            open_b.remove(word)
            known += weights.rarity(word)
            aligned += 1
    for likeness, words, others in _pairs(a, b, rest, kind):
        if not _all_in(words, open_a) or not _all_in(others, open_b):
            continue
        for word in words:
            open_a.remove(word)
        for word in others:
            open_b.remove(word)
        loss += (sum(map(weights.of, words)) + sum(map(weights.of, others))) / 2 * (1.0 - likeness)
        known += likeness * max(min(map(weights.rarity, words)), min(map(weights.rarity, others)))
        aligned += max(len(words), len(others))
    rest_a, rest_b = sum(map(weights.of, open_a)), sum(map(weights.of, open_b))
    missing = abs(sum(map(weights.missing, open_a)) - sum(map(weights.missing, open_b)))
    return Alignment(min(one, two), max(one, two), loss, rest_a, rest_b, missing, known, aligned)


def _all_in(words: tuple[str, ...], others: list[str]) -> bool:
    if len(words) == 1:
        return words[0] in others
    return all(others.count(word) >= words.count(word) for word in words)


_Pair = tuple[float, tuple[str, ...], tuple[str, ...]]


def _pairs(a: Parsed, b: Parsed, rest: _Rest, kind: str) -> list[_Pair]:
    """Return which words may stand for which, the most alike first."""
    pairs: list[_Pair] = []
    for word, other in rest.possible:
        likeness = _likeness(word, other, kind)
        if likeness:
            pairs.append((likeness, (word,), (other,)))
    bare = a.bare or b.bare
    if len(rest.a) > 1 and rest.b:
        pairs += [(likeness, words, (other,)) for likeness, words, other in _joined(a.words, rest.a, rest.b, bare=bare)]
    if len(rest.b) > 1 and rest.a:
        pairs += [(likeness, (word,), others) for likeness, others, word in _joined(b.words, rest.b, rest.a, bare=bare)]
    if len(pairs) > 1:
        pairs.sort(key=_best_first)
    return pairs


_FIRST_LETTERS = str.maketrans("wyej", "vjjj")


def _best_first(pair: _Pair) -> tuple[float, int, tuple[str, ...], tuple[str, ...]]:
    likeness, words, others = pair
    return (-likeness, -len(words) - len(others), words, others)


def _may_join(word: str, other: str) -> bool:
    """Return whether one of two words may be the beginning of the other."""
    return word[:2] == other[:2] and abs(len(word) - len(other)) > 1


def _likeness(word: str, other: str, kind: str) -> float:
    return alike(word, other) if len(word) > 1 and len(other) > 1 else _initial(word, other, kind)


def _initial(word: str, other: str, kind: str) -> float:
    if kind == ORGANISATION or word.isdigit() or _begins(word) != _begins(other):
        return 0.0
    return 1.0 if word == other else _INITIAL


def _begins(word: str) -> str:
    """Return the first letter as transliterations share it: Wladimir is Vladimir, Jewgeni is Evgeny."""
    return word[0].translate(_FIRST_LETTERS)


def _joined(
    words: tuple[str, ...], rest: list[str], others: list[str], *, bare: bool
) -> list[tuple[float, tuple[str, ...], str]]:
    """Return neighbouring words that together are one word of the other name."""
    begun = {skeleton(other)[:1] if bare else other[:2] for other in others}
    found = []
    for start, word in enumerate(words[: 2 * _MOST_REST]):
        if (skeleton(word)[:1] if bare else word[:2]) not in begun or word not in rest:
            continue
        for count in (2, 3):
            together = words[start : start + count]
            text = "".join(together)
            if len(together) < count or not _all_in(together, rest):
                break
            for other in others:
                if bare or (word[:2] == other[:2] and abs(len(other) - len(text)) <= _UNEVEN):
                    likeness = _JOINED * alike(text, other)
                    if likeness >= _LEAST_JOINED:
                        found.append((likeness, together, other))
    return found


def compare(
    a: Parsed, b: Parsed, weights: Weights, kind: str = "", least: float = 0.0
) -> tuple[float, dict[str, float]]:
    """Return how alike two names are and what made it: contributions that begin at 1 and are negative after it.

    Names that certainly stay under `least` may be given 0.
    """
    if a.forms or b.forms:
        kind = kind or ORGANISATION
    whole = _whole(a, b)
    rest = _rest(a, b)
    if not whole and rest.a and rest.b:
        shorter = min(weights.total(a.words), weights.total(b.words))
        if _hopeless(rest, weights, shorter, least):
            return 0.0, {}
        rest = rest._replace(possible=[pair for pair in rest.possible if _likeness(*pair, kind) or _may_join(*pair)])
        if _hopeless(rest, weights, shorter, least):
            return 0.0, {}
    found = align(a, b, rest, weights, kind)
    if not (found.aligned or whole):
        return 0.0, {}
    titles = TITLES & a.fillers & b.fillers
    found = found._replace(aligned=found.aligned + len(titles), known=found.known + GENERAL * len(titles))
    one, two = found.open_a, found.open_b
    features = {
        "words": 1.0,
        "spelling": -found.loss / (found.whole or 1.0),
        "contradicting words": -_contradiction(min(one, two), found.whole),
        "missing words": -_missing(found) - _missing_syllables(a, b),
        "numbers": -_numbers(a, b),
        "legal form": -0.05 if a.forms and b.forms and a.forms.isdisjoint(b.forms) else 0.0,
        "order": 0.0 if a.key == b.key else -0.01,
    }
    raw = sum(features.values())
    if whole > raw:
        features = {"words": 1.0, "spelling of the whole": whole - 1.0}
        raw = whole
        found = found._replace(
            known=max(found.known, min(sum(map(weights.rarity, a.words)), sum(map(weights.rarity, b.words))))
        )
    features["common words"] = -raw * 0.15 * math.exp(-1.3 * found.known)
    return max(0.0, min(1.0, raw + features["common words"])), {
        name: value for name, value in features.items() if value
    }


def _contradiction(weight: float, whole: float) -> float:
    """Each name has a word that the other lacks: rather another one of the family, or of the companies of the place."""
    if weight <= 0:
        return 0.0
    return min(1.0, 0.18 * min(1.0, weight / 0.5) + 0.6 * weight / whole)


def _missing(found: Alignment) -> float:
    """One name is longer. Patronymics and second surnames are left out at will, but one word alone is no name."""
    if not found.missing:
        return 0.0
    alone = found.aligned == 1 and (found.missing > LEFT_OUT or found.known <= GENERAL)
    share = found.missing / found.longer
    return share * (0.25 + 0.5 * math.exp(-1.1 * found.known)) + (_ONE_WORD if alone else 0.0)


def _missing_syllables(a: Parsed, b: Parsed) -> float:
    """Chinese and Korean names have no middle names: with other syllables added it is another name."""
    fewer = min(len(a.words), len(b.words))
    if fewer < _SYLLABLES_OF_A_NAME or len(a.words) == len(b.words) or not all(map(is_syllable, (*a.words, *b.words))):
        return 0.0
    return _ADDED_SYLLABLES


def _numbers(a: Parsed, b: Parsed) -> float:
    if a.numbers == b.numbers:
        return 0.0
    return 0.06 if a.numbers and b.numbers else 0.04


def _whole(a: Parsed, b: Parsed) -> float:
    """Return how alike the names are without the spaces between words."""
    if abs(len(a.written) - len(b.written)) > _LONGEST_FORM or a.numbers != b.numbers:
        return 0.0
    other_form = 0.05 if a.forms and b.forms and a.forms.isdisjoint(b.forms) else 0.0
    return max(_run_together(a.joined, b.joined) - other_form, _run_together(a.written, b.written))


def _run_together(text: str, other: str) -> float:
    length = max(len(text), len(other))
    bound = min(2, length // 6)
    if length < _LEAST_TOGETHER or abs(len(text) - len(other)) > bound:
        return 0.0
    distance = OSA.distance(text, other, score_cutoff=bound)
    if distance > bound:
        return 0.0
    cost = SLIP if sorted(text) == sorted(other) else 1.0
    return 0.98 - 2.0 * cost * distance / length
