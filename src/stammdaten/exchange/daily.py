"""The daily exports of instances that exchange files by SFTP, and tidying up after the exchange."""

import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from stammdaten.auth.logins import all_logins
from stammdaten.auth.queries import all_instances, instance_by_prefix
from stammdaten.exchange.exporting import Wanted, export_lists
from stammdaten.exchange.orders import import_by_id
from stammdaten.exchange.sftp.folders import outgoing, space
from stammdaten.jobs.running import Handler, Job
from stammdaten.store import Store

EXPORT_DAILY = "daily exports"
_EXPORT_DAYS = 14
# What a process that died has left: files that no command came to fetch, and halves of uploads.
_LEFT_DAYS = 1
_REPORT_DAYS = 90
_FORGOTTEN_DAYS = 14


def exporting_daily(home: Path) -> Handler:
    """Return the daily job: every list of each instance that has SFTP users, and old exports removed."""

    async def handle(store: Store, job: Job) -> str:
        after = job.claimed.progress.get("after", "")
        exported, said = 0, ""
        async with store.reading_shared() as read:
            prefixes = [row[0] for row in await all_instances(read) if row[0] > after]
        for prefix in prefixes:
            folder = outgoing(space(home, prefix))
            if not folder.is_dir():
                continue
            try:
                exported += await _export(store, prefix, folder)
            except OSError as error:
                # A folder that nobody can write to shall not cost the other instances their exports.
                said += f"; {prefix}: {error.strerror}"
            await job.keep({"after": prefix})
        _tidy(home)
        await _remove_forgotten(store, home)
        return f"exported lists: {exported}{said}"

    return handle


async def _export(store: Store, prefix: str, folder: Path) -> int:
    """Write an instance's lists, remove those of a fortnight ago, and return how many were written."""
    async with store.reading_shared() as read:
        instance = await instance_by_prefix(read, prefix)
    if instance is None:
        return 0
    async with store.reading(instance[0]) as read:
        has_users = bool(await all_logins(read))
    files = await export_lists(store, instance[0], Wanted(), folder=folder) if has_users else []
    _remove_old(_made(folder), days=_EXPORT_DAYS)
    return len(files)


def _tidy(home: Path) -> None:
    _remove_old(home.glob("exports/*"), days=_LEFT_DAYS)
    _remove_old(home.glob("imports/*/.upload-*"), days=_LEFT_DAYS)
    _remove_old(home.glob("imports/*/*.report.csv"), days=_REPORT_DAYS)


async def _remove_forgotten(store: Store, home: Path) -> None:
    """Remove files that no import waits for: their orders came to nothing, or are younger than a restored backup."""
    for path in _kept_long(home):
        async with store.reading(int(path.parent.name)) as read:
            found = await import_by_id(read, int(path.stem))
        if found is None or found.is_over:
            path.unlink(missing_ok=True)


def _kept_long(home: Path) -> list[Path]:
    before = time.time() - timedelta(days=_FORGOTTEN_DAYS).total_seconds()
    # Not the time of the file, which who sends it by SFTP may set.
    return [path for path in home.glob("imports/[0-9]*/[0-9]*.given") if path.stat().st_ctime < before]


def _made(folder: Path) -> list[Path]:
    return [*folder.glob("stammdaten___*"), *folder.glob(".stammdaten___*.part")]


def _remove_old(paths: Iterable[Path], *, days: int) -> None:
    before = time.time() - timedelta(days=days).total_seconds()
    for path in list(paths):
        # Whoever it belongs to may take it away meanwhile.
        with suppress(FileNotFoundError):
            if path.lstat().st_mtime >= before:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
