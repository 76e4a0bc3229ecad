"""How much a word tells in a name: rare ones much, words of trade little. Knows no likeness and no entries."""

import math
from collections.abc import Iterable
from functools import lru_cache

from stammdaten.screening.matching.folding import sound
from stammdaten.screening.matching.parsing import is_general, is_patronymic
from stammdaten.screening.matching.words import is_syllable

LETTER = 0.3  # weight of an initial, the least that any word has
LEFT_OUT = 0.15
_PATRONYMIC = 0.4  # of the weight of a word: what it costs to leave out a patronymic
_SYLLABLE = 0.55  # of the rarity of a word of one syllable: it is shared by more names than the list shows
GENERAL = 0.3  # rarity of a word of trade or place, at most
_NAMES_AT_LEAST = 50_000  # words of a short list are no rarer than those of a long one


class Weights:
    """How rare words are, by their sound: 0 for a word in every name, 1 for one in a single name or none."""

    def __init__(self, shares: dict[str, float]) -> None:
        self._shares = shares
        self.rarity = lru_cache(maxsize=1 << 16)(self._rarity)
        self.total = lru_cache(maxsize=1 << 15)(self._total)

    def _rarity(self, word: str) -> float:
        rare = self._shares.get(sound(word), 1.0)
        if is_general(word):
            return min(rare, GENERAL)
        return _SYLLABLE * rare if is_syllable(word) else rare

    def of(self, word: str) -> float:
        """Return what a word weighs in a name."""
        return 0.35 + 0.65 * self.rarity(word) if len(word) > 1 else LETTER

    def missing(self, word: str) -> float:
        """Return what it weighs that a word is left out: `Group`, `of Russia`, `Petrovich` go without saying."""
        if is_general(word):
            return LEFT_OUT
        return _PATRONYMIC * self.of(word) if is_patronymic(word) else self.of(word)

    def _total(self, words: tuple[str, ...]) -> float:
        return sum(map(self.of, words))


def weights_of(folded: Iterable[str]) -> Weights:
    """Return how rare each word of these names is."""
    counts: dict[str, int] = {}
    total = 0
    for name in folded:
        total += 1
        for heard in set(map(sound, name.split())):
            counts[heard] = counts.get(heard, 0) + 1
    whole = math.log(max(total, _NAMES_AT_LEAST))
    return Weights({heard: 1.0 - math.log(count) / whole for heard, count in counts.items() if count > 1})
