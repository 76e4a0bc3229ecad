"""Excel workbooks as rows of text cells; knows no column and no product.

Invariant: a workbook that came from outside is unpacked by a process of its own, under limits of memory, time and disk.
The library lays a sheet out as a full grid, so that two cells in far corners, a file of a kilobyte, end the process
that reads them, and no declared size in the file tells beforehand.
"""

import csv
import datetime as dt
import errno
import os
import posixpath
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import IO, Any
from xml.parsers import expat
from zipfile import ZipFile

from defusedxml import ElementTree  # type: ignore[import-untyped]  # ships no types
from python_calamine import SheetTypeEnum, SheetVisibleEnum, load_workbook

from stammdaten.refusals import Malformed, Unavailable

# 600,000 rows of 12 texts, written as Excel does, take 0.9 GiB of memory, 0.2 GiB of disk and 17 seconds; who has more
# sends CSV, and a service on a small machine lives on beside it.
UNPACKING_MEMORY = 1 << 30
UNPACKING_DISK = 1 << 30
UNPACKING_SECONDS = 120
# Of the clock, for a machine that has other things to do.
_PATIENCE = 10 * UNPACKING_SECONDS
# The memory is there once, however many imports are under way.
_ONE_AT_A_TIME = Lock()
_UNREADABLE, _TOO_MUCH, _UNCALCULATED, _NO_ROOM = 3, 4, 5, 6
# How the limits, and a library that runs into them, end a process.
_ENDS = (_TOO_MUCH, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGXCPU)

_EXACT = 2**53
_READ_BYTES = 1 << 20
_ERROR_OR_FORMULA = re.compile(rb"""["']e["']|[<:]f[\s/>]""")
_REFERENCE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")


class Unreadable(Malformed):
    """A file cannot be read from a line on, or not at all."""

    def __init__(self, sentence: str, *, line: int = 1) -> None:
        super().__init__(sentence)
        self.line = line


def unpacked(path: Path) -> IO[str]:
    """Unpack the first visible sheet of a workbook into a file for `unpacked_rows` that has no name; close it.

    :raises Unreadable: if it cannot be read within the limits.
    :raises Unavailable: if there is no room for the rows.
    """
    rows = tempfile.TemporaryFile("w+", dir=path.parent, encoding="utf-8", newline="")  # noqa: SIM115 - handed out
    try:
        _unpack(path, rows)
    except BaseException:
        rows.close()
        raise
    return rows


def unpacked_rows(rows: IO[str]) -> Iterator[tuple[int, list[str]]]:
    """Read rows with their numbers, each of the header's width at least; the header first, empty rows left out.

    :raises Unreadable: if a cell is longer than a row of a CSV file may be.
    """
    rows.seek(0)
    line = 0
    try:
        for number, *cells in csv.reader(rows):
            line = int(number)
            yield line, cells
    except csv.Error as error:
        raise Unreadable(f"The row behind row {line} cannot be read: {error}.", line=line + 1) from error


def _unpack(path: Path, rows: IO[str]) -> None:
    try:
        with _ONE_AT_A_TIME:
            done = subprocess.run(  # noqa: S603 - nothing of the file but its place is in the command
                [sys.executable, "-P", "-m", __name__, str(path)],
                stdin=subprocess.DEVNULL,
                stdout=rows,
                stderr=subprocess.PIPE,
                # No more than it takes to find this module: the environment of a service holds secrets.
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
                timeout=_PATIENCE,
                check=False,
            )
        ended = done.returncode
    except subprocess.TimeoutExpired:
        ended = _TOO_MUCH
    if ended in _ENDS:
        raise Unreadable(
            f"The workbook takes more than {UNPACKING_MEMORY >> 20} MiB of memory or {UNPACKING_SECONDS} seconds to "
            "read; send fewer rows at once, or a CSV file."
        )
    if ended == _UNREADABLE:
        raise Unreadable("The file is no workbook that can be read; .xlsx without a password and CSV are allowed.")
    if ended == _UNCALCULATED:
        raise Unreadable(
            "The workbook has formulas without values; open it in a spreadsheet, save it and send it again."
        )
    if ended == _NO_ROOM:
        raise Unavailable("There is no room on the disk to unpack a workbook.")
    if ended:
        raise RuntimeError(f"Unpacking a workbook ended with {ended}: {done.stderr[-2000:]!r}")


# From here on: the process of its own.


