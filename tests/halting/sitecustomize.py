"""Lets a process of the service stand still at a place, however fast or slow the machine is; knows no test.

Python imports this when it starts, if this folder is on its path. HALT is a file; its name is the place, which two
batches pass. The third stands still before it as long as the file is there, and makes it a byte long to say so.
Private names of the service that tests hold on to are here and nowhere else.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from stammdaten.contacts import rescreening
from stammdaten.exchange import exporting, importing
from stammdaten.exchange.reporting import write_report
from stammdaten.screening import staging

_mark = Path(os.environ["HALT"])
# A test that failed removes no file, nor ends its processes.
_deadline = time.monotonic() + 600
_passed = {_mark.name: 0}

_import_batches, _load_batches = importing._batches, staging._batches
_exported_rows, _checks = exporting._exported_rows, rescreening._checks


def _halt(place: str) -> None:
    if place != _mark.name:
        return
    _passed[place] += 1
    while _mark.exists():
        if _passed[place] < 3 or time.monotonic() > _deadline:
            return
        with suppress(FileNotFoundError):
            os.truncate(_mark, 1)
        time.sleep(0.01)
    _passed[place] = 0


def _imported(*given: Any, **named: Any) -> Iterator[Any]:
    """Between two transactions of an import."""
    for batch in _import_batches(*given, **named):
        _halt("import")
        yield batch


def _reported(file: Path, remarks: Any, *, after: int) -> int:
    """In a transaction of an import, when its report is written already."""
    length = write_report(file, remarks, after=after)
    if remarks:
        _halt("report")
    return length


async def _exported(*given: Any, **named: Any) -> AsyncGenerator[Any, None]:
    async for rows in _exported_rows(*given, **named):
        await asyncio.to_thread(_halt, "export")
        yield rows


def _loaded(*given: Any, **named: Any) -> Iterator[Any]:
    """Between two transactions of loading a sanctions list."""
    for batch in _load_batches(*given, **named):
        _halt("load")
        yield batch


async def _checked(*given: Any, **named: Any) -> Any:
    """Between two transactions of a job that screens contacts."""
    await asyncio.to_thread(_halt, "screen")
    return await _checks(*given, **named)


importing._batches = _imported
importing.write_report = _reported  # type: ignore[attr-defined]  # a name that it imports
exporting._exported_rows = _exported
staging._batches = _loaded
rescreening._checks = _checked
