"""CSV files as rows of cells: encodings, headers, lines; knows no product."""

import codecs
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stammdaten.exchange.columns import BY_NAME, EXPORTED_ONLY, KEY
from stammdaten.refusals import Malformed

UTF8, WINDOWS = "utf-8", "windows-1252"
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that can be read: its encoding, and the names of its columns in their order."""

    path: Path
    encoding: str
    columns: tuple[str, ...]

    def rows(self, *, after: int = 0) -> Iterator[tuple[int, list[str]]]:
        """Read the cells of each row with the number of its last line, from behind a line on; blank lines are no rows.

        :raises Malformed: if a line cannot be read; the rows before it could.
        """
        with self.path.open(encoding=_codec(self.encoding), newline="") as file:
            reader = csv.reader(file, delimiter=";", strict=True)
            try:
                next(reader)
                for cells in reader:
                    if cells and reader.line_num > after:
                        yield reader.line_num, cells
            except csv.Error as error:
                raise Malformed(f"Line {reader.line_num} cannot be read: {error}.") from error
            except UnicodeDecodeError as error:
                raise Malformed(f"Behind line {reader.line_num} stands what no {self.encoding} is.") from error


def open_csv(path: Path) -> Opened:
    """Look at a file: which encoding it has, and which columns.

    :raises Malformed: if it has no header, or one that names a column twice, an unknown one, or no article number.
    """
    encoding = _encoding_of(path)
    with path.open(encoding=_codec(encoding), newline="") as file:
        try:
            header = next(csv.reader(file, delimiter=";", strict=True), [])
        except (csv.Error, UnicodeDecodeError) as error:
            raise Malformed(f"The header cannot be read: {error}.") from error
    columns = tuple(name.strip() for name in header)
    unknown = [name for name in columns if name not in BY_NAME and name not in EXPORTED_ONLY]
    if unknown:
        raise Malformed(f"The header names {unknown[0][:100]!r}; columns are {', '.join(BY_NAME)}.")
    if KEY not in columns or len(set(columns)) < len(columns):
        raise Malformed(f"The header must name columns with semicolons between them, each once, {KEY} among them.")
    return Opened(path, encoding, columns)


def _encoding_of(path: Path) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while part := file.read(_READ_BYTES):
                decoder.decode(part)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return WINDOWS
    return UTF8


def _codec(encoding: str) -> str:
    return "utf-8-sig" if encoding == UTF8 else "cp1252"
