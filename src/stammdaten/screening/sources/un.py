"""The consolidated list of the United Nations Security Council, XML; knows no other list."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

from stammdaten.screening.entries import ORGANISATION, ORIGINAL, PERSON, STRONG, WEAK, Entry
from stammdaten.screening.sources.drafts import Draft, is_original_script, iso_date
from stammdaten.screening.sources.reading import Reading, Unreadable
from stammdaten.screening.sources.xml_records import (
    local_name,
    records,
    report_unknown,
    require_root,
    text_of,
    texts_of,
)

_KINDS = {"INDIVIDUAL": PERSON, "ENTITY": ORGANISATION}
_NAMES = ("FIRST_NAME", "SECOND_NAME", "THIRD_NAME", "FOURTH_NAME")
_KNOWN = {
    *_NAMES,
    *(
        f"{kind}_{part}"
        for kind in _KINDS
        for part in ("ALIAS", "ADDRESS", "DATE_OF_BIRTH", "PLACE_OF_BIRTH", "DOCUMENT")
    ),
    "NAME_ORIGINAL_SCRIPT",
    "DATAID",
    "VERSIONNUM",
    "UN_LIST_TYPE",
    "REFERENCE_NUMBER",
    "LISTED_ON",
    "LAST_DAY_UPDATED",
    "LIST_TYPE",
    "GENDER",
    "NATIONALITY",
    "NATIONALITY2",
    "TITLE",
    "DESIGNATION",
    "SUBMITTED_BY",
    "SUBMITTED_ON",
    "COMMENTS1",
    "SORT_KEY",
    "SORT_KEY_LAST_MOD",
}
_QUALITIES = {"good": STRONG, "a.k.a.": STRONG, "f.k.a.": STRONG, "low": WEAK}
# Several names in one element: `A; B`, `A b) B`, `A (B; C)`, `A (original script: B)`.
_DIVIDER = re.compile(r";|\s[a-z]\)\s")
_WITHIN = re.compile(r"(?P<outside>[^()]+?)\s*\((?:original script:)?(?P<inside>[^()]+)\)")


def read_un(path: Path) -> Reading:
    """Read the list; its date is the one it was generated on.

    :raises Unreadable: if it is not XML with the root `CONSOLIDATED_LIST`
    """
    root = require_root(path, "CONSOLIDATED_LIST")
    return Reading(partial(_entries, path, iso_date(root.get("dateGenerated", ""))))


def _entries(path: Path, date: str, reading: Reading) -> Iterator[Entry]:
    reading.version = date
    for record in records(path, depth=2):
        tag = local_name(record)
        if tag in _KINDS:
            if entry := _entry(reading, record, tag):
                yield entry
        elif tag not in {"INDIVIDUALS", "ENTITIES"}:
            reading.not_understood("element", tag)


def _entry(reading: Reading, record: Element, tag: str) -> Entry | None:
    reference = text_of(record, "REFERENCE_NUMBER")
    if not reference:
        data_id = text_of(record, "DATAID")
        raise Unreadable(f"The {tag} with DATAID {data_id!r} has no REFERENCE_NUMBER; each was expected to have one.")
    draft = Draft(reading, reference, _KINDS[tag])
    draft.add_names(" ".join(text_of(record, part) for part in _NAMES))
    draft.add_names(text_of(record, "NAME_ORIGINAL_SCRIPT"), quality=ORIGINAL)
    for alias in record.findall(f"{tag}_ALIAS"):
        _add_alias(reading, draft, alias)
    draft.set_gender(text_of(record, "GENDER"))
    for born in record.findall("INDIVIDUAL_DATE_OF_BIRTH"):
        _add_birth(draft, born)
    draft.add_nationalities(*map(_named, texts_of(record, "NATIONALITY/VALUE")))
    for address in record.findall(f"{tag}_ADDRESS"):
        parts = [text_of(address, part) for part in ("STREET", "CITY", "STATE_PROVINCE", "ZIP_CODE", "COUNTRY")]
        draft.add_address(*parts)
        draft.add_countries(_named(parts[-1]))
    draft.add_identifiers(*texts_of(record, "INDIVIDUAL_DOCUMENT/NUMBER"))
    draft.add_programs(text_of(record, "UN_LIST_TYPE"))
    report_unknown(reading, record, _KNOWN)
    draft.listed_on = iso_date(text_of(record, "LISTED_ON"))
    return draft.entry()


def _add_alias(reading: Reading, draft: Draft, alias: Element) -> None:
    text = text_of(alias, "ALIAS_NAME")
    if not text:
        return
    said = text_of(alias, "QUALITY").lower()
    quality = _QUALITIES.get(said)
    if quality is None:
        reading.not_understood("quality of an alias", said or "none")
        quality = STRONG
    draft.add_names(*_names(text), quality=quality)


def _names(text: str) -> list[str]:
    found = _WITHIN.fullmatch(text)
    if found and (";" in found["inside"] or "original script:" in text or is_original_script(found["outside"])):
        return [found["outside"], *_DIVIDER.split(found["inside"])]
    return [text] if "(" in text else _DIVIDER.split(text)


def _add_birth(draft: Draft, born: Element) -> None:
    first, last = text_of(born, "FROM_YEAR"), text_of(born, "TO_YEAR")
    span = f"{first} to {last}" if first and last else f"{first} {last}"
    given = " ".join((text_of(born, "DATE"), text_of(born, "YEAR"), span)).strip()
    draft.add_birth_dates(given or text_of(born, "NOTE"))


def _named(country: str) -> str:
    """Return a country's name; the list has no codes, and its `na` is not Namibia."""
    return "" if country.lower() in {"na", "n/a"} else country
