"""Excel workbooks as they are written: rows of text cells, in constant memory; knows no product."""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from pathlib import Path

from xlsxwriter import Workbook  # type: ignore[import-untyped]  # ships no types

from stammdaten.refusals import TooLarge

_MOST_ROWS = 1_048_576
# What a workbook takes for an escape sequence, and what XML cannot hold.
_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f]")
# What not even an escape sequence gives back.
_LOST = re.compile(r"[\ufffe\uffff]")


def check_rows(count: int) -> None:
    """Refuse so many rows below the header.

    :raises TooLarge: if no workbook can hold them.
    """
    if count >= _MOST_ROWS:
        raise TooLarge(f"A workbook holds {_MOST_ROWS - 1} articles at most; export the list as CSV.")


@contextmanager
def written_workbook(path: Path, header: Sequence[str]) -> Iterator[Callable[[Iterable[Sequence[str]]], None]]:
    """Write a workbook; yields a function that takes the next rows of text cells, the key first.

    Nothing stands at the path if this fails. The function raises TooLarge if no workbook can hold the rows.
    """
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / path.name
        workbook = Workbook(str(made), {"constant_memory": True, "tmpdir": folder})
        try:
            yield _sheet_of(workbook, header)
        finally:
            # Also what is thrown away: nothing else closes the library's own files.
            workbook.close()
        made.replace(path)


def _sheet_of(workbook: Workbook, header: Sequence[str]) -> Callable[[Iterable[Sequence[str]]], None]:
    workbook.use_zip64()
    bold, text = workbook.add_format({"bold": True}), workbook.add_format({"num_format": "@"})
    sheet = workbook.add_worksheet("articles")
    # As text, so that an article number that somebody types keeps its leading zeros. Not of all 16,384 columns: the
    # library would look at as many for each row.
    sheet.set_column(0, len(header) - 1, 20, text)
    sheet.freeze_panes(1, 1)
    sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{_MOST_ROWS}"})
    sheet.write_row(0, 0, header, bold)
    line = 1

    def append(rows: Iterable[Sequence[str]]) -> None:
        nonlocal line
        for cells in rows:
            check_rows(line)
            for place, cell in compress(enumerate(cells), cells):
                if _LOST.search(cell):
                    raise TooLarge(
                        f"Article {cells[0][:255]!r} has a character that no workbook holds, U+FFFE or U+FFFF; export "
                        "the list as CSV."
                    )
                if sheet.write_string(line, place, _written(cell)):
                    raise TooLarge(
                        f"Article {cells[0][:255]} has a text that is too long for a workbook, where a cell holds "
                        "32767 characters; export the list as CSV."
                    )
            line += 1

    return append


def _written(text: str) -> str:
    """Write a text so that the library and Excel give it back."""
    if not (text.startswith("<r>") or _ESCAPED.search(text)):
        return text
    # The library passes on as XML what is framed like this, and would also take such a text for it. It escapes only
    # every other of two sequences that share an underscore; as character references it sees none of them.
    escaped = _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
    for plain, reference in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("_", "&#95;")):
        escaped = escaped.replace(plain, reference)
    return f'<r><t xml:space="preserve">{escaped}</t></r>'
