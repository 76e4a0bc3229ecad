"""How alike two names are, from 0 to 1, and why. Knows the names alone: no lists, no countries, no thresholds."""

import math
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from stammdaten.screening.matching.folding import skeleton, sound
from stammdaten.screening.matching.given_names import nickname, same_name
from stammdaten.screening.matching.parsing import Parsed, is_general
from stammdaten.screening.matching.vocabulary import same_word

PERSON = "person"
ORGANISATION = "organisation"
_MOST_REST = 14  # words without an equal that are compared with each other: keeps time linear in the length of names

_JOINED = 0.97
_SPELLED = 0.97
_SOUNDS = 0.95
_CALLED = 0.9
_CONSONANTS = (0.0, 0.6, 0.78, 0.88, 0.93)  # by their number: the fewer, the more names share them
_VOWELS = 0.75  # of the cost of an error that leaves the consonants as they are
_UNLIKE_SOUND = 0.35  # of an error: words that differ in writing more than in sound
_LEAST_JOINED = 0.75
_UNEVEN = 3  # letters
_INITIAL = 0.86
_DOUBTFUL = 0.8  # below it, likeness fades faster
_GENERAL = 0.3  # rarity of a word of trade or place, at most
_LEAST = 0.55


class Weights:
    """How rare words are, by their sound: 0 for a word in every name, 1 for one in a single name or none."""

    def __init__(self, shares: dict[str, float]) -> None:
        self._shares = shares
        self.rarity = lru_cache(maxsize=1 << 16)(self._rarity)

    def _rarity(self, word: str) -> float:
        rare = self._shares.get(sound(word), 1.0)
        return min(rare, _GENERAL) if is_general(word) else rare

    def of(self, word: str) -> float:
        """Return what a word weighs in a name."""
        return 0.35 + 0.65 * self.rarity(word) if len(word) > 1 else 0.3


class Alignment(NamedTuple):
    """What the comparison of the words came to. Weights are sums over words."""

    whole: float  # weight of the shorter name
    longer: float
    loss: float  # what aligned words differ by
    open_a: float  # weight of words without a counterpart
    open_b: float
    known: float  # how much the aligned words tell
    aligned: int


@lru_cache(maxsize=1 << 17)
def alike(word: str, other: str) -> float:
    """Return how alike two words are: 1 for the same, 0 below what could be one name."""
    if word == other:
        return 1.0
    if word.isupper() != other.isupper():
        return _across_scripts(word, other) if word.isupper() else _across_scripts(other, word)
    if same_name(word, other) or same_word(word, other):
        return _SPELLED
    if nickname(word, other):
        return _CALLED
    heard, said = sound(word), sound(other)
    length = max(len(word), len(other))
    if heard == said:
        return _SOUNDS if length > 3 else 0.85
    if word.isdigit() or other.isdigit():
        return 0.0
    bound = 0 if length < 3 else 1 if length < 6 else 2 if length < 10 else 3
    ends_differ = heard[0] != said[0] and heard[-1] != said[-1] and word[0] != other[0] and word[-1] != other[-1]
    if ends_differ or abs(len(word) - len(other)) > bound + 1:
        return 0.0
    distance: float = OSA.distance(word, other, score_cutoff=bound)
    if distance and min(len(heard), len(said)) > 2:
        distance = min(distance, OSA.distance(heard, said, score_cutoff=bound) + _UNLIKE_SOUND)
    if distance > bound + _UNLIKE_SOUND:
        return 0.0
    share = distance / length
    if len(skeleton(word)) > 1 and skeleton(word) == skeleton(other):
        share *= _VOWELS
    first = 0.04 if heard[:1] != said[:1] and length < 6 else 0.0
    result = 1.0 - share - first
    if result < _DOUBTFUL:
        result -= 0.5 * (_DOUBTFUL - result)
    return result if result >= _LEAST else 0.0


def _across_scripts(bare: str, word: str) -> float:
    """Compare a word that was written without vowels with one that has them."""
    bones, other = skeleton(bare), skeleton(word)
    length = max(len(bones), len(other))
    if bones == other:
        result = _CONSONANTS[min(length, len(_CONSONANTS) - 1)]
    elif length > 3 and OSA.distance(bones, other, score_cutoff=1) == 1:
        result = 0.95 - 1.0 / length
    else:
        return 0.0
    # Long vowels are written, as consonants: where one is, the other word must have a vowel of that sort.
    strange = max(0, bare.count("Y") - sum(map(word.count, "iyej"))) + max(
        0, bare.count("W") - sum(map(word.count, "ouwv"))
    )
    strange += abs(bare.replace("SH", "S").replace("KH", "K")[:-1].count("H") > 0) != (
        "h" in word[:-1].replace("sh", "").replace("kh", "")
    )
    result -= 0.1 * strange
    return result if result >= _LEAST else 0.0


