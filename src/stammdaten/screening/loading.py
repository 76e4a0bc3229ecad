"""Bringing a list from a file into force, unless it is in force already; knows no list format."""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from sqlalchemy import update

from stammdaten.clock import utc_now, utc_stamp
from stammdaten.jobs.queue import ask_within
from stammdaten.screening.queries import ListVersion, current_versions
from stammdaten.screening.shapes import RESCREEN_DUE
from stammdaten.screening.sources import Unreadable, read_source
from stammdaten.screening.staging import Loaded, Staging, transact
from stammdaten.screening.tables import list_versions
from stammdaten.store import Statement, Store, WriteShared, text, the_instance

_READ_BYTES = 1 << 20

_CONFIRM = Statement(
    update(list_versions)
    .where(
        the_instance(list_versions),
        list_versions.c.source == text("source"),
        list_versions.c.state == "current",
    )
    .values(checked_at=text("new_checked_at"), origin=text("new_origin"))
    .returning(list_versions.c.id)
)


async def load_list(  # noqa: PLR0913 - what a load is
    store: Store,
    *,
    instance_id: int,
    source: str,
    path: Path,
    origin: str = "",
    may_shrink: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Loaded:
    """Bring the list in a file, or folder, into force, whole or not at all; `instance_id` 0 is for official lists.

    :raises Unreadable: if the file is broken, half, or of another format.
    :raises NotAllowed: if the list is being loaded by somebody else, or lost over a fifth of its entries.
    """
    try:
        file_hash = await asyncio.to_thread(_hash_of, path)
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror}.") from error
    async with store.reading(instance_id) as read:
        before = {version.source: version for version in await current_versions(read)}.get(source)
    if before is not None and before.file_hash == file_hash:
        await confirm_list(store, instance_id=instance_id, version=before, origin=origin or before.origin)
        return Loaded(source, before.list_date, before.entries, is_new=False)
    load = Staging(store, instance_id, source)
    await load.begin(file_hash, origin)
    try:
        return await load.run(read_source(source, path), may_shrink=may_shrink, progress=progress)
    except BaseException:
        # Also when the command is interrupted: nothing of it shall be left to the next one.
        await asyncio.shield(load.give_up())
        raise


async def confirm_list(store: Store, *, instance_id: int, version: ListVersion, origin: str) -> None:
    """Note that the version in force is the newest there is; who could not be checked for its age is checked then."""
    now = utc_now()

    async def confirm(write: WriteShared) -> None:
        stamp = utc_stamp(now)
        await write.run(_CONFIRM, source=version.source, new_checked_at=stamp, new_origin=origin)
        if version.checked_at < utc_stamp(now - timedelta(days=1)):
            await ask_within(write, kind=RESCREEN_DUE, key=f"{instance_id}:{version.id}:{stamp}", now=stamp)

    await transact(store, instance_id, confirm)


def _hash_of(path: Path) -> str:
    files = sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while part := opened.read(_READ_BYTES):
                digest.update(part)
    return digest.hexdigest()
