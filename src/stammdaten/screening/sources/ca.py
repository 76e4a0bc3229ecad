"""Canada's list under the Special Economic Measures Act and the Magnitsky law, XML; knows no other list."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from stammdaten.screening.entries import ORGANISATION, PERSON, STRONG, VESSEL, WEAK, Entry
from stammdaten.screening.sources.drafts import Draft, clean, iso_date
from stammdaten.screening.sources.reading import Reading, Unreadable
from stammdaten.screening.sources.xml_records import local_name, records, require_root

_KNOWN = {
    "Country",
    "LastName",
    "GivenName",
    "EntityOrShip",
    "TitleOrShip",
    "ShipIMONumber",
    "DateOfBirthOrShipBuildDate",
    "Aliases",
    "Schedule",
    "Item",
    "DateOfListing",
}
_LANGUAGE = re.compile(
    r"\b(?:Belarus+ian|Russian|Ukrainian|Persian|Farsi|Arabic|Burmese|Chinese|Spanish|French|English)\s*:"
)
# The Russian ones are OOO, OAO, ZAO, PAO and AO.
_LEGAL_FORM = re.compile(
    r"(?:and |& )?(?:l\.?t\.?d|inc|l\.?l\.?c|co|corp|s\.?a|gmbh|limited|jsc|pjsc|llp|plc|c\.?a|"
    r"\u043e\u043e\u043e|\u043e\u0430\u043e|\u0437\u0430\u043e|\u043f\u0430\u043e|\u0430\u043e)\.?",
    re.IGNORECASE,
)
_EITHER = re.compile(r"\s*/\s*|,?\s+or\s+")

Record = dict[str, str]


def read_ca(path: Path) -> Reading:
    """Read the list; it gives no date of its own.

    :raises Unreadable: if it is not XML with the root `data-set`
    """
    require_root(path, "data-set")
    return Reading(partial(_entries, path))


def _entries(path: Path, reading: Reading) -> Iterator[Entry]:
    listed = list(_records(path, reading))
    # The file numbers the items of a schedule and nothing else; where a number is given twice the name decides.
    places = Counter(map(_place, listed))
    for record in listed:
        place = _place(record)
        entry_id = place if places[place] == 1 else f"{place}|{_name(record)[:100]}"
        if entry := _entry(reading, record, entry_id):
            yield entry


def _records(path: Path, reading: Reading) -> Iterator[Record]:
    for element in records(path):
        if local_name(element) != "record":
            reading.not_understood("element", local_name(element))
            continue
        record: Record = {}
        for part in element:
            tag = local_name(part)
            if tag not in _KNOWN:
                reading.not_understood("element", tag)
            record[tag] = clean(part.text)
        if not (record.get("Country") and record.get("Item")):
            raise Unreadable(f"The record of {_name(record)!r} lacks Country or Item; both were expected.")
        yield record


def _place(record: Record) -> str:
    return "|".join((_english(record["Country"]), record.get("Schedule", ""), record["Item"]))


def _english(text: str) -> str:
    return text.partition(" / ")[0]


def _name(record: Record) -> str:
    spoken = f"{record.get('GivenName', '')} {record.get('LastName', '')}".strip()
    return spoken or record.get("EntityOrShip", "")


def _entry(reading: Reading, record: Record, entry_id: str) -> Entry | None:
    draft = Draft(reading, entry_id, _kind(record))
    if draft.kind == PERSON:
        draft.add_names(_name(record))
    else:
        draft.add_names(*_bilingual(_name(record)))
    for alias, quality in _aliases(reading, record.get("Aliases", ""), draft.kind):
        draft.add_names(alias, quality=quality)
    draft.add_birth_dates(record.get("DateOfBirthOrShipBuildDate"))
    if number := record.get("ShipIMONumber"):
        draft.add_identifiers(f"IMO {number.removeprefix('IMO').strip()}")
    # The country is whose conduct the regulations answer, not where the party lives: a programme, nothing more.
    draft.add_programs(_english(record["Country"]))
    draft.listed_on = iso_date(record.get("DateOfListing", ""))
    return draft.entry()


def _kind(record: Record) -> str:
    if record.get("LastName") or record.get("GivenName"):
        return PERSON
    return VESSEL if record.get("ShipIMONumber") else ORGANISATION


def _bilingual(name: str) -> list[str]:
    """Return a name with the English and the French one it consists of, where both have several words."""
    parts = [part.strip() for part in name.split("/")]
    return [name, *parts] if len(parts) > 1 and all(" " in part for part in parts) else [name]


def _aliases(reading: Reading, text: str, kind: str) -> Iterator[tuple[str, str]]:
    for label in _LANGUAGE.split(text):
        for part in _divided(label.strip(" ,;"), kind):
            if kind == PERSON and _EITHER.search(part):
                yield from _alternatives(reading, part)
            elif kind == PERSON:
                # One word is as often a spelling of the given name as a name.
                yield part, STRONG if " " in part else WEAK
            else:
                for name in _bilingual(part):
                    yield name, STRONG


def _divided(text: str, kind: str) -> list[str]:
    """Divide names at semicolons; at commas too, unless an organisation's have semicolons or a legal form follows."""
    if kind != PERSON and ";" in text:
        return [part.strip() for part in text.split(";")]
    divided: list[str] = []
    for part in filter(None, (piece.strip() for piece in re.split("[;,،]", text))):
        if divided and kind != PERSON and _LEGAL_FORM.fullmatch(part):
            divided[-1] += f", {part}"
        else:
            divided.append(part)
    return divided


def _alternatives(reading: Reading, part: str) -> list[tuple[str, str]]:
    """Divide `A B or A C` in two; `A or B C` does not say what belongs together and is kept whole, as weak."""
    names = [name.strip() for name in _EITHER.split(part) if name.strip()]
    if all(" " in name for name in names):
        return [(name, STRONG) for name in names]
    reading.not_understood("alias", part)
    return [(part, WEAK)]