def align(a: Parsed, b: Parsed, weights: Weights, kind: str) -> Alignment:
    """Pair the words of two names, each at most once: equal ones, joined and split ones, then the most alike."""
    open_a, open_b = list(a.words), list(b.words)
    loss = known = 0.0
    aligned = 0
    for word in a.words:
        if word in open_b:
            open_a.remove(word)
            open_b.remove(word)
            known += weights.rarity(word)
            aligned += 1
    if open_a and open_b:
        for likeness, words, others in _pairs(a, b, open_a[:_MOST_REST], open_b[:_MOST_REST], kind):
            if not _all_in(words, open_a) or not _all_in(others, open_b):
                continue
            for word in words:
                open_a.remove(word)
            for word in others:
                open_b.remove(word)
            loss += (sum(map(weights.of, words)) + sum(map(weights.of, others))) / 2 * (1.0 - likeness)
            known += likeness * max(min(map(weights.rarity, words)), min(map(weights.rarity, others)))
            aligned += max(len(words), len(others))
    one, two = sum(map(weights.of, a.words)), sum(map(weights.of, b.words))
    rest_a, rest_b = sum(map(weights.of, open_a)), sum(map(weights.of, open_b))
    return Alignment(min(one, two), max(one, two), loss, rest_a, rest_b, known, aligned)


def _all_in(words: tuple[str, ...], others: list[str]) -> bool:
    if len(words) == 1:
        return words[0] in others
    return all(others.count(word) >= words.count(word) for word in words)


_Pair = tuple[float, tuple[str, ...], tuple[str, ...]]


def _pairs(a: Parsed, b: Parsed, rest_a: list[str], rest_b: list[str], kind: str) -> list[_Pair]:
    """Return which words may stand for which, the most alike first."""
    pairs: list[_Pair] = []
    for word in rest_a:
        for other in rest_b:
            likeness = alike(word, other) if len(word) > 1 and len(other) > 1 else _initial(word, other, kind)
            if likeness:
                pairs.append((likeness, (word,), (other,)))
    if len(rest_a) > 1:
        pairs += [(likeness, words, (other,)) for likeness, words, other in _joined(a.words, rest_a, rest_b)]
    if len(rest_b) > 1:
        pairs += [(likeness, (word,), others) for likeness, others, word in _joined(b.words, rest_b, rest_a)]
    if len(pairs) > 1:
        pairs.sort(key=_best_first)
    return pairs


def _best_first(pair: _Pair) -> tuple[float, int, tuple[str, ...], tuple[str, ...]]:
    likeness, words, others = pair
    return (-likeness, -len(words) - len(others), words, others)


def _initial(word: str, other: str, kind: str) -> float:
    if word[0] != other[0] or kind == ORGANISATION or word.isdigit():
        return 0.0
    return 1.0 if word == other else _INITIAL


def _joined(words: tuple[str, ...], rest: list[str], others: list[str]) -> list[tuple[float, tuple[str, ...], str]]:
    """Return neighbouring words that together are one word of the other name."""
    found = []
    waiting = set(rest)
    for other in others:
        for start in range(min(len(words), 2 * _MOST_REST) - 1):
            if words[start][0] != other[0] or words[start] not in waiting:
                continue
            for count in (2, 3):
                together = words[start : start + count]
                text = "".join(together)
                if abs(len(other) - len(text)) <= _UNEVEN and waiting.issuperset(together):
                    likeness = _JOINED * alike(text, other)
                    if likeness >= _LEAST_JOINED:
                        found.append((likeness, together, other))
    return found


def compare(a: Parsed, b: Parsed, weights: Weights, kind: str = "") -> tuple[float, dict[str, float]]:
    """Return how alike two names are and what made it: contributions that begin at 1 and are negative after it."""
    if a.forms or b.forms:
        kind = kind or ORGANISATION
    found = align(a, b, weights, kind)
    whole = _whole(a, b)
    if not found.aligned and not whole:
        return 0.0, {}
    one, two = found.open_a, found.open_b
    features = {
        "words": 1.0,
        "spelling": -found.loss / (found.whole or 1.0),
        "contradicting words": -_contradiction(found, min(one, two)),
        "missing words": -_missing(found, abs(one - two)),
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


def _contradiction(found: Alignment, weight: float) -> float:
    """Each name has a word that the other lacks: rather another one of the family, or of the companies of the place."""
    if weight <= 0:
        return 0.0
    return min(1.0, 0.18 * min(1.0, weight / 0.5) + 0.6 * weight / found.whole)


def _missing(found: Alignment, weight: float) -> float:
    """One name is longer. Patronymics and second surnames are left out at will, but one word alone is no name."""
    if weight <= 0.01:
        return 0.0
    share = weight / found.longer
    return share * (0.25 + 0.5 * math.exp(-1.1 * found.known)) + (0.12 if found.aligned < 2 else 0.0)


def _numbers(a: Parsed, b: Parsed) -> float:
    if a.numbers == b.numbers:
        return 0.0
    return 0.06 if a.numbers and b.numbers else 0.04


def _whole(a: Parsed, b: Parsed) -> float:
    """Return how alike the names are without the spaces between words."""
    if a.numbers != b.numbers:
        return 0.0
    return max(
        _run_together(a.joined, b.joined) - (0.05 if a.forms.isdisjoint(b.forms) and a.forms and b.forms else 0.0),
        _run_together(a.written, b.written),
    )


def _run_together(text: str, other: str) -> float:
    length = max(len(text), len(other))
    if length < 5:
        return 0.0
    bound = min(2, length // 6)
    distance = OSA.distance(text, other, score_cutoff=bound)
    return 0.0 if distance > bound else 0.98 - 2.0 * distance / length
