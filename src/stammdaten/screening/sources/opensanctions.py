"""The formats of OpenSanctions, `targets.simple.csv` and `entities.ftm.json`; knows no official list."""

import csv
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stammdaten.screening.entries import Entry
from stammdaten.screening.sources.csv_rows import encoding_of, lines, rows, table
from stammdaten.screening.sources.drafts import Draft, clean, iso_date
from stammdaten.screening.sources.followthemoney import KINDS, describe
from stammdaten.screening.sources.reading import Reading, Unreadable

_PAGE = "https://www.opensanctions.org/entities/{}/"
# What the model of FollowTheMoney has beside parties.
_NO_PARTIES = {
    "Address",
    "Article",
    "Associate",
    "BankAccount",
    "CallForTenders",
    "Contract",
    "ContractAward",
    "CryptoWallet",
    "Debt",
    "Directorship",
    "Documentation",
    "Employment",
    "Event",
    "Family",
    "Identification",
    "Membership",
    "Note",
    "Occupancy",
    "Ownership",
    "Passport",
    "Payment",
    "Position",
    "Project",
    "ProjectParticipant",
    "RealEstate",
    "Representation",
    "Sanction",
    "Security",
    "Similar",
    "Succession",
    "TaxRoll",
    "Trip",
    "UnknownLink",
    "Vehicle",
}
_REQUIRED = ("id", "schema", "name", "aliases", "countries")


def read_opensanctions(path: Path) -> Reading:
    """Read an export; its date is the last one on which an entry of it was seen at its source.

    :raises Unreadable: if it is neither JSON in lines nor CSV with the columns of `targets.simple.csv`
    """
    encoding = encoding_of(path)
    with path.open(encoding=encoding) as file:
        start = file.read(100).lstrip()
    if start.startswith("{"):
        return Reading(partial(_from_json, path, encoding))
    _, header = next(rows(path, encoding), (0, []))
    if not set(_REQUIRED) <= set(header):
        raise Unreadable(f"{path.name} is neither JSON in lines nor CSV with the columns {', '.join(_REQUIRED)}.")
    return Reading(partial(_from_csv, path, encoding))


def _from_csv(path: Path, encoding: str, reading: Reading) -> Iterator[Entry]:
    numbered = rows(path, encoding, finished=True)
    header = [clean(name) for name in next(numbered)[1]]
    for row in table(numbered, header):
        reading.version = max(reading.version, iso_date(row.get("last_seen", "")))
        schema = row["schema"]
        if not _is_party(reading, schema):
            continue
        draft = _draft(reading, row["id"], schema)
        draft.add_names(row["name"], *_several(row["aliases"]))
        draft.add_birth_dates(*_several(row.get("birth_date", "")))
        draft.add_countries(*_several(row["countries"]))
        for address in _several(row.get("addresses", "")):
            draft.add_address(address)
        draft.add_identifiers(*_several(row.get("identifiers", "")))
        draft.add_programs(*_several(row.get("program_ids") or row.get("sanctions", "")))
        if entry := draft.entry():
            yield entry


def _several(text: str) -> list[str]:
    """Return the values of a cell: they have semicolons between them, and quotation marks if they hold one."""
    if '"' not in text:
        return text.split(";")
    return next(csv.reader([text], delimiter=";"), [])


def _from_json(path: Path, encoding: str, reading: Reading) -> Iterator[Entry]:
    with path.open(encoding=encoding) as file:
        for number, line in enumerate(lines(file, finished=True), 1):
            if not line.strip():
                continue
            entity = _entity(number, line)
            reading.version = max(reading.version, iso_date(str(entity.get("last_seen", ""))))
            schema = entity["schema"]
            if not _is_party(reading, schema):
                continue
            if entity.get("target") is False:
                reading.not_understood("not a target", schema)
            elif entry := _entry(reading, entity):
                yield entry


def _entity(number: int, line: str) -> dict[str, Any]:
    try:
        entity = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"Line {number} is not complete JSON.") from error
    match entity:
        case {"id": str(), "schema": str(), "properties": dict()}:
            return dict(entity)
    raise Unreadable(f"Line {number} is not an entity with id, schema and properties.")


def _entry(reading: Reading, entity: dict[str, Any]) -> Entry | None:
    draft = _draft(reading, entity["id"], entity["schema"])
    describe(draft, partial(_values, entity["properties"]))
    return draft.entry()


def _values(properties: dict[str, Any], *names: str) -> list[str]:
    found = (properties.get(name, []) for name in names)
    return [value for values in found if isinstance(values, list) for value in values if isinstance(value, str)]


def _draft(reading: Reading, entry_id: str, schema: str) -> Draft:
    if not clean(entry_id):
        raise Unreadable("An entity has no id; each was expected to have one.")
    draft = Draft(reading, entry_id, KINDS[schema])
    draft.set_url(_PAGE.format(quote(clean(entry_id), safe="")))
    return draft


def _is_party(reading: Reading, schema: str) -> bool:
    if schema in KINDS:
        return True
    if schema not in _NO_PARTIES:
        reading.not_understood("schema", schema)
    return False
