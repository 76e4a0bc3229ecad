"""CSV as a stream of rows of the width that is expected; knows no list."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from stammdaten.screening.sources.drafts import clean
from stammdaten.screening.sources.reading import Unreadable

# An official list's longest line, a statement of reasons, has some 20,000 characters.
_LONGEST_LINE = 1_000_000
_BLOCK = 1 << 20
# OFAC ends its files as DOS did.
_DOS_END = "\x1a"


def encoding_of(path: Path, *, western: bool = False) -> str:
    """Return `utf-8-sig`, or `cp1252` where a Western encoding is allowed and the file is not UTF-8.

    The whole file decides, not its beginning.

    :raises Unreadable: if the file is in neither encoding
    """
    for encoding in ("utf-8-sig", "cp1252") if western else ("utf-8-sig",):
        try:
            with path.open(encoding=encoding, newline="") as file:
                while file.read(_BLOCK):
                    pass
        except UnicodeDecodeError:
            continue
        return encoding
    raise Unreadable(f"{path.name} is not text in UTF-8{' or Windows-1252' if western else ''}.")


def rows(path: Path, encoding: str, *, delimiter: str = ",", finished: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line of each row that is not empty, and the row.

    :raises Unreadable: if a quotation is not closed, a line holds NUL or is too long, or, where the file must be
        `finished`, its last line has no end
    """
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(lines(file, finished=finished), delimiter=delimiter, strict=True)
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise Unreadable(f"{path.name}, line {reader.line_num}: {error}; complete CSV was expected.") from error
            if row:
                yield reader.line_num, row


def table(numbered: Iterator[tuple[int, list[str]]], header: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield each row as a dictionary of cleaned texts by the names of the header.

    :raises Unreadable: if a row is not as wide as the header
    """
    width = len(header)
    for line, row in numbered:
        if len(row) != width:
            raise Unreadable(f"Line {line} has {len(row)} columns; the header has {width}.")
        yield dict(zip(header, map(clean, row), strict=True))


def lines(file: TextIO, *, finished: bool) -> Iterator[str]:
    """Yield the lines of a file, without the mark with which DOS ended one.

    :raises Unreadable: if a line holds NUL or is too long, or the last one, where it must be `finished`, has no end
    """
    number = 0
    last = "\n"
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if len(line) >= _LONGEST_LINE:
            raise Unreadable(f"Line {number} is longer than {_LONGEST_LINE} characters.")
        if "\x00" in line:
            raise Unreadable(f"Line {number} holds a NUL character; text was expected.")
        if line.strip(" \r\n,;") == _DOS_END:  # with the separators that others' programs append
            continue
        last = line
        yield line
    if finished and not last.endswith(("\n", "\r")):
        raise Unreadable(f"Line {number}, the last one, has no end; the file seems to be cut short.")
