"""Exporting lists to files; what was exported can be imported again without any change."""

import asyncio
import csv
import io
import json
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import and_, select

from stammdaten.classification.tables import classifications
from stammdaten.clock import german_stamp, utc_now, utc_stamp
from stammdaten.exchange.columns import HEADER, exported_row
from stammdaten.jobs.queue import ask
from stammdaten.jobs.running import Handler, Job
from stammdaten.lists.queries import live_lists
from stammdaten.products.queries import PRODUCT_COLUMNS, RECORD_COLUMNS, kept_product
from stammdaten.products.tables import has_its_number, products
from stammdaten.store import Statement, Store, number, text, the_instance

EXPORT = "export lists"
_AT_ONCE = 500

_ROWS = Statement(
    select(*PRODUCT_COLUMNS, *RECORD_COLUMNS)
    .outerjoin(classifications, and_(the_instance(classifications), classifications.c.id == products.c.id))
    .where(
        the_instance(products),
        has_its_number,
        products.c.list_id == number("list_id"),
        products.c.updated_at > text("since"),
        products.c.id > number("after"),
    )
    .order_by(products.c.id)
    .limit(_AT_ONCE)
)
_DOTS = str.maketrans("-T:", "...")


class Wanted(NamedTuple):
    """What to export: one list or, without a slug, all; changed after a German stamp, or whenever."""

    slug: str = ""
    since: str = ""


def export_name(slug: str) -> str:
    """Name the file of an export: the list's slug and the German time."""
    return f"stammdaten___{slug}.{german_stamp(utc_now())[:16].translate(_DOTS)}.csv"


async def exported(store: Store, instance_id: int, *, list_id: int, since: str = "") -> AsyncIterator[bytes]:
    """Return the lines of an export, archived products among them, changed after a German stamp; the header first."""
    yield _lines([list(HEADER)])
    after = 0
    while True:
        async with store.reading(instance_id, slow=True) as read:
            rows = await read.rows(_ROWS, list_id=list_id, since=since, after=after)
        if not rows:
            return
        kept = [kept_product(row) for row in rows]
        yield _lines([exported_row(product, record) for product, record in kept])
        after = kept[-1][0].id


def _lines(rows: list[list[str]]) -> bytes:
    written = io.StringIO()
    csv.writer(written, delimiter=";", lineterminator="\r\n").writerows(rows)
    return written.getvalue().encode()


async def export_lists(store: Store, instance_id: int, wanted: Wanted, *, folder: Path) -> list[Path]:
    """Write each list that is wanted into a folder as a file, complete or not at all; return the files."""
    async with store.reading(instance_id) as read:
        lists = await live_lists(read)
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    files = []
    for slug, list_id in lists.items():
        if wanted.slug in ("", slug):
            file = folder / export_name(slug)
            part = file.with_name(f".{file.name}.part")
            with part.open("wb") as written:
                async for lines in exported(store, instance_id, list_id=list_id, since=wanted.since):
                    await asyncio.to_thread(written.write, lines)
                written.flush()
                os.fsync(written.fileno())
            part.replace(file)
            files.append(file)
    return files


def exports_folder(home: Path, key: str) -> Path:
    """Return where the job of this key puts its files."""
    return home / "exports" / key


async def order_export(store: Store, instance_id: int, wanted: Wanted) -> str:
    """Ask for an export; return the key of its job."""
    key = secrets.token_hex(8)
    payload = {**wanted._asdict(), "key": key}
    await ask(store, kind=EXPORT, key=key, now=utc_stamp(utc_now()), owner=instance_id, payload=payload)
    return key


def exporting(home: Path) -> Handler:
    """Return the job that exports lists for a command; its report is JSON, the names of the files."""

    async def handle(store: Store, job: Job) -> str:
        payload = job.claimed.payload
        folder = exports_folder(home, payload["key"])
        wanted = Wanted(payload["slug"], payload["since"])
        files = await export_lists(store, job.claimed.instance_id, wanted, folder=folder)
        return json.dumps([file.name for file in files])

    return handle
