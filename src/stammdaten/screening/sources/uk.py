"""The UK Sanctions List of the Foreign, Commonwealth & Development Office, CSV and XML; knows no other list.

The CSV has the date of the report in its first line, its header in the second, and a row for each name of a party.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

from stammdaten.screening.entries import ORGANISATION, ORIGINAL, PERSON, STRONG, VESSEL, WEAK, Entry
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

_KINDS = {"individual": PERSON, "entity": ORGANISATION, "ship": VESSEL}
_NAME_TYPES = {"primary name", "primary name variation", "alias", ""}
_NAME_PARTS = ("Name 1", "Name 2", "Name 3", "Name 4", "Name 5", "Name 6")
_ADDRESS_PARTS = (*(f"Address Line {number}" for number in range(1, 7)), "Address Postal Code", "Address Country")
_NUMBERS = (
    "Passport number",
    "National Identifier number",
    "Business registration number (s)",
    "Hull identification number (HIN)",
)
_NUMBER_TAGS = (
    "PassportNumber",
    "NationalIdentifierNumber",
    "BusinessRegistrationNumber",
    "HullIdentificationNumber",
)
_KNOWN = {
    "LastUpdated",
    "DateDesignated",
    "UniqueID",
    "OFSIGroupID",
    "UNReferenceNumber",
    "Names",
    "NonLatinNames",
    "Titles",
    "RegimeName",
    "IndividualEntityShip",
    "DesignationSource",
    "SanctionsImposed",
    "SanctionsImposedIndicators",
    "OtherInformation",
    "UKStatementofReasons",
    "Addresses",
    "PhoneNumbers",
    "EmailAddresses",
    "Websites",
    "IndividualDetails",
    "EntityDetails",
    "ShipDetails",
}
_REQUIRED = ("Unique ID", "Name 6", "Name type")


def read_uk(path: Path) -> Reading:
    """Read the list; its date is the one of the report.

    :raises Unreadable: if it is neither XML with the root `Designations` nor CSV with the columns of the list
    """
    if looks_like_xml(path):
        require_root(path, "Designations")
        return Reading(partial(_from_xml, path))
    encoding = encoding_of(path)
    first = rows(path, encoding)
    _header(path, first)
    return Reading(partial(_from_csv, path, encoding))


def _header(path: Path, numbered: Iterator[tuple[int, list[str]]]) -> tuple[str, list[str]]:
    """Return the date of the report and the header, which stands in the first or second line."""
    date = ""
    for _, row in numbered:
        header = [clean(name) for name in row]
        if set(_REQUIRED) <= set(header):
            return date, header
        if date or not header[0].lower().startswith("report date"):
            break
        date = iso_date(" ".join(header).partition(":")[2])
    raise Unreadable(f"{path.name} has no header of the UK Sanctions List; {', '.join(_REQUIRED)} were expected.")


def _from_csv(path: Path, encoding: str, reading: Reading) -> Iterator[Entry]:
    numbered = rows(path, encoding, finished=True)
    reading.version, header = _header(path, numbered)
    drafts: dict[str, Draft] = {}
    for row in table(numbered, header):
        unique_id = row["Unique ID"]
        if not unique_id:
            raise Unreadable(f"A row of {row['Name 6']!r} has no Unique ID; each was expected to have one.")
        draft = drafts.get(unique_id)
        if draft is None:
            said = row.get("Designation Type") or row.get("Individual, Entity, Ship", "")
            draft = drafts[unique_id] = Draft(reading, unique_id, _kind(reading, said))
            draft.listed_on = iso_date(row.get("Date Designated", ""))
        _add_row(reading, draft, row)
    for draft in drafts.values():
        if entry := draft.entry():
            yield entry


def _add_row(reading: Reading, draft: Draft, row: dict[str, str]) -> None:
    name = " ".join(filter(None, (row.get(part) for part in _NAME_PARTS)))
    draft.add_names(name, quality=_quality(reading, row["Name type"], row.get("Alias strength", "")))
    draft.add_names(row.get("Name non-latin script"), quality=ORIGINAL)
    draft.add_programs(row.get("Regime Name"))
    draft.set_gender(row.get("Gender"))
    draft.add_birth_dates(row.get("D.O.B"))
    draft.add_nationalities(row.get("Nationality(/ies)"))
    draft.add_address(*(row.get(part) for part in _ADDRESS_PARTS))
    draft.add_countries(row.get("Address Country"), row.get("Current believed flag of ship"))
    draft.add_identifiers(*(row.get(column) for column in _NUMBERS), _imo(row.get("IMO number", "")))


def _from_xml(path: Path, reading: Reading) -> Iterator[Entry]:
    for record in records(path):
        tag = local_name(record)
        if tag == "DateGenerated":
            reading.version = iso_date(clean(record.text))
        elif tag != "Designation":
            reading.not_understood("element", tag)
        elif entry := _entry(reading, record):
            yield entry


def _entry(reading: Reading, record: Element) -> Entry | None:
    unique_id = text_of(record, "UniqueID")
    if not unique_id:
        raise Unreadable("A Designation has no UniqueID; each was expected to have one.")
    draft = Draft(reading, unique_id, _kind(reading, text_of(record, "IndividualEntityShip")))
    draft.listed_on = iso_date(text_of(record, "DateDesignated"))
    draft.add_programs(text_of(record, "RegimeName"))
    report_unknown(reading, record, _KNOWN)
    for name in record.findall("Names/Name"):
        spoken = " ".join(filter(None, (text_of(name, part.replace(" ", "")) for part in _NAME_PARTS)))
        quality = _quality(reading, text_of(name, "NameType"), text_of(name, "AliasStrength"))
        draft.add_names(spoken, quality=quality)
    draft.add_names(*_texts(record, "NameNonLatinScript"), quality=ORIGINAL)
    for address in record.iter("Address"):
        parts = [text_of(address, part.replace(" ", "")) for part in _ADDRESS_PARTS]
        draft.add_address(*parts)
        draft.add_countries(parts[-1])
    draft.add_birth_dates(*_texts(record, "DOB"))
    draft.add_nationalities(*_texts(record, "Nationality"))
    draft.add_countries(*_texts(record, "CurrentBelievedFlagOfShip"))
    for gender in _texts(record, "Gender"):
        draft.set_gender(gender)
    for tag in _NUMBER_TAGS:
        draft.add_identifiers(*_texts(record, tag))
    draft.add_identifiers(*map(_imo, _texts(record, "IMONumber")))
    return draft.entry()


def _imo(number: str) -> str:
    digits = number.removeprefix("IMO").strip()
    return f"IMO {digits}" if digits.isdecimal() else number


def _texts(record: Element, tag: str) -> list[str]:
    return [clean(found.text) for found in record.iter(tag)]


def _kind(reading: Reading, said: str) -> str:
    kind = _KINDS.get(said.lower(), "")
    if not kind:
        reading.not_understood("kind", said)
    return kind


def _quality(reading: Reading, name_type: str, strength: str) -> str:
    if name_type.lower() not in _NAME_TYPES:
        reading.not_understood("name type", name_type)
    return WEAK if strength.lower().startswith("low") else STRONG
