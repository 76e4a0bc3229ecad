"""An entry while it is put together: cleans what a list says and drops what says nothing; knows no format."""

import re
from collections.abc import Iterable

from stammdaten.screening.countries import country_code
from stammdaten.screening.entries import ORIGINAL, PERSON, STRONG, WEAK, Entry, Name
from stammdaten.screening.sources.reading import Reading

_LONGEST_NAME = 1_000
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# Controls, lone surrogates, and the marks that turn the direction of text round or hide in it. The joiners U+200C
# and U+200D stay: Persian and Indian scripts write with them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_LATIN = re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff]")
_URL = re.compile(r"https?://[^\s<>\"'`\\]+")
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)", re.ASCII)
_SPAN = re.compile(r"\b(?:to|between)\b|\d{4}\s*[-\u2013]\s*\d{4}")
_LONGEST_SPAN = 30
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?!\d)", re.ASCII)
_SLASHED_DATE = re.compile(r"(\d\d?)/(\d\d?)/(\d{4})(?!\d)", re.ASCII)
_WORDED_DATE = re.compile(r"(\d\d?)[ -]([A-Za-z]{3})[a-z]*[ -](\d{4})(?!\d)", re.ASCII)


def clean(text: str | None) -> str:
    """Return the text on one line, single-spaced, without control characters and lone surrogates."""
    if not text:
        return ""
    if not (text.isascii() and text.isprintable()):
        text = _INVISIBLE.sub("", text)
    return " ".join(text.split())


def years(text: str) -> list[int]:
    """Return the years from 1800 to 2099 that stand in a text; of a span of up to 30 years all of them."""
    found = [int(year) for year in _YEAR.findall(text)]
    if len(found) == 2 and 0 < found[1] - found[0] <= _LONGEST_SPAN and _SPAN.search(text):  # noqa: PLR2004 - from, to
        return list(range(found[0], found[1] + 1))
    return found


def iso_date(text: str, *, month_first: bool = False) -> str:
    """Return the date at the start of a text as `YYYY-MM-DD`, empty if there is none.

    Understood are `2024-05-07`, `07/05/2024` (`05/07/2024` where the month stands first) and `7-May-2024`.
    """
    text = text.strip()
    if found := _ISO_DATE.match(text):
        year, month, day = found.groups()
    elif found := _SLASHED_DATE.match(text):
        day, month, year = found.groups()
        if month_first:
            day, month = month, day
    elif found := _WORDED_DATE.match(text):
        day, word, year = found.groups()
        month = str(_MONTHS.index(word.lower()) + 1) if word.lower() in _MONTHS else "0"
    else:
        return ""
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):  # noqa: PLR2004 - months of a year, days of a month
        return ""
    return f"{year}-{int(month):02}-{int(day):02}"


def is_original_script(text: str) -> bool:
    """Tell whether a name has letters, but no Latin ones."""
    return not text.isascii() and not _LATIN.search(text) and any(map(str.isalpha, text))


class Draft:
    """An entry in the making. Empty values and repetitions are dropped, parts not understood are counted.

    What makes a whole file unreadable is its reader's to say.
    """

    __slots__ = (
        "_addresses",
        "_countries",
        "_entry_id",
        "_identifiers",
        "_names",
        "_nationalities",
        "_programs",
        "_reading",
        "_years",
        "gender",
        "kind",
        "listed_on",
        "url",
    )

    def __init__(self, reading: Reading, entry_id: str, kind: str = "") -> None:
        self._reading = reading
        self._entry_id = clean(entry_id)
        self._names: dict[str, str] = {}
        self._years: dict[int, None] = {}
        self._nationalities: dict[str, None] = {}
        self._countries: dict[str, None] = {}
        self._addresses: dict[str, None] = {}
        self._identifiers: dict[str, None] = {}
        self._programs: dict[str, None] = {}
        self.kind = kind
        self.gender = ""
        self.listed_on = ""
        self.url = ""

    def not_understood(self, what: str, value: str) -> None:
        """Count a part of the list that has no place in an entry."""
        self._reading.not_understood(what, value)

    def add_names(self, *texts: str | None, quality: str = STRONG) -> None:
        """Add names; a strong one without Latin letters is kept as original, and strong goes before weak."""
        for text in texts:
            name = clean(text)
            if len(name) > _LONGEST_NAME:
                self._reading.not_understood("name", f"longer than {_LONGEST_NAME} characters")
            elif name and self._names.get(name, WEAK) == WEAK:
                self._names[name] = ORIGINAL if quality == STRONG and is_original_script(name) else quality

    def add_birth_dates(self, *texts: str | None) -> None:
        """Add each year that dates of birth speak of, of a span of years all of them; only a person has any."""
        if self.kind != PERSON:
            return
        for date in filter(None, map(clean, texts)):
            found = years(date)
            if not found:
                self._reading.not_understood("date of birth", date)
            self._years.update(dict.fromkeys(found))

    def add_nationalities(self, *texts: str | None) -> None:
        """Add countries whose nationality the party has."""
        self._add_countries(self._nationalities, texts, "nationality")

    def add_countries(self, *texts: str | None) -> None:
        """Add countries of residence, registration or flag."""
        self._add_countries(self._countries, texts, "country")

    def _add_countries(self, countries: dict[str, None], texts: Iterable[str | None], what: str) -> None:
        for named in filter(None, map(clean, texts)):
            if code := country_code(named):
                countries[code] = None
            else:
                self._reading.not_understood(what, named)

    def add_address(self, *parts: str | None) -> None:
        """Add an address, given in parts from the street to the country, as one line."""
        address = ", ".join(filter(None, map(clean, parts)))
        if address:
            self._addresses[address] = None

    def add_identifiers(self, *texts: str | None) -> None:
        """Add numbers of documents, registers, ships or aircraft."""
        self._identifiers.update(dict.fromkeys(filter(None, map(clean, texts))))

    def add_programs(self, *texts: str | None) -> None:
        """Add sanctions programmes, by the list's own names for them."""
        self._programs.update(dict.fromkeys(filter(None, map(clean, texts))))

    def set_gender(self, text: str | None) -> None:
        """Take the gender, in one of the forms the lists write it in."""
        said = clean(text).lower()
        if said in {"male", "m", "männlich"}:
            self.gender = "male"
        elif said in {"female", "f", "weiblich"}:
            self.gender = "female"
        elif said:
            self._reading.not_understood("gender", said)

    def set_url(self, text: str | None) -> None:
        """Take the first address of a web page about the party; what is none could run in a browser."""
        url = clean(text)
        if _URL.fullmatch(url):
            self.url = self.url or url
        elif url:
            self._reading.not_understood("url", url)

    def entry(self, *, nameless: bool = False) -> Entry | None:
        """Return the entry; none, and it is counted, if it has no name and may not be without one."""
        if not (self._names or nameless):
            self._reading.not_understood("entry without a name")
            return None
        return Entry(
            entry_id=self._entry_id,
            names=tuple(Name(text, quality) for text, quality in self._names.items()),
            kind=self.kind,
            gender=self.gender,
            birth_years=tuple(self._years),
            nationalities=tuple(self._nationalities),
            countries=tuple(self._countries),
            addresses=tuple(self._addresses),
            identifiers=tuple(self._identifiers),
            programs=tuple(self._programs),
            listed_on=self.listed_on,
            url=self.url,
        )
