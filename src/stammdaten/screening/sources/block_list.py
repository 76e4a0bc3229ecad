"""A company's own list of parties it does not deal with, CSV with a header; knows no official list."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from stammdaten.screening.entries import AIRCRAFT, ORGANISATION, PERSON, VESSEL, Entry
from stammdaten.screening.sources.csv_rows import encoding_of, rows
from stammdaten.screening.sources.drafts import Draft, clean
from stammdaten.screening.sources.reading import Reading, Unreadable

COLUMNS = ("id", "name", "uid", "kind", "country", "comment", "aliases")
_KINDS = {
    "": "",
    "person": PERSON,
    "individual": PERSON,
    "organisation": ORGANISATION,
    "organization": ORGANISATION,
    "company": ORGANISATION,
    "vessel": VESSEL,
    "ship": VESSEL,
    "aircraft": AIRCRAFT,
}


def read_block_list(path: Path) -> Reading:
    """Read a block list: comma or semicolon, UTF-8; columns `name` and/or `uid`, of which a row needs one.

    Optional are `id`, `kind`, `country`, `comment` and `aliases`, with `|` between them. Without an `id` the uid or
    the name identifies an entry. The uid becomes the identifier `uid:<uid>`, the comment a programme.

    :raises Unreadable: if the first line is not such a header
    """
    encoding = encoding_of(path)
    delimiter = _delimiter(path, encoding)
    _, first = next(rows(path, encoding, delimiter=delimiter), (0, list[str]()))
    header = [clean(name).lower() for name in first]
    if not {"name", "uid"} & set(header) or len(set(header)) < len(header):
        raise Unreadable("Line 1 is not a header with the column name or uid, each column once.")
    return Reading(partial(_entries, rows(path, encoding, delimiter=delimiter), header))


def _entries(numbered: Iterator[tuple[int, list[str]]], header: list[str], reading: Reading) -> Iterator[Entry]:
    next(numbered)
    for name in set(header) - set(COLUMNS):
        reading.not_understood("column", name)
    for line, row in numbered:
        if len(row) != len(header):
            raise Unreadable(f"Line {line} has {len(row)} columns; the header has {len(header)}.")
        values = dict(zip(header, map(clean, row), strict=True))
        if any(values.values()):
            yield _entry(reading, line, values)


def _entry(reading: Reading, line: int, values: dict[str, str]) -> Entry:
    name, uid = values.get("name", ""), values.get("uid", "")
    if not (name or uid):
        raise Unreadable(f"Line {line} has neither a name nor a uid; one of them was expected.")
    kind = values.get("kind", "").lower()
    if kind not in _KINDS:
        reading.not_understood("kind", kind)
    derived = f"uid:{uid}" if uid else f"name:{name.casefold()[:200]}"
    draft = Draft(reading, values.get("id") or derived, _KINDS.get(kind, ""))
    draft.add_names(name, *values.get("aliases", "").split("|"))
    draft.add_countries(values.get("country"))
    draft.add_identifiers(f"uid:{uid}" if uid else "")
    draft.add_programs(values.get("comment"))
    entry = draft.entry(nameless=bool(uid))
    if entry is None:
        raise Unreadable(f"Line {line} has a name that is too long, and no uid.")
    return entry


def _delimiter(path: Path, encoding: str) -> str:
    with path.open(encoding=encoding, newline="") as file:
        header = file.readline(10_000)
    return ";" if header.count(";") > header.count(",") else ","
