"""How alike two words are, from 0 to 1: spelling, sound, consonants, vocabulary. Knows no whole names, no lists."""

import re
from functools import lru_cache

from rapidfuzz.distance import OSA

from stammdaten.screening.matching.folding import skeleton, sound
from stammdaten.screening.matching.given_names import nickname, same_name, variants
from stammdaten.screening.matching.vocabulary import same_word, word_group

SPELLED = 0.97  # the same name in another language or spelling
_SOUNDS = 0.95
_SHORT_SOUNDS = 0.85
_CALLED = 0.9
_BARE = (0.0, 0.6, 0.82, 0.9, 0.94)  # by the number of equal consonants: the fewer, the more names share them
_SYLLABLE = re.compile(r"[b-df-hj-np-tv-z]{0,3}[aeiouyw]{1,3}[b-df-hj-np-tv-z]{0,2}")
_STRANGE = 0.1
_LEAST = 0.55
_DOUBTFUL = 0.8  # below it, likeness fades faster
_FADING = 0.5
_UNLIKE_SOUND = 0.35  # of an error: words that differ in writing more than in sound
# Of the cost of an error: one that leaves the consonants as they are, swaps letters, or reads a letter as a digit.
SLIP = 0.75
_OTHER_SYLLABLE = 0.1  # Chinese and Korean names are made of few syllables: another letter is another name
_SHORT = 3  # letters
_LENGTHS = ((3, 0), (6, 1), (10, 2))  # shorter than so many letters: at most so many errors
_MOST_ERRORS = 3


@lru_cache(maxsize=1 << 16)
def marks(word: str) -> frozenset[str]:
    """Return beginnings, ends and known groups of a word: words without any in common need not be compared.

    An error rarely hits both the beginning and the end. Of no use for words without vowels.
    """
    heard = sound(word)
    return frozenset((word[0], heard[:1], word[-2:], heard[-2:])) | variants(word) | word_group(word)


@lru_cache(maxsize=1 << 16)
def alike(word: str, other: str) -> float:
    """Return how alike two words are: 1 for the same, 0 below what could be one name."""
    if word == other:
        return 1.0
    if word.isupper() != other.isupper():
        result = _across_scripts(word, other) if word.isupper() else _across_scripts(other, word)
    elif same_name(word, other) or same_word(word, other):
        result = SPELLED
    elif nickname(word, other):
        result = _CALLED
    elif word.isdigit() or other.isdigit():
        result = 0.0
    else:
        result = _by_letters(word, other)
    return result if result >= _LEAST else 0.0


def _by_letters(word: str, other: str) -> float:
    heard, said = sound(word), sound(other)
    length = max(len(word), len(other))
    if heard == said:
        return _SOUNDS if length > _SHORT else _SHORT_SOUNDS
    bound = next((errors for limit, errors in _LENGTHS if length < limit), _MOST_ERRORS)
    if abs(len(word) - len(other)) > bound + 1:
        return 0.0
    distance: float = OSA.distance(word, other, score_cutoff=bound)
    if distance and min(len(heard), len(said)) >= _SHORT:
        distance = min(distance, OSA.distance(heard, said, score_cutoff=bound) + _UNLIKE_SOUND)
    if distance > bound + _UNLIKE_SOUND:
        return 0.0
    share = distance / length
    bones = skeleton(word)
    if (
        (len(bones) > 1 and bones == skeleton(other))
        or sorted(word) == sorted(other)
        or word.isalpha() != other.isalpha()
    ):
        share *= SLIP
    elif is_syllable(word) and is_syllable(other):
        share += _OTHER_SYLLABLE
    if heard[:1] != said[:1] and length < _LENGTHS[1][0]:
        share += 0.04
    likeness = 1.0 - share
    return likeness - _FADING * max(0.0, _DOUBTFUL - likeness)


@lru_cache(maxsize=1 << 16)
def is_syllable(word: str) -> bool:
    """Return whether a word is one short syllable, as those of which Chinese and Korean names are made."""
    return _SYLLABLE.fullmatch(word) is not None


def _across_scripts(bare: str, word: str) -> float:
    """Compare a word that was written without vowels with one that has them."""
    bones, other = skeleton(bare), skeleton(word)
    length = max(len(bones), len(other))
    if bones == other:
        likeness = _BARE[min(length, len(_BARE) - 1)]
    elif length > _SHORT and OSA.distance(bones, other, score_cutoff=1) == 1:
        likeness = 0.95 - 1.0 / length
    else:
        return 0.0
    return likeness - _STRANGE * _strange(bare, word)


def _strange(bare: str, word: str) -> int:
    """Count what speaks against: long vowels are written as consonants, so the other word must have such vowels."""
    without_y = max(0, bare.count("Y") - sum(map(word.count, "iyej")))
    without_w = max(0, bare.count("W") - sum(map(word.count, "ouwv")))
    breathed = "H" in bare[:-1].replace("SH", "").replace("KH", "")
    return without_y + without_w + (breathed != ("h" in word[:-1].replace("sh", "").replace("kh", "")))
