"""Text to comparable words: any script to plain letters, then to sound and consonants. Knows no names and no lists.

A word in capitals was written without its vowels (Arabic, Persian, Hebrew): only its consonants can be compared.
"""

import re
import unicodedata
from functools import lru_cache

from anyascii import anyascii

LONGEST = 600  # characters of a name that are looked at: contacts hold 511, and time must not grow with a listed text
MOST_WORDS = 48

_SYMBOLS = {"So", "Sc", "Sm", "Co", "Cn"}
_LONGEST_SYMBOL = 2
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]+")
# Seen by nobody, or vowel signs that most writers leave out: they must not make a name another one.
_UNSEEN = re.compile(
    r"[\u00ad\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+"
)
# Apostrophes and signs for hamza and ayn stand inside of words and go; so do marks of letters lost on the way.
_WITHIN_WORDS = re.compile(r"(?<=\w)[?](?=\w)|['`]")
_SYLLABLES = re.compile(r"[\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]+")
_ABJAD = re.compile(r"([\u0590-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)")
_ARTICLE = re.compile(r"(?<!\w)\u0627\u0644(?=\w\w)")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORDS = re.compile(r"[A-Za-z0-9]+")
_DIGITS_AS_LETTERS = str.maketrans("013589", "olesbg")
_AMPERSAND = re.compile(r"&|(?<=\w )\+(?= \w)")

# In this order: longer spellings of a sound before the shorter ones that they contain.
_SPELLINGS = """
    jew=yev jev=yev jow=yov jov=yov jk=yk
    shch=s tsch=c tch=c sch=s sh=s sz=s cz=c dzh=j zh=j dj=j ch=c kh=h gh=g ph=f th=t dh=d ck=k que=ke qui=ki
    q=k x=ks w=v tz=s ts=s z=s ca=ka co=ku cu=ku cl=kl cr=kr ct=kt aa=a ae=a oe=o ue=u ou=u oo=u ee=i iyi=i
    ayi=i aye=i aie=i ai=i ay=i ey=i ei=i ej=i ij=i ie=i ye=i yi=i iy=i ii=i y=i o=u e=i
"""
_SOUNDS = [tuple(pair.split("=")) for pair in _SPELLINGS.split()]
_DOUBLED = re.compile(r"(.)\1+")
_DIN = re.compile(r"(?<=..)(?:[aiu]l?d?|)din$")
_SKELETON = str.maketrans("pvfgqcz", "bbbjkks", "aeiouyh")


def fold(text: str) -> str:
    """Return the words of a text in plain lower-case letters, one space between them; "" if it holds none."""
    text = text[:LONGEST]
    if text.isascii():
        text = text.lower()
    else:
        text = _NOT_TEXT.sub(" ", _UNSEEN.sub("", text))
        # Else anyascii would spell them out, and an emoji would be a name.
        text = "".join(map(_without_symbol, text))
        text = _SYLLABLES.sub(_separated, text).lower()
        text = _ARTICLE.sub("\u0627\u0644 ", text)
        pieces = _ABJAD.split(text)
        text = "".join(
            anyascii(piece).upper() if place % 2 else anyascii(piece).lower() for place, piece in enumerate(pieces)
        )[: 2 * LONGEST]
    text = _WITHIN_WORDS.sub("", _AMPERSAND.sub(" and ", text))
    return " ".join(_WORDS.findall(text)[:MOST_WORDS])


def is_cut(text: str) -> bool:
    """Return whether a text has more words, or characters, than are looked at: who hides in it would not be found."""
    return len(text) > LONGEST or fold(text).count(" ") >= MOST_WORDS - 1


@lru_cache(maxsize=1 << 12)
def _without_symbol(character: str) -> str:
    if character.isascii() or unicodedata.category(character) not in _SYMBOLS:
        return character
    # Letters in circles and squares are letters all the same.
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isalpha() and len(plain) <= _LONGEST_SYMBOL else " "


def _separated(found: re.Match[str]) -> str:
    """Write each syllable of Chinese and Korean as a word: nothing else tells where names begin."""
    return f" {_CAPITAL.sub(' ', anyascii(found[0]))} "


@lru_cache(maxsize=1 << 16)
def sound(word: str) -> str:
    """Return how a word sounds, roughly and in any language, so that spellings of one name meet."""
    if word.isupper():
        return word
    if not word.isalpha():
        if word.isdigit():
            return word
        word = word.translate(_DIGITS_AS_LETTERS)
    for spelling, heard in _SOUNDS:
        if spelling in word:
            word = word.replace(spelling, heard)
    if word[:1] == "c" and word[1:2] not in {"", "i"}:
        word = "k" + word[1:]
    if len(word) > 1 and word[-1] == "h":
        word = word[:-1]
    return _DIN.sub("udin", _DOUBLED.sub(r"\1", word))


@lru_cache(maxsize=1 << 16)
def skeleton(word: str) -> str:
    """Return the consonants of a word; those that scripts and languages mix up are one class."""
    plain = word.lower().replace("w", "") if word.isupper() else word.replace("w", "v")
    plain = plain.replace("zh", "j").replace("sh", "s").replace("tz", "s").replace("ts", "s").replace("x", "ks")
    return _DOUBLED.sub(r"\1", plain.translate(_SKELETON))
