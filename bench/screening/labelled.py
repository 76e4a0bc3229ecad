"""The labelled cases of the benchmark, a third of them held out by a hash. Knows no index and no scores."""

import csv
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stammdaten.screening.entries import ORGANISATION, PERSON
from stammdaten.screening.parties import Party

_KINDS = {"Person": PERSON, "Vessel": "vessel"}


class Pair(NamedTuple):
    """Two names that are one party's, or not."""

    name: str
    other: str
    is_same: bool
    kind: str
    is_held_out: bool


class Negative(NamedTuple):
    """A made-up person that must not match."""

    party: Party
    is_held_out: bool


def mistreated(data: Path) -> list[Pair]:
    """Return listed names (`other`) with a mistreated form (`name`)."""
    return list(_pairs(data / "labelled" / "pairs_treat8.csv"))


def un_pairs(data: Path) -> list[Pair]:
    """Return names of the UN list with mistreated forms."""
    return list(_pairs(data / "labelled" / "pairs_un_treated.csv"))


def name_bench(data: Path) -> list[Pair]:
    """Return pairs of names labelled same or not."""
    return list(_pairs(data / "labelled" / "pairs_nk_name_bench.csv"))


def negatives(data: Path) -> list[Negative]:
    """Return made-up persons as the contacts they would be."""
    found = []
    for row in _rows(data / "labelled" / "yente_negatives_global.csv"):
        party = Party(
            first_name=f"{row['first_name']} {row['middle_name']}".strip(),
            last_name=row["last_name"],
            gender=row["gender"] if row["gender"] in {"male", "female"} else "",
            country=row["nationality"],
        )
        found.append(Negative(party, _is_held_out(row)))
    return found


def _pairs(path: Path) -> Iterator[Pair]:
    for row in _rows(path):
        kind = _KINDS.get(row.get("schema", "Person"), ORGANISATION)
        yield Pair(row["name_a"], row["name_b"], row["same"] == "1", kind, _is_held_out(row))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _is_held_out(row: dict[str, str]) -> bool:
    return zlib.crc32(repr(sorted(row.items())).encode()) % 3 == 0
