"""Switzerland's list of the State Secretariat for Economic Affairs (SECO), XML; knows no other list.

The list keeps its history: each target stands there with all its modifications, also when it was struck off.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from math import prod
from pathlib import Path
from xml.etree.ElementTree import Element

from stammdaten.screening.entries import AIRCRAFT, ORGANISATION, PERSON, STRONG, VESSEL, WEAK, Entry
from stammdaten.screening.sources.drafts import Draft, clean, iso_date
from stammdaten.screening.sources.reading import Reading, Unreadable
from stammdaten.screening.sources.xml_records import (
    local_name,
    records,
    report_unknown,
    require_root,
    text_of,
    texts_of,
)

_OBJECTS = {"vessel": VESSEL, "aircraft": AIRCRAFT}
_KNOWN = {
    "sanctions-set-id",
    "foreign-identifier",
    "individual",
    "entity",
    "object",
    "modification",
    "generic-attribute",
}
_KNOWN_OF_PARTY = {"identity", "justification", "relation", "other-information", "generic-attribute"}
_QUALITIES = {"good": STRONG, "low": WEAK}
_LAST_PARTS = {"family-name", "maiden-name", "suffix"}
_IMO = re.compile(r"\bIMO(?: [Nn]umber)? ?:? ?(\d{7})\b")
# The parts of a name have up to a dozen spellings each; what they give together is cut here.
_MOST_SPELLINGS = 100


@dataclass(frozen=True)
class _Header:
    """What targets refer to: places by their id, programmes by the id of their sets; and the list's date."""

    date: str
    places: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # location, area, country
    programs: dict[str, str] = field(default_factory=dict)


def read_ch(path: Path) -> Reading:
    """Read the list; it is read twice, for the places that targets refer to stand behind the targets.

    :raises Unreadable: if it is not XML with the root `swiss-sanctions-list`, or not the whole list
    """
    root = require_root(path, "swiss-sanctions-list")
    if root.get("list-type", "whole-list") != "whole-list":
        raise Unreadable(f"The list-type is {root.get('list-type')!r}; the whole-list was expected.")
    return Reading(partial(_entries, path, iso_date(root.get("date", ""))))


def _entries(path: Path, date: str, reading: Reading) -> Iterator[Entry]:
    reading.version = date
    header = _Header(date)
    for record in records(path):
        tag = local_name(record)
        if tag == "place":
            place = (text_of(record, "location"), text_of(record, "area"), _country(record))
            header.places[record.get("ssid", "")] = place
        elif tag == "sanctions-program":
            _add_program(header, record)
        elif tag != "target":
            reading.not_understood("element", tag)
    for record in records(path):
        if local_name(record) == "target" and _stands(record, date) and (entry := _entry(reading, header, record)):
            yield entry


def _add_program(header: _Header, record: Element) -> None:
    names = {
        key.get("lang", ""): clean(key.text) for tag in ("program-name", "program-key") for key in record.iter(tag)
    }
    name = names.get("eng") or next(iter(names.values()), "")
    for sanctions_set in record.findall("sanctions-set"):
        header.programs[sanctions_set.get("ssid", "")] = name


def _stands(record: Element, date: str) -> bool:
    """Tell whether a target is on the list: it is not if it was struck off last, and that is in effect."""
    last: dict[str, str] = {"listed": "", "de-listed": ""}
    for modification in record.findall("modification"):
        what = "de-listed" if modification.get("modification-type") == "de-listed" else "listed"
        last[what] = max(last[what], iso_date(modification.get("effective-date", "")))
    return not last["listed"] < last["de-listed"] <= (date or last["de-listed"])


