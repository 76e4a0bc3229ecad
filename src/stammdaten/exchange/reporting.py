"""The report of an import: a CSV file with a line for each thing that is wrong; knows no job."""

import asyncio
import csv
import io
import os
from collections.abc import AsyncGenerator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from stammdaten.exchange.columns import plain, safe
from stammdaten.exchange.rows import Remark
from stammdaten.http.fields import SHORT

# Both characters: the writer puts quotation marks around what holds one of these, and around no other line break.
_LINE_END = "\r\n"
_READ_BYTES = 1 << 18


class ReportLine(NamedTuple):
    """A line of a report; `line` is that of the file that was imported."""

    line: int
    article_number: str
    column: str
    what: str
    allowed: str


REPORT_HEADER = ReportLine._fields


def write_report(file: Path, remarks: Iterable[Remark], *, after: int) -> int:
    """Write remarks behind the first `after` bytes of a report, and return how long it is then.

    What stood there belongs to nothing that was stored: whoever wrote it died, or its transaction was undone.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator=_LINE_END)
    if not after:
        writer.writerow(REPORT_HEADER)
    for remark in remarks:
        # What stands in the place of an article number may be as long as a file allows.
        article_number = safe(remark.article_number[:SHORT])
        writer.writerow((str(remark.line), article_number, remark.column, safe(remark.what), remark.allowed))
    written = text.getvalue().encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    with file.open("r+b") as report:
        report.seek(after)
        report.truncate()
        report.write(written)
        if written:
            # On the disk before the transaction that tells of it.
            report.flush()
            os.fsync(report.fileno())
    return after + len(written)


def report_lines(file: Path, *, length: int, most: int) -> list[ReportLine]:
    """Read the first lines of the first `length` bytes of a report; none where there is no report."""
    try:
        with file.open("rb") as report:
            rows = csv.reader(_lines(report, length), delimiter=";")
            return [
                ReportLine(int(line), plain(article_number), column, plain(what), allowed)
                for line, article_number, column, what, allowed in islice(rows, 1, most + 1)
            ]
    except FileNotFoundError:
        return []


def _lines(report: BinaryIO, length: int) -> Iterator[str]:
    while line := report.readline(length):
        length -= len(line)
        yield line.decode()


async def report_parts(file: Path, *, length: int) -> AsyncGenerator[bytes, None]:
    """Read the first `length` bytes of a report, some at a time; the header alone where there is no report."""
    header = f"{';'.join(REPORT_HEADER)}{_LINE_END}".encode()
    try:
        report: BinaryIO = file.open("rb") if length else io.BytesIO(header)
    except FileNotFoundError:
        report = io.BytesIO(header)
    with report:
        length = length or len(header)
        while part := await asyncio.to_thread(report.read, min(length, _READ_BYTES)):
            length -= len(part)
            yield part
