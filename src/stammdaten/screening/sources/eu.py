"""The European Union's consolidated financial sanctions list (FSF), XML 1.1 and CSV; knows no other list."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

from stammdaten.screening.entries import ORGANISATION, PERSON, STRONG, WEAK, Entry
from stammdaten.screening.sources.csv_rows import encoding_of, rows, table
from stammdaten.screening.sources.drafts import Draft, clean, iso_date
from stammdaten.screening.sources.reading import Reading, Unreadable
from stammdaten.screening.sources.xml_records import (
    local_name,
    looks_like_xml,
    records,
    report_unknown,
    require_root,
    text_of,
)

NAMESPACES = ("http://eu.europa.ec/fpi/fsd/export", "")
_KINDS = {"person": PERSON, "p": PERSON, "enterprise": ORGANISATION, "e": ORGANISATION}
_ADDRESS = ("street", "poBox", "zipCode", "city", "place", "region", "countryDescription")
_IN_CSV = ("Street", "PoBox", "ZipCode", "City", "Place", "Region", "CountryDescription")
_KNOWN = {"remark", "regulation", "subjectType", "nameAlias", "citizenship", "birthdate", "identification", "address"}
_REQUIRED = ("Entity_LogicalId", "NameAlias_WholeName")


def read_eu(path: Path) -> Reading:
    """Read the list; its date is the one it was generated on.

    :raises Unreadable: if it is neither XML with the root `export` nor CSV with the columns of the FSF
    """
    if looks_like_xml(path):
        root = require_root(path, "export", NAMESPACES)
        return Reading(partial(_from_xml, path, iso_date(root.get("generationDate", ""))))
    encoding = encoding_of(path)
    _, header = next(rows(path, encoding, delimiter=";"), (0, []))
    if not set(_REQUIRED) <= set(header):
        raise Unreadable(f"{path.name}, line 1 is not the header of the FSF; {' and '.join(_REQUIRED)} were expected.")
    return Reading(partial(_from_csv, path, encoding))


def _from_xml(path: Path, date: str, reading: Reading) -> Iterator[Entry]:
    reading.version = date
    references: set[str] = set()
    for record in records(path):
        if local_name(record) != "sanctionEntity":
            reading.not_understood("element", local_name(record))
            continue
        entry_id = _entry_id(references, record.get("euReferenceNumber", ""), record.get("logicalId", ""))
        if entry := _entry(reading, record, entry_id):
            yield entry


def _entry_id(references: set[str], reference: str, logical_id: str) -> str:
    """Return the reference number, with the logical id where it is missing or not the entry's alone."""
    if not clean(logical_id):
        raise Unreadable(f"The entity {reference!r} has no logical id; each was expected to have one.")
    if not reference or reference in references:
        return f"{reference} {logical_id}".strip()
    references.add(reference)
    return reference


def _entry(reading: Reading, record: Element, entry_id: str) -> Entry | None:
    subject = record.find("subjectType")
    draft = Draft(reading, entry_id, _kind(reading, "" if subject is None else subject.get("code", "")))
    draft.listed_on = iso_date(record.get("designationDate", ""))
    report_unknown(reading, record, _KNOWN)
    for regulation in record.findall("regulation"):
        draft.add_programs(regulation.get("programme"))
        draft.set_url(text_of(regulation, "publicationUrl"))
    for alias in record.findall("nameAlias"):
        quality = _quality(alias.get("strong", ""), text_of(alias, "remark"))
        draft.add_names(alias.get("wholeName"), quality=quality)
        draft.set_gender(alias.get("gender"))
    for citizenship in record.findall("citizenship"):
        draft.add_nationalities(_country(citizenship.get("countryIso2Code"), citizenship.get("countryDescription")))
    for birth in record.findall("birthdate"):
        _add_birth(draft, birth.attrib, ("birthdate", "year", "yearRangeFrom", "yearRangeTo"))
    for address in record.findall("address"):
        parts = [_known(address.get(part)) for part in _ADDRESS]
        draft.add_address(*parts)
        draft.add_countries(_country(address.get("countryIso2Code"), parts[-1]))
    for document in record.findall("identification"):
        draft.add_identifiers(document.get("number"), document.get("latinNumber"))
    return draft.entry()


def _from_csv(path: Path, encoding: str, reading: Reading) -> Iterator[Entry]:
    numbered = rows(path, encoding, delimiter=";", finished=True)
    header = [clean(name) for name in next(numbered)[1]]
    drafts: dict[str, Draft] = {}
    references: set[str] = set()
    for row in table(numbered, header):
        logical_id = row["Entity_LogicalId"]
        draft = drafts.get(logical_id)
        if draft is None:
            said = row.get("Entity_SubjectType_ClassificationCode") or row.get("Entity_SubjectType", "")
            entry_id = _entry_id(references, row.get("Entity_EU_ReferenceNumber", ""), logical_id)
            draft = drafts[logical_id] = Draft(reading, entry_id, _kind(reading, said))
            draft.listed_on = iso_date(row.get("Entity_DesignationDate", ""))
            reading.version = reading.version or iso_date(row.get("fileGenerationDate", ""))
        _add_row(draft, row)
    for draft in drafts.values():
        if entry := draft.entry():
            yield entry


def _add_row(draft: Draft, row: Mapping[str, str]) -> None:
    draft.add_programs(row.get("Entity_Regulation_Programme"))
    draft.set_url(row.get("Entity_Regulation_PublicationUrl"))
    quality = _quality(row.get("NameAlias_Strong", ""), row.get("NameAlias_Remark", ""))
    draft.add_names(row["NameAlias_WholeName"], quality=quality)
    draft.set_gender(row.get("NameAlias_Gender"))
    draft.add_nationalities(_country(row.get("Citizenship_CountryIso2Code"), row.get("Citizenship_CountryDescription")))
    columns = ("BirthDate_BirthDate", "BirthDate_Year", "BirthDate_YearRangeFrom", "BirthDate_YearRangeTo")
    _add_birth(draft, row, columns)
    parts = [_known(row.get(f"Address_{part}")) for part in _IN_CSV]
    draft.add_address(*parts)
    draft.add_countries(_country(row.get("Address_CountryIso2Code"), parts[-1]))
    draft.add_identifiers(row.get("Identification_Number"), row.get("Identification_LatinNumber"))


def _kind(reading: Reading, said: str) -> str:
    kind = _KINDS.get(said.strip().lower(), "")
    if not kind:
        reading.not_understood("kind", said)
    return kind


def _quality(strong: str, remark: str) -> str:
    """Return the quality; the United Nations' low ones are told by the remark alone."""
    return WEAK if strong.lower() == "false" or "low quality" in remark.lower() else STRONG


def _known(text: str | None) -> str:
    return "" if text is None or text.strip().upper() == "UNKNOWN" else text


def _country(code: str | None, name: str | None) -> str:
    """Return the code of a country, or its name where the code is `00`, for unknown, or missing."""
    return code if code and code.strip() not in {"", "00"} else _known(name)


def _add_birth(draft: Draft, said: Mapping[str, str], names: tuple[str, str, str, str]) -> None:
    date, year, first, last = (said.get(name, "") for name in names)
    draft.add_birth_dates(date)
    draft.add_birth_dates(year)
    if first and last:
        draft.add_birth_dates(f"{first} to {last}")
    elif first or last:
        draft.not_understood("date of birth", f"from {first}" if first else f"to {last}")