def _entry(reading: Reading, header: _Header, record: Element) -> Entry | None:
    ssid = record.get("ssid", "")
    if not ssid:
        raise Unreadable("A target has no ssid; each was expected to have one.")
    party, kind = _party(reading, record)
    if party is None:
        return None
    draft = Draft(reading, ssid, kind)
    draft.set_gender(party.get("sex"))
    report_unknown(reading, record, _KNOWN)
    report_unknown(reading, party, _KNOWN_OF_PARTY)
    for sanctions_set in (record.get("sanctions-set-id", ""), *texts_of(record, "sanctions-set-id")):
        draft.add_programs(header.programs.get(sanctions_set))
    listed = (one for one in record.findall("modification") if one.get("modification-type") == "listed")
    draft.listed_on = min(filter(None, (iso_date(one.get("effective-date", "")) for one in listed)), default="")
    for identity in party.findall("identity"):
        _add_identity(reading, header, draft, identity)
    for other in texts_of(party, "other-information"):
        for number in _IMO.findall(other):
            draft.add_identifiers(f"IMO {number}")
    return draft.entry()


def _party(reading: Reading, record: Element) -> tuple[Element | None, str]:
    for tag, kind in (("individual", PERSON), ("entity", ORGANISATION)):
        if (party := record.find(tag)) is not None:
            return party, kind
    party = record.find("object")
    said = "" if party is None else party.get("object-type", "")
    if said not in _OBJECTS:
        reading.not_understood("kind", said or "target of no kind")
    return party, _OBJECTS.get(said, "")


def _add_identity(reading: Reading, header: _Header, draft: Draft, identity: Element) -> None:
    for name in identity.findall("name"):
        quality = _QUALITIES.get(name.get("quality", "good"))
        if quality is None:
            reading.not_understood("quality of a name", name.get("quality", ""))
        draft.add_names(*_spellings(reading, name), quality=quality or STRONG)
    for born in identity.findall("day-month-year"):
        draft.add_birth_dates(born.get("year"))
    for nationality in identity.findall("nationality"):
        draft.add_nationalities(_country(nationality))
    for address in identity.findall("address"):
        place_id = address.get("place-id", "")
        if place_id and place_id not in header.places:
            raise Unreadable(f"An address refers to the place {place_id!r}, which the file lacks.")
        location, area, country = header.places.get(place_id, ("", "", ""))
        street, box, code = (text_of(address, tag) for tag in ("address-details", "p-o-box", "zip-code"))
        draft.add_address(street, f"P.O. Box {box}" if box else "", f"{code} {location}", area, country)
        draft.add_countries(country)
    draft.add_identifiers(*texts_of(identity, "identification-document/number"))


def _spellings(reading: Reading, name: Element) -> Iterator[str]:
    """Yield the name and its variants, as they are spoken; spellings of one language and script go together."""
    parts = sorted(filter(_is_spoken, name.findall("name-part")), key=_order)
    values = [text_of(part, "value") for part in parts]
    yield " ".join(values)
    cultures: dict[tuple[str, str], dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for place, part in enumerate(parts):
        for variant in part.findall("spelling-variant"):
            culture = (variant.get("lang", ""), variant.get("script", ""))
            cultures[culture][place].append(clean(variant.text))
    for spellings in cultures.values():
        choices = [spellings.get(place, [value]) for place, value in enumerate(values)]
        if prod(map(len, choices)) > _MOST_SPELLINGS:
            reading.not_understood("spellings", f"more than {_MOST_SPELLINGS} of {' '.join(values)}")
        yield from map(" ".join, islice(product(*choices), _MOST_SPELLINGS))


def _is_spoken(part: Element) -> bool:
    return part.get("name-part-type") != "title"


def _order(part: Element) -> tuple[bool, int]:
    """Return the place of a part: the list puts the family's name first, in speech it stands behind the given ones."""
    order = part.get("order", "")
    is_last = part.get("name-part-type") in _LAST_PARTS
    return is_last, int(order) if order.isdecimal() and len(order) < len("100") else 0


def _country(element: Element) -> str:
    country = element.find("country")
    return "" if country is None else country.get("iso-code") or clean(country.text)
