"""Exporting lists to files; what was exported can be imported again without any change."""

import asyncio
import csv
import io
import json
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import and_, func, select

from stammdaten.classification.tables import classifications
from stammdaten.clock import german_stamp, utc_now, utc_stamp
from stammdaten.exchange.columns import HEADER, exported_row
from stammdaten.exchange.workbooks import check_rows, written_workbook
from stammdaten.jobs.queue import ask
from stammdaten.jobs.running import Handler, Job
from stammdaten.lists.queries import live_lists
from stammdaten.products.queries import PRODUCT_COLUMNS, RECORD_COLUMNS, kept_product
from stammdaten.products.tables import has_its_number, products
from stammdaten.refusals import TooLarge
from stammdaten.store import Statement, Store, number, text, the_instance
from stammdaten.threads import to_its_end

EXPORT = "export lists"
CSV, WORKBOOK = FORMS = ("csv", "xlsx")
_AT_ONCE = 500
# Fewer than are read: whoever else waits for this process gets a turn between two lots.
_RENDERED_AT_ONCE = 25

_wanted = and_(
    the_instance(products),
    has_its_number,
    products.c.list_id == number("list_id"),
    products.c.updated_at > text("since"),
)
_COUNT = Statement(select(func.count()).select_from(products).where(_wanted))
_ROWS = Statement(
    select(*PRODUCT_COLUMNS, *RECORD_COLUMNS)
    .outerjoin(classifications, and_(the_instance(classifications), classifications.c.id == products.c.id))
    .where(_wanted, products.c.id > number("after"))
    .order_by(products.c.id)
    .limit(_AT_ONCE)
)
_DOTS = str.maketrans("-T:", "...")


class Wanted(NamedTuple):
    """What to export: one list or, without a slug, all; changed after a German stamp, or whenever; how written."""

    slug: str = ""
    since: str = ""
    form: str = CSV


def export_name(slug: str, form: str = CSV) -> str:
    """Name the file of an export: the list's slug and the German time."""
    return f"stammdaten___{slug}.{german_stamp(utc_now())[:16].translate(_DOTS)}.{form}"


async def exported(store: Store, instance_id: int, *, list_id: int, since: str = "") -> AsyncGenerator[bytes, None]:
    """Return the lines of an export as CSV, the header first."""
    yield _lines([HEADER])
    async for rows in _exported_rows(store, instance_id, list_id=list_id, since=since):
        yield _lines(rows)


async def _exported_rows(
    store: Store, instance_id: int, *, list_id: int, since: str
) -> AsyncGenerator[list[list[str]], None]:
    """Return the rows of an export some at a time, archived products among them, changed after a German stamp."""
    after = 0
    while True:
        async with store.reading(instance_id, slow=True) as read:
            rows = await read.rows(_ROWS, list_id=list_id, since=since, after=after)
        if not rows:
            return
        for first in range(0, len(rows), _RENDERED_AT_ONCE):
            kept = [kept_product(row) for row in rows[first : first + _RENDERED_AT_ONCE]]
            yield [exported_row(product, record) for product, record in kept]
            after = kept[-1][0].id


def _lines(rows: Iterable[Sequence[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, delimiter=";", lineterminator="\r\n").writerows(rows)
    return written.getvalue().encode()


async def write_export(  # noqa: PLR0913 - what an export is
    store: Store, instance_id: int, file: Path, *, list_id: int, since: str, form: str
) -> None:
    """Write a list as a file, complete or not at all.

    :raises TooLarge: if it is more than a workbook can hold.
    """
    if form == WORKBOOK:
        async with store.reading(instance_id, slow=True) as read:
            counted = await read.rows(_COUNT, list_id=list_id, since=since)
        # Before minutes of writing for nothing.
        check_rows(counted[0][0])
        packed = ExitStack()
        append = packed.enter_context(written_workbook(file, HEADER))
        try:
            async for rows in _exported_rows(store, instance_id, list_id=list_id, since=since):
                await _in_thread(append, rows)
        except BaseException as error:
            with suppress(Exception):
                await _in_thread(packed.__exit__, type(error), error, error.__traceback__)
            raise
        # In a thread, as above: packing takes a second for 100,000 articles, also of what is thrown away.
        await _in_thread(packed.close)
        return
    # Under a name of its own: a worker that was taken for dead may still be writing the same export.
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as written:
            async for lines in exported(store, instance_id, list_id=list_id, since=since):
                await _in_thread(written.write, lines)
            written.flush()
            os.fsync(written.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


async def _in_thread(work: Callable[..., object], *given: object) -> None:
    # To its end: no file may be closed below it.
    await to_its_end(asyncio.create_task(asyncio.to_thread(work, *given)))


async def export_lists(store: Store, instance_id: int, wanted: Wanted, *, folder: Path) -> list[Path]:
    """Write each list that is wanted into a folder as a file; return the files.

    :raises TooLarge: if one is more than a workbook can hold.
    """
    async with store.reading(instance_id) as read:
        lists = await live_lists(read)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    files = []
    for slug, list_id in lists.items():
        if wanted.slug in ("", slug):
            file = folder / export_name(slug, wanted.form)
            await write_export(store, instance_id, file, list_id=list_id, since=wanted.since, form=wanted.form)
            files.append(file)
    return files


def exports_folder(home: Path, key: str) -> Path:
    """Return where the job of this key puts its files."""
    return home / "exports" / key


async def order_export(store: Store, instance_id: int, wanted: Wanted) -> str:
    """Ask for an export; return the key of its job."""
    key = secrets.token_hex(8)
    payload = {"wanted": wanted, "key": key}
    await ask(store, kind=EXPORT, key=key, now=utc_stamp(utc_now()), owner=instance_id, payload=payload)
    return key


def exporting(home: Path) -> Handler:
    """Return the job that exports lists for a command; its report is JSON: the names of the files, or a refusal."""

    async def handle(store: Store, job: Job) -> str:
        wanted = Wanted(*job.claimed.payload["wanted"])
        folder = exports_folder(home, job.claimed.payload["key"])
        try:
            files = await export_lists(store, job.claimed.instance_id, wanted, folder=folder)
        except TooLarge as refusal:
            return json.dumps({"refused": str(refusal)})
        if wanted.slug and not files:
            return json.dumps({"refused": "The product list was deleted meanwhile."})
        return json.dumps({"files": [file.name for file in files]})

    return handle