class _Refused(Exception):  # noqa: N818 - says what the file is
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _main(path: str) -> int:
    for kind, most in (
        (resource.RLIMIT_AS, UNPACKING_MEMORY),
        (resource.RLIMIT_FSIZE, UNPACKING_DISK),
        (resource.RLIMIT_CPU, UNPACKING_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hardest = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hardest == resource.RLIM_INFINITY else min(most, hardest), hardest))
    try:
        with open(1, "w", encoding="utf-8", newline="", closefd=False) as out:
            csv.writer(out).writerows(_filled(_readable(path)))
    except _Refused as refused:
        return refused.code
    except MemoryError:
        return _TOO_MUCH
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return _NO_ROOM
        # Anything else is no fault of the file.
        if error.errno != errno.EFBIG:
            raise
        return _TOO_MUCH
    return 0


def _readable(path: str) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from _rows(path)
    except (MemoryError, GeneratorExit, _Refused):
        raise
    except BaseException as error:
        # A panic of the library is no Exception, and hostile archives and XML raise errors of every kind.
        raise _Refused(_UNREADABLE) from error


def _filled(rows: Iterator[tuple[int, list[str]]]) -> Iterator[list[str]]:
    """Return rows with their numbers as the first cell: empty ones left out, and all as wide as the first."""
    width = 0
    for number, cells in rows:
        while cells and not cells[-1] and len(cells) > width:
            cells.pop()
        if any(cells):
            width = width or len(cells)
            yield [str(number), *cells, *[""] * (width - len(cells))]


def _rows(path: str) -> Iterator[tuple[int, list[str]]]:
    with load_workbook(path) as workbook:
        place = next(
            place
            for place, sheet in enumerate(workbook.sheets_metadata)
            if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
        )
        errors = _errors_in(path, place)
        sheet = workbook.get_sheet_by_index(place)
        # The library counts rows from the top, but columns from the first that is used.
        first = sheet.start[1] + 1 if sheet.start else 1
        for number, values in enumerate(sheet.iter_rows(), 1):
            cells = [value if isinstance(value, str) else _text(value) for value in values]
            for column, error in errors.get(number, {}).items():
                cells[column - first] = error
            yield number, cells


def _text(value: Any) -> str:
    """Write a value as CSV has it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) <= _EXACT else str(value)
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)


def _errors_in(path: str, place: int) -> dict[int, dict[int, str]]:
    with ZipFile(path) as archive:
        name = _part(archive, place)
        with archive.open(name) as part:
            if not _has_errors_or_formulas(part):
                return {}
        with archive.open(name) as part:
            return _Errors().read(part)


def _has_errors_or_formulas(part: IO[bytes]) -> bool:
    """Tell whether a sheet may have any: a tenth of the time that it takes to look for them."""
    before = b""
    while read := part.read(_READ_BYTES):
        if _ERROR_OR_FORMULA.search(before + read):
            return True
        before = read[-2:]
    return False


def _part(archive: ZipFile, place: int) -> str:
    """Return the name of the part that is a sheet."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    sheet = [element for element in book.iter() if element.tag.rpartition("}")[2] == "sheet"][place]
    key = next(value for name, value in sheet.items() if name.endswith("}id"))
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    target = next(str(relation.get("Target")) for relation in relations if relation.get("Id") == key)
    return posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")


class _Errors:
    """The errors in a sheet, like #N/A, by row and column: the library gives them as empty cells, which clear fields.

    So would formulas without a value, as programs write them that do not calculate: they are refused.
    """

    def __init__(self) -> None:
        self.found: dict[int, dict[int, str]] = defaultdict(dict)
        self._row = self._column = 0
        self._type = self._value = ""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start

    def read(self, part: IO[bytes]) -> dict[int, dict[int, str]]:
        self._parser.ParseFile(part)
        return self.found

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
        elif name == "c":
            self._type, self._value = attributes.get("t", ""), ""
            self._column += 1
            if reference := _REFERENCE.fullmatch(attributes.get("r", "")):
                self._row, self._column = int(reference[2]), _column(reference[1].upper())
            # Other cells are passed by as fast as can be.
            self._parser.EndElementHandler = self._end if self._type == "e" else None
        elif name == "f":
            self._parser.EndElementHandler = self._end
        elif name == "v" and self._parser.EndElementHandler:
            self._parser.CharacterDataHandler = self._collect

    def _collect(self, text: str) -> None:
        self._value += text.strip()

    def _end(self, name: str) -> None:
        self._parser.CharacterDataHandler = None
        if name.rpartition(":")[2] != "c":
            return
        if self._type == "e":
            self.found[self._row][self._column] = self._value
        elif self._type != "str" and not self._value:  # a text may be an empty one
            raise _Refused(_UNCALCULATED)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
