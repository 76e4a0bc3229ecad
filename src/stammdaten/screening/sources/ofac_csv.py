"""OFAC's lists as CSV: parties, aliases, addresses and overflowing remarks in files of their own; knows no XML.

After OFAC's data specification: no header, `-0-` for null, columns by position.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stammdaten.screening.entries import AIRCRAFT, ORGANISATION, PERSON, VESSEL, Entry
from stammdaten.screening.sources.csv_rows import encoding_of, rows
from stammdaten.screening.sources.drafts import Draft, clean
from stammdaten.screening.sources.ofac_remarks import read_remarks, spoken_name
from stammdaten.screening.sources.reading import Reading, Unreadable

DETAILS = "https://sanctionssearch.ofac.treas.gov/Details.aspx?id={}"
_KINDS = {"individual": PERSON, "vessel": VESSEL, "aircraft": AIRCRAFT, "": ORGANISATION}
_NULL = "-0-"
_PRIMARY_WIDTH, _ALIAS_WIDTH, _ADDRESS_WIDTH, _COMMENT_WIDTH = 12, 5, 6, 2
# A list handed on by others may have a header; its first column is one of these.
_HEADERS = {"id", "ent_num", "uid"}
# Longer remarks go on in the file of comments, cut in the middle of a word.
_REMARKS_LENGTH = 1_000


@dataclass(frozen=True)
class Files:
    """Where the parts of a list lie. A primary file alone is a list without aliases and addresses."""

    primary: Path
    aliases: Path | None = None
    addresses: Path | None = None
    comments: Path | None = None


def files_in(folder: Path, names: tuple[str, str, str, str]) -> Files:
    """Find the files of a list in a folder, by the names of primary, alias, address and comments file.

    :raises Unreadable: if the folder lacks one of the first three
    """
    found = {path.name.lower(): path for path in folder.iterdir() if path.is_file()}
    missing = [name for name in names[:3] if name not in found]
    if missing:
        raise Unreadable(f"The folder {folder.name} lacks {', '.join(missing)}; {', '.join(names[:3])} were expected.")
    primary, aliases, addresses, comments = names
    return Files(found[primary], found[aliases], found[addresses], found.get(comments))


def is_primary(path: Path) -> bool:
    """Tell whether a file begins as a list of parties does."""
    for _, row in rows(path, encoding_of(path, western=True)):
        return len(row) == _PRIMARY_WIDTH and (row[0].strip().isdecimal() or row[0].strip().lower() in _HEADERS)
    return False


def read_csv(files: Files) -> Reading:
    """Read a list of OFAC's in its CSV form."""
    return Reading(partial(_entries, files))


def _entries(files: Files, reading: Reading) -> Iterator[Entry]:
    aliases = _grouped(files.aliases, _ALIAS_WIDTH)
    addresses = _grouped(files.addresses, _ADDRESS_WIDTH)
    comments = _grouped(files.comments, _COMMENT_WIDTH)
    if files.aliases is None:
        reading.not_understood("aliases and addresses", "their files were not given")
    for line, row in _rows(files.primary, _PRIMARY_WIDTH):
        number = row[0]
        if not number.isdecimal():
            if line == 1 and number.lower() in _HEADERS:
                continue
            raise Unreadable(f"{files.primary.name}, line {line}: {number!r} stands where a number was expected.")
        overflow = "".join(comment[1] for comment in comments.pop(number, ()))
        draft = _draft(reading, row, overflow)
        draft.add_names(*(spoken_name(_value(alias[3]), draft.kind) for alias in aliases.pop(number, ())))
        for address in addresses.pop(number, ()):
            _add_address(draft, *map(_value, address[2:5]))
        if entry := draft.entry():
            yield entry
    for left, file in ((aliases, files.aliases), (addresses, files.addresses), (comments, files.comments)):
        if left and file:
            raise Unreadable(f"{file.name} speaks of the entry {next(iter(left))}, which {files.primary.name} lacks.")


def _draft(reading: Reading, row: list[str], overflow: str) -> Draft:
    number, name, kind, programs, _title, call_sign, _type, _tonnage, _gross, flag, _owner = map(_value, row[:11])
    draft = Draft(reading, number, _KINDS.get(kind.lower(), ""))
    if not draft.kind:
        reading.not_understood("kind", kind)
    draft.add_names(spoken_name(name, draft.kind))
    draft.add_programs(*programs.replace("] [", "; ").strip("[]").split("; "))
    draft.add_identifiers(call_sign)
    draft.add_countries(flag)
    draft.set_url(DETAILS.format(number))
    remarks = row[11] + overflow
    if len(row[11]) >= _REMARKS_LENGTH and not overflow:
        reading.not_understood("remarks", "cut off, the file of comments was not given")
        remarks = remarks.rpartition("; ")[0]
    read_remarks(draft, _value(remarks))
    return draft


def _add_address(draft: Draft, street: str, city: str, country: str) -> None:
    draft.add_address(street, city, country)
    draft.add_countries(country)


def _grouped(path: Path | None, width: int) -> dict[str, list[list[str]]]:
    """Return the rows of a file by the number of the entry they belong to."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for _, row in _rows(path, width) if path else ():
        found[row[0]].append(row)
    return found


def _rows(path: Path, width: int) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows(path, encoding_of(path, western=True), finished=True):
        if len(row) != width:
            raise Unreadable(f"{path.name}, line {line} has {len(row)} columns; {width} were expected.")
        row[0] = row[0].strip()
        yield line, row


def _value(text: str) -> str:
    said = clean(text)
    return "" if said == _NULL else said
