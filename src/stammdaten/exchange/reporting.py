"""The report of an import: a CSV file with a line for each thing that is wrong; knows no job."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from stammdaten.exchange.columns import safe
from stammdaten.exchange.rows import Remark

REPORT_HEADER = ("line", "article_number", "column", "what", "allowed")


def write_report(file: Path, remarks: Iterable[Remark], *, after: int) -> int:
    """Write remarks behind the first `after` bytes of a report, and return how long it is then.

    What stood there belongs to nothing that was stored: whoever wrote it died, or its transaction was undone.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    if not after:
        writer.writerow(REPORT_HEADER)
    for remark in remarks:
        writer.writerow(
            (str(remark.line), safe(remark.article_number), remark.column, safe(remark.what), remark.allowed)
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    with file.open("r+b") as report:
        report.seek(after)
        report.truncate()
        return after + report.write(text.getvalue().encode())
