"""Files as rows of cells: CSV or workbook, encodings, headers, lines; knows no product."""

import codecs
import csv
import re
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from stammdaten.exchange.columns import BY_NAME, EXPORTED_ONLY, KEY
from stammdaten.exchange.unpacking import Unreadable, unpacked, unpacked_rows

UTF8, WINDOWS, WORKBOOK = "utf-8", "windows-1252", "xlsx"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
# Or the beginning of one, where the file ends.
_UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf](?:[\x80-\xbf]|\Z)"
    rb"|[\xe0-\xef](?:[\x80-\xbf]{2}|[\x80-\xbf]?\Z)"
    rb"|[\xf0-\xf4](?:[\x80-\xbf]{3}|[\x80-\xbf]{,2}\Z)"
)
# What the library says, in words of files.
_CSV_ERRORS = {
    "new-line character": "lines must end with CRLF or LF",
    "unexpected end": "a quotation mark is not closed",
    "';' expected": "behind a closing quotation mark, a semicolon or the end of the line must follow",
}
_READ_BYTES = 1 << 20
_LONGEST_ROW = 1 << 20
# A row may be one long cell. The library's own limit, which is one for the whole process, would end a file amid what an
# export wrote.
csv.field_size_limit(_LONGEST_ROW)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Opened:
    """A file that can be read: its encoding, the names of its columns in their order, and where its lines come from.

    `line_count` is for showing progress, and 0 where it is not known.
    """

    encoding: str
    columns: tuple[str, ...]
    line_count: int
    _lines: Callable[[], Iterator[tuple[int, list[str]]]]

    def rows(self, *, after: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Read the cells of each row with the number of its last line, from behind a line on; empty rows are no rows.

        :raises Unreadable: if a line cannot be read; the rows before it could.
        """
        rows = ((line, cells) for line, cells in self._lines() if any(cells))
        next(rows)
        for line, cells in rows:
            if line > after:
                yield line, cells


def open_file(path: Path) -> Opened:
    """Look at a file: whether it is CSV, in which encoding, or a workbook, and which columns it has.

    :raises Unreadable: if it cannot be read, or has no header, or one that names a column twice, an unknown one, or no
        article number.
    """
    with path.open("rb") as file:
        magic = file.read(8)
    if magic == _OLE:
        raise Unreadable("The file is an .xls workbook, or one with a password; .xlsx without one and CSV are allowed.")
    if magic.startswith(_UTF16):
        raise Unreadable("The file is UTF-16, which spreadsheets call Unicode text; UTF-8, or a workbook, is allowed.")
    if magic.startswith(_GZIP):
        raise Unreadable("The file is compressed; CSV and .xlsx are allowed as they are.")
    if not magic.startswith(_ZIP):
        encoding, line_count = _look_through(path)
        return _opened(encoding, partial(_csv_lines, path, encoding), line_count)
    rows = unpacked(path)
    try:
        opened = _opened(WORKBOOK, partial(unpacked_rows, rows))
    except Unreadable:
        rows.close()
        raise
    weakref.finalize(opened, rows.close)
    return opened


def _opened(encoding: str, lines: Callable[[], Iterator[tuple[int, list[str]]]], line_count: int = 0) -> Opened:
    # Spreadsheets save empty rows too, as lines of separators.
    header: list[str] = next((cells for _, cells in lines() if any(cells)), [])
    columns = tuple(name.strip() for name in header)
    between = "one a cell" if encoding == WORKBOOK else "with semicolons between them"
    if not header:
        raise Unreadable(f"The file is empty; it must begin with a header that names columns, {between}.")
    for name in columns:
        if name not in BY_NAME and name not in EXPORTED_ONLY:
            raise Unreadable(f"The header names {name[:100]!r}; {_likely(name, between)}")
        if columns.count(name) > 1:
            raise Unreadable(f"The header names {name} twice.")
    if KEY not in columns:
        raise Unreadable(f"The header must name the column {KEY}.")
    return Opened(encoding, columns, line_count, lines)


def _likely(name: str, between: str) -> str:
    """Say what is likely wrong with the name of a column."""
    if name.startswith("--"):
        return "is it a form? The body must be the file itself."
    if "," in name:
        return "it must have semicolons, not commas, between the names."
    if name.lower() in BY_NAME:
        return f"it must be {name.lower()}, in lower case."
    return f"it must name columns, {between}: {', '.join(BY_NAME)}."


def _csv_lines(path: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    with path.open("rb") as file:
        lines = _Lines(file, encoding)
        reader = csv.reader(lines, delimiter=";", strict=True)
        try:
            for cells in reader:
                lines.row_length = 0
                yield reader.line_num, cells
        except csv.Error as error:
            why = next((why for known, why in _CSV_ERRORS.items() if str(error).startswith(known)), str(error))
            raise Unreadable(f"Line {reader.line_num} cannot be read: {why}.", line=reader.line_num) from error


class _Lines:
    """The lines of a file; a row that never ends, on one line or on many, must not fill the memory."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file = file
        self._encoding = encoding
        self.row_length = 0

    def __iter__(self) -> Iterator[str]:
        number = 0
        if self._file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            self._file.seek(0)
        while line := self._file.readline(_LONGEST_ROW):
            number += 1
            self.row_length += len(line)
            if self.row_length >= _LONGEST_ROW:
                raise Unreadable(f"Line {number} belongs to a row of {_LONGEST_ROW} bytes or more.", line=number)
            try:
                yield line.decode(self._encoding)
            except UnicodeDecodeError as error:
                sentence = f"Line {number} is no {self._encoding}, as which the file is read."
                raise Unreadable(sentence, line=number) from error


def _look_through(path: Path) -> tuple[str, int]:
    """Return the encoding of a CSV file, and how many lines it has.

    The first character that is not ASCII decides. A fault further on, or a file that is cut amid a character, must not
    turn all its umlauts into two characters each.
    """
    encoding, lines, part = "", 0, b""
    with path.open("rb") as file:
        while read := file.read(_READ_BYTES):
            part = read
            lines += part.count(b"\n")
            if not encoding and (found := _NOT_ASCII.search(part)):
                back = file.tell()
                file.seek(back - len(part) + found.start())
                encoding = UTF8 if _UTF8_CHARACTER.match(file.read(4)) else WINDOWS
                file.seek(back)
    return encoding or UTF8, lines if part.endswith(b"\n") else lines + 1
