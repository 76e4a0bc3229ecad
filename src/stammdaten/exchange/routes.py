"""Files over HTTP: import one into a list, see what came of it, export a list."""

import asyncio
import re
import secrets
import shutil
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from starlette.requests import Request

from stammdaten.auth.callers import Caller, check_may_import
from stammdaten.exchange.exporting import CSV, FORMS, WORKBOOK, export_name, exported, exports_folder, write_export
from stammdaten.exchange.orders import (
    BY_HTTP,
    Given,
    Import,
    check_list,
    import_by_id,
    imports_folder,
    order_import,
    report_file,
)
from stammdaten.exchange.reporting import ReportLine, report_lines, report_parts
from stammdaten.exchange.shapes import rendered_import
from stammdaten.exchange.working import Exchange
from stammdaten.http.answers import FileAnswer, JsonAnswer
from stammdaten.http.fields import LARGEST_NUMBER, german_time
from stammdaten.http.requests import is_truthy, path_text, read_query, write_body
from stammdaten.http.routing import resource
from stammdaten.lists.queries import live_lists
from stammdaten.refusals import Fault, Invalid, NotFound, TooLarge, Unavailable
from stammdaten.settings import Settings
from stammdaten.store import Store

_MOST_LINES = 100
_READ_BYTES = 1 << 18
_MEDIA_TYPES = {
    CSV: "text/csv; charset=utf-8",
    WORKBOOK: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_ID = re.compile(r"[0-9]{1,16}")


async def import_list(request: Request) -> JsonAnswer:
    """Take a file and ask for its import; return how it stands."""
    store, caller, home = _at(request)
    check_may_import(caller)
    slug = _slug(request)
    await check_list(store, caller.instance_id, slug)
    settings: Settings = request.scope["state"]["settings"]
    file = imports_folder(home, caller.instance_id) / f".upload-{secrets.token_hex(16)}"
    query = read_query(request)
    _check_names(query, "import", "dry_run")
    try:
        await write_body(request, file, most=settings.import_limit)
        # The file has no name here: it is the body itself.
        given = Given(file, slug, "", BY_HTTP, is_dry_run=is_truthy(query.get("dry_run")))
        ordered = await order_import(store, caller, given, home=home)
    finally:
        with suppress(OSError):
            file.unlink()
    exchange: Exchange = request.scope["state"]["exchange"]
    exchange.look()
    return _answer(ordered, [], 202)


async def show_import(request: Request) -> JsonAnswer:
    """Return how an import stands, with the first lines of its report."""
    found, report = await _found(request)
    lines = await asyncio.to_thread(report_lines, report, length=found.report_bytes, most=_MOST_LINES)
    return _answer(found, lines)


async def show_report(request: Request) -> FileAnswer:
    """Send the whole report of an import, as far as it is."""
    found, report = await _found(request)
    parts = report_parts(report, length=found.report_bytes)
    return FileAnswer(parts, name=f"import-{found.id}.report.csv", media_type=_MEDIA_TYPES[CSV])


async def export_list(request: Request) -> FileAnswer:
    """Send the products of a list, archived ones among them."""
    store, caller, home = _at(request)
    query = read_query(request)
    _check_names(query, "export", "timestamp", "format")
    since = _since(query)
    form = _form(query)
    slug = _slug(request)
    async with store.reading(caller.instance_id) as read:
        list_id = (await live_lists(read)).get(slug)
    if list_id is None:
        raise NotFound("There is no product list of this slug.")
    name = export_name(slug, form)
    if form == CSV or request.method == "HEAD":
        parts = exported(store, caller.instance_id, list_id=list_id, since=since)
        return FileAnswer(parts, name=name, media_type=_MEDIA_TYPES[form])
    folder = exports_folder(home, secrets.token_hex(8))
    folder.mkdir(parents=True)
    exchange: Exchange = request.scope["state"]["exchange"]
    try:
        async with exchange.packing:
            # A workbook is packed when it is complete: it cannot be sent while it is made.
            await write_export(store, caller.instance_id, folder / name, list_id=list_id, since=since, form=form)
        file = (folder / name).open("rb")
    except TooLarge as error:
        raise Invalid([Fault("format", f"cannot be {form} here: {error}")]) from error
    except OSError as error:
        raise Unavailable("The workbook cannot be made at the moment; please try again.") from error
    finally:
        shutil.rmtree(folder)
    return FileAnswer(_parts(file), name=name, media_type=_MEDIA_TYPES[form])


async def _parts(file: BinaryIO) -> AsyncGenerator[bytes, None]:
    with file:
        while part := await asyncio.to_thread(file.read, _READ_BYTES):
            yield part


def _at(request: Request) -> tuple[Store, Caller, Path]:
    state = request.scope["state"]
    return state["store"], request.scope["caller"], state["settings"].home


def _slug(request: Request) -> str:
    # What no UTF-8 is, no list is called: nor is any called nothing.
    return path_text(request.path_params["slug"]) or ""


async def _found(request: Request) -> tuple[Import, Path]:
    store, caller, home = _at(request)
    given = path_text(request.path_params["import_id"]) or ""
    found = None
    if _ID.fullmatch(given) and int(given) <= LARGEST_NUMBER:
        async with store.reading(caller.instance_id) as read:
            found = await import_by_id(read, int(given))
    if found is None:
        raise NotFound("There is no import of this id.")
    return found, report_file(home, caller.instance_id, found.id)


def _answer(standing: Import, report: list[ReportLine], status: int = 200) -> JsonAnswer:
    return JsonAnswer(b'{"import":%b}' % rendered_import(standing, report), status)


def _check_names(query: dict[str, str], what: str, *names: str) -> None:
    """Refuse parameters that are not known.

    Elsewhere they are ignored. Here, a slip of the pen would store what was to be tried, or send all instead of a part.
    """
    for name in query:
        if name not in (*names, ""):
            known = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
            raise Invalid([Fault(name[:100], f"is no parameter of an {what}; {known}")])


def _since(query: dict[str, str]) -> str:
    given = query.get("timestamp")
    return german_time("timestamp", given) if given else ""


def _form(query: dict[str, str]) -> str:
    form = query.get("format") or CSV
    if form not in FORMS:
        raise Invalid([Fault("format", f"must be one of {', '.join(FORMS)}")])
    return form


ROUTES = [
    resource("/lists/{slug}/import", POST=import_list),
    resource("/lists/{slug}/export", GET=export_list),
    resource("/imports/{import_id}", GET=show_import),
    resource("/imports/{import_id}/report", GET=show_report),
]
