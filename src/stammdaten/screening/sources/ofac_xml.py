"""OFAC's lists as XML, under the namespace of before and since May 2024; knows no CSV."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote
from xml.etree.ElementTree import Element

from stammdaten.screening.entries import AIRCRAFT, ORGANISATION, PERSON, STRONG, VESSEL, WEAK, Entry
from stammdaten.screening.sources.drafts import Draft, iso_date
from stammdaten.screening.sources.ofac_csv import DETAILS
from stammdaten.screening.sources.reading import Reading, Unreadable
from stammdaten.screening.sources.xml_records import (
    local_name,
    records,
    report_unknown,
    require_root,
    text_of,
    texts_of,
)

NAMESPACES = (
    "http://tempuri.org/sdnList.xsd",
    "https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/XML",
)
_KINDS = {"individual": PERSON, "entity": ORGANISATION, "vessel": VESSEL, "aircraft": AIRCRAFT}
_QUALITIES = {"strong": STRONG, "weak": WEAK}
_KNOWN = {
    "uid",
    "firstName",
    "lastName",
    "title",
    "sdnType",
    "remarks",
    "programList",
    "idList",
    "akaList",
    "addressList",
    "nationalityList",
    "citizenshipList",
    "dateOfBirthList",
    "placeOfBirthList",
    "vesselInfo",
}
# Among the list's "identity documents" stand remarks that identify nobody.
_NO_NUMBERS = re.compile(
    r"additional sanctions|secondary sanctions|transactions prohibited|executive order|website|email|phone|telephone|"
    r"fax|aircraft (?:model|manufacture date|operator)|vessel (?:type|year|owner)|other vessel|former vessel|"
    r"organization (?:established|type)|target type|listing date|effective date|purchase/sales|issuer name|"
    r"digital currency|equity ticker|for more information|caatsa|linked|object type|release|title|nationality of",
    re.IGNORECASE,
)


def read_xml(path: Path) -> Reading:
    """Read a list of OFAC's in its XML form; its date is the one it was published on.

    :raises Unreadable: if it is not XML with the root `sdnList` in one of the namespaces
    """
    require_root(path, "sdnList", NAMESPACES)
    return Reading(partial(_entries, path))


def _entries(path: Path, reading: Reading) -> Iterator[Entry]:
    count = 0
    promised = ""
    for record in records(path):
        tag = local_name(record)
        if tag == "publshInformation":
            reading.version = iso_date(text_of(record, "Publish_Date"), month_first=True)
            promised = text_of(record, "Record_Count")
        elif tag == "sdnEntry":
            count += 1
            if entry := _entry(reading, record):
                yield entry
        else:
            reading.not_understood("element", tag)
    if promised and promised != str(count):
        raise Unreadable(f"Record_Count speaks of {promised[:20]} entries, the file holds {count}.")


def _entry(reading: Reading, record: Element) -> Entry | None:
    uid = text_of(record, "uid")
    if not uid:
        raise Unreadable(f"The sdnEntry of {_name(record)!r} has no uid; each was expected to have one.")
    said = text_of(record, "sdnType")
    draft = Draft(reading, uid, _KINDS.get(said.lower(), ""))
    if not draft.kind:
        reading.not_understood("kind", said)
    draft.set_url(DETAILS.format(quote(uid)))
    draft.add_names(_name(record))
    draft.add_programs(*texts_of(record, "programList/program"))
    for aka in record.findall("akaList/aka"):
        _add_alias(reading, draft, aka)
    draft.add_birth_dates(*texts_of(record, "dateOfBirthList/dateOfBirthItem/dateOfBirth"))
    draft.add_nationalities(*texts_of(record, "nationalityList/nationality/country"))
    draft.add_nationalities(*texts_of(record, "citizenshipList/citizenship/country"))
    for address in record.findall("addressList/address"):
        _add_address(draft, address)
    for document in record.findall("idList/id"):
        _add_document(draft, text_of(document, "idType"), text_of(document, "idNumber"))
    draft.add_identifiers(record.findtext("vesselInfo/callSign"))
    draft.add_countries(record.findtext("vesselInfo/vesselFlag"))
    report_unknown(reading, record, _KNOWN)
    return draft.entry()


def _name(named: Element) -> str:
    return f"{text_of(named, 'firstName')} {text_of(named, 'lastName')}".strip()


def _add_alias(reading: Reading, draft: Draft, aka: Element) -> None:
    said = text_of(aka, "category")
    quality = _QUALITIES.get(said.lower())
    if quality is None:
        reading.not_understood("category of an alias", said)
    draft.add_names(_name(aka), quality=quality or STRONG)


def _add_address(draft: Draft, address: Element) -> None:
    parts = ("address1", "address2", "address3", "city", "stateOrProvince", "postalCode", "country")
    draft.add_address(*(text_of(address, part) for part in parts))
    draft.add_countries(text_of(address, "country"))


def _add_document(draft: Draft, said: str, number: str) -> None:
    if said == "Gender":
        draft.set_gender(number)
    elif said.startswith(("Nationality of Registration", "Vessel Flag")):
        draft.add_countries(number)
    elif not _NO_NUMBERS.search(said):
        draft.add_identifiers(number)
