"""An address book from CSV: created or updated by uid, some rows at a time, with a line of report for each."""

import csv
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

from stammdaten.auth.callers import Caller
from stammdaten.contacts.operations import ContactChange, create_contacts, update_contacts
from stammdaten.contacts.queries import contacts_by_uid
from stammdaten.contacts.shapes import FLAGS, IMPORTED, Given, read_contact_update, read_new_contact
from stammdaten.contacts.subjects import checks_of_new, checks_of_updates
from stammdaten.refusals import Fault, Invalid, NotAllowed, Refusal
from stammdaten.screening.current import Screening
from stammdaten.store import Store, Write
from stammdaten.store.batches import Operation

_AT_ONCE = 200
_WORDS = {"1": True, "true": True, "0": False, "false": False, "": False}


@dataclass(frozen=True, slots=True)
class Line:
    """What became of a line: `created`, `updated` or `refused`; `said` is the status, or what is wrong."""

    number: int
    contact_uid: str
    outcome: str
    said: str


async def import_contacts(store: Store, screening: Screening, caller: Caller, file: TextIO) -> AsyncIterator[Line]:
    """Import a file with semicolons between its cells and the names of fields in its first line.

    An empty cell clears the field, a column that is not there keeps it.

    :raises NotAllowed: if the first line names no field, or one that cannot be imported.
    """
    for some in _batches(_rows(file)):
        for line in await _import_some(store, screening, caller, some):
            yield line


def _batches(rows: Iterator[tuple[int, dict[str, Any]]]) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """Gather rows some at a time; what stands before a broken line comes before the refusal."""
    batch: list[tuple[int, dict[str, Any]]] = []
    try:
        for row in rows:
            batch.append(row)
            if len(batch) == _AT_ONCE:
                yield batch
                batch = []
    except NotAllowed:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _rows(file: TextIO) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(file, delimiter=";", strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        unknown = [name for name in header if name not in IMPORTED]
        if unknown or "contact_uid" not in header or len(set(header)) != len(header):
            raise NotAllowed(
                "The first line must name fields, each once, contact_uid among them: "
                f"{', '.join(IMPORTED)}{f'; not {unknown[0]!r}' if unknown else ''}."
            )
        for cells in reader:
            if not cells:  # a blank line, as some programs leave at the end
                continue
            if len(cells) != len(header):
                yield reader.line_num, {"": f"has {len(cells)} cells, the first line {len(header)}"}
            else:
                yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise NotAllowed(f"Line {reader.line_num} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise NotAllowed(f"Behind line {reader.line_num} stands what is no UTF-8.") from error


async def _import_some(
    store: Store, screening: Screening, caller: Caller, rows: Sequence[tuple[int, dict[str, Any]]]
) -> list[Line]:
    """Import some rows; of rows with the same uid, the later come after the earlier."""
    lines: dict[int, Line] = {}
    left = list(rows)
    while left:
        once: dict[str, tuple[int, dict[str, Any]]] = {}
        again = []
        for number, cells in left:
            uid = cells.get("contact_uid", "").strip()
            if uid in once:
                again.append((number, cells))
            else:
                once[uid] = (number, cells)
        lines |= await _import_distinct(store, screening, caller, once)
        left = again
    return [lines[number] for number, _ in rows]


async def _import_distinct(
    store: Store, screening: Screening, caller: Caller, rows: dict[str, tuple[int, dict[str, Any]]]
) -> dict[int, Line]:
    async with store.reading(caller.instance_id) as read:
        known = await contacts_by_uid(read, [uid for uid in rows if uid and "\0" not in uid])
    lines: dict[int, Line] = {}
    new: dict[int, Given] = {}
    changed: dict[int, Given] = {}
    for uid, (number, cells) in rows.items():
        try:
            if uid in known:
                changed[number] = _update_of(uid, cells)
            else:
                new[number] = _new_of(cells)
        except Invalid as invalid:
            lines[number] = Line(number, uid, "refused", str(invalid))
    checks = await checks_of_new(screening, caller.instance_id, list(new.values()))
    lines |= await _apply(store, caller, create_contacts, "created", new, checks)
    updates = await checks_of_updates(store, screening, caller.instance_id, list(changed.values()))
    return lines | await _apply(store, caller, update_contacts, "updated", changed, updates)


async def _apply(  # noqa: PLR0913, PLR0917 - what is done to whom
    store: Store,
    caller: Caller,
    operation: Operation,
    done: str,
    given: dict[int, Given],
    checks: Sequence[Any],
) -> dict[int, Line]:
    rows = [ContactChange(caller, one, check) for one, check in zip(given.values(), checks, strict=True)]
    if not rows:
        return {}

    async def apply(write: Write) -> Sequence[Any]:
        return await operation(write, rows)

    lines = {}
    outcomes = await store.writing(caller.instance_id, apply)
    for (number, one), outcome in zip(given.items(), outcomes, strict=True):
        if isinstance(outcome, Refusal):
            lines[number] = Line(number, one.contact_uid, "refused", str(outcome))
        else:
            lines[number] = Line(number, one.contact_uid, done, json.loads(outcome)["status"])
    return lines


def _new_of(cells: dict[str, Any]) -> Given:
    return read_new_contact({"contact": _fields(cells)}, [])


def _update_of(uid: str, cells: dict[str, Any]) -> Given:
    given = read_contact_update({"contact": _fields(cells)}, [], contact_uid=uid)
    return replace(given, contact_uid=uid)


def _fields(cells: dict[str, Any]) -> dict[str, Any]:
    if "" in cells:
        raise Invalid([Fault("line", cells[""])])
    nul = [Fault(f"contact.{name}", "must not contain NUL") for name, cell in cells.items() if "\0" in cell]
    if nul:
        raise Invalid(nul)
    return {name: _WORDS.get(cell.strip().lower(), cell) if name in FLAGS else cell for name, cell in cells.items()}
