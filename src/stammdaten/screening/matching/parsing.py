"""A folded name taken apart: words that identify, legal form, what is said or left out at will. Knows no scores."""

import re
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from stammdaten.screening.matching.vocabulary import (
    GENERAL_WORDS,
    NAMES_AS_WELL,
    PARTICLES,
    PLACEHOLDERS,
    TITLES,
    WITH_VOWELS,
    forms,
    longest_forms,
)

_PATRONYMIC = re.compile(r"..(?:[aeo][vw](?:[iy]t?s?ch|ic|i[ct]j|itj|itsch|n[ay])|inichna|ogl[uyi]|ogly|kyzy|qizi)$")
_LONG_FORM = 7  # letters: shorter ones are one error away from names
_ROMAN = re.compile(r"[ivx]{1,6}")
_NUMBER = re.compile(r"\d+|\d+(?:st|nd|rd|th)")
# Servant of ...: `Abd al-Rahman`, `Abdul Rahman`, `Abdurrahman` are one name.
_SERVANT = re.compile(r"abd[aeiou]{1,2}[lrsnzt](?=[a-z]{4,})")
_SERVANTS = frozenset(["abd", "abdul", "abdel", "abdal", "abdol", "abdoul", "abdu", "abd", "abdur", "abdus"])
_GOD = frozenset(["abdullah", "abdallah", "abdulla", "abdalla", "abdullahi", "abdollah", "abdulai", "abdullaev"])


class Parsed(NamedTuple):
    """`words` identify, in the order of the name; `forms` are classes of legal forms, `numbers` series and years."""

    key: str  # the folded words, sorted: equal for names that differ in order only
    words: tuple[str, ...]
    fillers: frozenset[str]
    numbers: frozenset[str]
    forms: frozenset[str]
    joined: str  # all but the legal form, without spaces
    written: str  # all, without spaces
    bare: bool  # some word is written without vowels


@lru_cache(maxsize=1 << 15)
def parsed(folded: str) -> Parsed:
    """Take a folded name apart. A name made of nothing but titles, forms and particles keeps them as its words."""
    every = [WITH_VOWELS.get(word, word) for word in folded.split()]
    rest, legal = _without_forms(every)
    fillers = frozenset(word for word in rest if word in PARTICLES or word in TITLES)
    named = [word for word in rest if word not in fillers]
    numbers = frozenset(word for word in named if _is_number(word))
    words = [word for word in named if word not in numbers]
    if not words:
        words, fillers, numbers = named or rest or every, frozenset(), frozenset()
    words = [part for word in words for part in _parts(word)] or words
    return Parsed(
        " ".join(sorted(every)),
        tuple(words),
        fillers,
        numbers,
        legal,
        "".join(rest),
        "".join(every),
        any(map(str.isupper, words)),
    )


def identifies(folded: str) -> bool:
    """Return whether a name holds a word that can tell one party from another."""
    rest, legal = _without_forms(folded.split())
    words = [
        word for word in rest if not word.isdigit() and word not in PLACEHOLDERS and not (legal and word in forms())
    ]
    if any(len(word) > 1 and word not in PARTICLES and word not in TITLES for word in words):
        return True
    if all(len(word) == 1 for word in words):
        return len(words) > len("JP")
    return sum(word in NAMES_AS_WELL for word in words) > 1


def is_general(word: str) -> bool:
    """Return whether a word is shared by so many companies that it tells nothing."""
    return word in GENERAL_WORDS


def is_patronymic(word: str) -> bool:
    """Return whether a word is a father's name, as in Russian, Ukrainian, Azerbaijani."""
    return _PATRONYMIC.search(word) is not None


def _is_number(word: str) -> bool:
    return bool(_NUMBER.fullmatch(word) or (len(word) > 1 and _ROMAN.fullmatch(word) and word not in {"xi", "vi"}))


def _parts(word: str) -> tuple[str, ...]:
    if word in _SERVANTS:
        return ("abd",)
    found = _SERVANT.match(word)
    if found and word not in _GOD:
        return ("abd", word[found.end() :])
    return (word,)


def _without_forms(words: list[str]) -> tuple[list[str], frozenset[str]]:
    known, begun = forms(), longest_forms()
    rest, legal, place = list[str](), set[str](), 0
    while place < len(words):
        for count in range(min(begun.get(words[place], 0), len(words) - place), 0, -1):
            form = known.get(" ".join(words[place : place + count]))
            if form and _stands_as_form(words, place, count):
                legal.add(form)
                place += count
                break
        else:
            rest.append(words[place])
            place += 1
    if len(rest) > 1 and rest[-1] == words[-1]:
        form = _misspelled(rest[-1])
        if form:
            legal.add(form)
            rest.pop()
    return (rest or words, frozenset(legal))


def _stands_as_form(words: list[str], place: int, count: int) -> bool:
    """Return False for one or two letters before the end: `Co`, `S.C.` are rather the beginning of a name."""
    after = place + count
    if len("".join(words[place:after])) > len("AG") or after - place == len(words):
        return True
    return place > 0 and after >= len(words) - 1


@lru_cache(maxsize=1 << 12)
def _misspelled(word: str) -> str:
    """Return the class of a legal form written with an error, as the last word of a name alone."""
    if len(word) == len("ltd"):
        return next((forms()[form] for form in ("ltd", "llc", "inc") if sorted(form) == sorted(word)), "")
    if len(word) < _LONG_FORM:
        return ""
    bound = 2 if len(word) > 2 + _LONG_FORM else 1
    near = (form for form in _long_forms() if OSA.distance(form, word, score_cutoff=bound) <= bound)
    return next((forms()[form] for form in near), "")


@lru_cache(maxsize=1)
def _long_forms() -> list[str]:
    return [form for form in forms() if len(form) >= _LONG_FORM and " " not in form]
