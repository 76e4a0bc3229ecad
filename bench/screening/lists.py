"""The lists of the benchmark: official files by their readers, flattened ones by its own. Knows no scores."""

import csv
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from stammdaten.screening.countries import country_code
from stammdaten.screening.entries import AIRCRAFT, ORGANISATION, PERSON, VESSEL, Entry, Name, written
from stammdaten.screening.sources import read_source

Listed = list[tuple[str, str]]

_OFFICIAL = (
    ("ofac-sdn", "ofac-2021-07"),
    ("ofac-consolidated", "ofac-consolidated/consolidated.xml"),
    ("un", "un-consolidated-2025-04-19.xml"),
    ("un", "un-consolidated-2026-02-27.xml"),
    ("ca", "canada-sema-2025.xml"),
)
_FLATTENED = ("eu-names-2025-06.csv", "uk-names-2025-06.csv")
_WITH_HEADER = "ofac-sdn-2023-11-with-header.csv"
_KINDS = {"individual": PERSON, "vessel": VESSEL, "aircraft": AIRCRAFT}
_NAMES_AN_ENTRY = 2


def read_lists(data: Path) -> Listed:
    """Read all lists there are, as (source, document); each file is a source of its own."""
    folder = data / "sanctions"
    listed = []
    for source, path in _OFFICIAL:
        listed += [(f"{source} {path}", written(entry)) for entry in read_source(source, folder / path)]
    for path in _FLATTENED:
        listed += [(path, written(entry)) for entry in _flattened(folder / path)]
    listed += [(_WITH_HEADER, written(entry)) for entry in _with_header(folder / _WITH_HEADER)]
    return listed


def names_of(listed: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Give every listed name as it is written."""
    for _, document in listed:
        for name, _ in json.loads(document)["names"]:
            yield name


def extended(listed: Listed, names: int) -> Listed:
    """Return the lists with made-up entries until they hold so many names, put together of parts of real ones."""
    known = [name.split() for name in names_of(listed)]
    chance = random.Random(7)
    more: Listed = []
    missing = names - len(known)
    while missing > 0:
        made = tuple(Name(_mixed(known, chance)) for _ in range(_NAMES_AN_ENTRY))
        entry = Entry(entry_id=f"made-{len(more)}", names=made, kind=PERSON, nationalities=("XA",))
        more.append(("made", written(entry)))
        missing -= len(made)
    return listed + more


def _mixed(known: list[list[str]], chance: random.Random) -> str:
    one, other = chance.choice(known), chance.choice(known)
    return " ".join([*one[: (len(one) + 1) // 2], *other[len(other) // 2 :]])


def _flattened(path: Path) -> Iterator[Entry]:
    for number, row in enumerate(_rows(path)):
        names = dict.fromkeys([row["Name"], *_parts(row["Alias"])])
        countries = filter(None, map(country_code, _parts(row["Nationality"])))
        yield Entry(
            entry_id=str(number),
            names=tuple(Name(name) for name in names if name),
            kind=PERSON if row["Designation"] == "person" else "",
            nationalities=tuple(dict.fromkeys(countries)),
        )


def _with_header(path: Path) -> Iterator[Entry]:
    for number, row in enumerate(_rows(path)):
        kind = _KINDS.get(row["Type"].strip(), ORGANISATION)
        last, comma, first = row["Name"].partition(", ")
        name = f"{first} {last}" if comma and kind == PERSON else row["Name"]
        yield Entry(entry_id=f"{number}", names=(Name(name),), kind=kind)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        yield from csv.DictReader(file)


def _parts(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]
