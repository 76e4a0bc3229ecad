"""What SFTP users send: kept aside until it is complete, then shown in `import/` and ordered; knows no SSH.

Invariant: a file that is in `import/` under its name is complete. What is not complete goes to `import/failed`, with a
report that says so, be it cut off, too large, or left by a server that was killed.
"""

import asyncio
import errno
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from stammdaten.auth.callers import Caller
from stammdaten.auth.logins import Login, all_logins, login_by_name
from stammdaten.auth.queries import instance_by_prefix
from stammdaten.exchange.orders import BY_SFTP, Given, order_import
from stammdaten.exchange.reporting import write_report
from stammdaten.exchange.rows import Remark
from stammdaten.exchange.sftp.folders import (
    IMPORT,
    Place,
    failed,
    incoming,
    is_name,
    is_taken,
    move_into_import,
    opened,
    plain_files,
    prefixes,
    put_away_with_report,
    put_part_away_with_report,
    space,
    standing,
)
from stammdaten.exchange.sftp.uploads import Upload
from stammdaten.lists.queries import live_lists
from stammdaten.refusals import NotFound, Unavailable
from stammdaten.store import Store

_SCAN_SECONDS = 5
# A file that somebody copies into the folder by other means is complete when it was not written to for so long.
_QUIET_SECONDS = 10
_AGAIN = "send the whole file again"

_log = logging.getLogger(__name__)


class _Part(NamedTuple):
    """What came of a file of an instance, and why it is no more."""

    prefix: str
    file: Path
    name: str
    why: str
    size: int


class _Lying(NamedTuple):
    """A file in `import/` that is to be taken, and when it came there."""

    changed_ns: int
    name: str


class Receiving:
    """Takes files in for the instances of one STAMMDATEN_HOME."""

    def __init__(self, store: Store, *, home: Path, limit: int, ordered: Callable[[], None]) -> None:
        self._store = store
        self._home = home
        self._limit = limit
        self._ordered = ordered
        # One file at a time: two clients under one name, or a client and the scan, must not take the same one.
        self._one = asyncio.Lock()
        # The logins that sent files of an instance, by prefix and name; nothing else of those that wait is kept here,
        # since it would be lost with a restart.
        self._senders: dict[tuple[str, str], str] = {}
        # Parts that could not be put away yet, as while the disk is full.
        self._parts: set[_Part] = set()

    async def run(self) -> None:
        """Look for files that lie there, until cancelled."""
        while True:
            try:
                await self.scan()
            except Unavailable:
                _log.warning("sftp: files wait: the database is away")
            except Exception:
                # Files must go on being taken after whatever one look met; the next look is in a few seconds.
                _log.exception("sftp: an unexpected error")
            await asyncio.sleep(_SCAN_SECONDS)

    def begin(self, login: Login, name: str) -> Upload:
        """Begin to receive a file."""
        folder = self._kept() / login.caller.prefix
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{secrets.token_hex(8)}.{name}"
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return Upload(login, name, file, handle, self._limit)

    async def complete(self, upload: Upload) -> None:
        """Put a file that was sent into `import/`, on the disk for good, and take it.

        Where it cannot be put there, what came of it is in `import/failed`.

        :raises TooLarge: if it was refused while it was sent, or is not whole.
        :raises OSError: if the disk does not take it.
        """
        try:
            upload.check_whole()
            await asyncio.to_thread(os.fsync, upload.handle)
            await self.take_in(
                upload.login, move=lambda folder: move_into_import(upload.file, folder, name=upload.name)
            )
        except OSError as error:
            upload.fault = f"the file could not be kept: {error.strerror}"
            raise
        finally:
            await self._end(upload)

    async def cut(self, upload: Upload, why: str) -> None:
        """Put away what was sent of a file that will not be complete."""
        upload.fault = upload.fault or why
        await self._end(upload)

    async def take_in(self, login: Login, *, move: Callable[[int], str]) -> None:
        """Move a file into `import/`, and order its import if it has a name for that.

        Where that cannot be now, or files of the instance that came before still wait, a scan will do it. `move` is
        given the opened folder, and returns the name that the file has there; it writes over none that waits.

        :raises OSError: if it cannot be moved; what happens to it later raises none, since it is there then.
        """
        prefix = login.caller.prefix
        async with self._one:
            name = await asyncio.to_thread(self._move, prefix, move)
            if not is_taken(name):
                return
            self._senders[prefix, name] = login.name
            try:
                lying = await asyncio.to_thread(self._lying, prefix)
                if lying and lying[0].name == name:
                    await self._take(prefix, lying[0])
            except (Unavailable, OSError) as error:
                _log.warning("sftp: %s of %s waits: %s", name, prefix, error)

    async def scan(self) -> None:
        """Take what lies in `import/` of all instances, in the order in which it came there.

        :raises Unavailable: if the database is away.
        """
        for part in list(self._parts):
            await asyncio.to_thread(self._put_part_away, part)
        for prefix in prefixes(self._home):
            try:
                await self._take_lying(prefix)
            except OSError as error:
                # Of one instance: the files of the others must still be taken.
                _log.error("sftp: files of %s cannot be taken: %s", prefix, error)

    def recover(self) -> None:
        """Put away what a server that was killed has left of uploads; for the start, before there are any."""
        if self._kept().is_dir():
            for path in self._kept().iterdir():
                if not path.is_dir():
                    path.unlink()
                    continue
                for file in path.iterdir():
                    name, size = file.name.partition(".")[2], file.lstat().st_size
                    self._put_part_away(_Part(path.name, file, name, "the server was stopped", size))

    def _kept(self) -> Path:
        return self._home / "sftp-uploads"

    def _move(self, prefix: str, move: Callable[[int], str]) -> str:
        with opened(space(self._home, prefix), IMPORT) as folder:
            name = move(folder)
            # What `_lying` sorts by. Given, since the file system's own clock is coarser than files may follow.
            now = time.time_ns()
            os.utime(name, ns=(now, now), dir_fd=folder, follow_symlinks=False)
            os.fsync(folder)
        return name

    def _lying(self, prefix: str) -> list[_Lying]:
        """Return the files that are still to be taken, in the order in which they came.

        That is in their own times of change, which outlive a restart, and which neither clients nor attempts to order
        an import touch.
        """
        files = plain_files(space(self._home, prefix), IMPORT)
        return sorted(_Lying(status.st_mtime_ns, name) for name, status in files if is_taken(name))

    async def _take_lying(self, prefix: str) -> None:
        async with self._one:
            files = await asyncio.to_thread(self._lying, prefix)
            gone = {(of, name) for of, name in self._senders if of == prefix} - {(prefix, file.name) for file in files}
            for key in gone:
                del self._senders[key]
        for file in files:
            is_quiet = abs(time.time() - file.changed_ns / 1e9) > _QUIET_SECONDS
            if not is_quiet and (prefix, file.name) not in self._senders:
                # What came after it waits, too.
                return
            async with self._one:
                await self._take(prefix, file)

    async def _take(self, prefix: str, file: _Lying) -> None:
        root = space(self._home, prefix)
        with suppress(FileNotFoundError):
            # Not if it is another one by now, which came later.
            if standing(root, Place(IMPORT, file.name)).st_mtime_ns == file.changed_ns:
                await self._order(prefix, root, file.name)
                self._senders.pop((prefix, file.name), None)

    async def _order(self, prefix: str, root: Path, name: str) -> None:
        slug, file = name.partition(".")[0], incoming(root) / name
        caller = await self._caller(prefix, self._senders.get((prefix, name)))
        if caller is None:
            allowed = "the user of an SFTP login with the role client-admin or api-user"
            self._refuse(root, name, "nobody may import this file", allowed)
            return
        try:
            ordered = await order_import(self._store, caller, Given(file, slug, name, BY_SFTP), home=self._home)
        except NotFound as unknown:
            async with self._store.reading(caller.instance_id) as read:
                slugs = ", ".join(await live_lists(read))
            allowed = f"<slug>.csv or <slug>.<anything>.csv, the same with .xlsx, with one of these slugs: {slugs}"
            self._refuse(root, name, str(unknown), allowed)
            return
        _log.info("sftp: %s of %s is taken as import %s of %s", name, prefix, ordered.id, caller.user_name)
        self._ordered()

    async def _caller(self, prefix: str, login_name: str | None) -> Caller | None:
        """Return whose file it is; one that nobody is known to have sent is the oldest login's that may import."""
        names = [] if login_name is None else [login_name]
        async with self._store.reading_shared() as read:
            found = None if names else await instance_by_prefix(read, prefix)
        if found is not None:
            async with self._store.reading(found[0]) as read:
                names = [row[0] for row in await all_logins(read)]
        async with self._store.reading_shared() as read:
            logins = [await login_by_name(read, name) for name in names]
        return next((login.caller for login in logins if login is not None and login.caller.prefix == prefix), None)

    async def _end(self, upload: Upload) -> None:
        os.close(upload.handle)
        if upload.fault:
            part = _Part(upload.login.caller.prefix, upload.file, upload.name, upload.fault, upload.size)
            await asyncio.to_thread(self._put_part_away, part)

    def _put_part_away(self, part: _Part) -> None:
        named = part.name if is_name(part.name) else "unnamed"
        what = f"{part.why}; {part.size} bytes of {named} had come, nothing of it is imported"
        folder = failed(space(self._home, part.prefix))
        self._parts.discard(part)
        try:
            if part.file.is_file() and part.file.stat().st_nlink > 1:
                # It was complete, and is in `import/` already: what moved it did not get further.
                part.file.unlink()
                return
            with self._report(what, _AGAIN) as report:
                put_part_away_with_report(folder, file=part.file, file_name=named, report=report)
        except OSError as error:
            # The next scan tries again; others must still be put away.
            self._parts.add(part)
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                # Of less use than the room that its report needs.
                with suppress(OSError):
                    os.truncate(part.file, 0)
            _log.error("sftp: a part of %s of %s cannot be put away: %s", named, part.prefix, error.strerror)
            return
        _log.warning("sftp: a part of %s of %s is put away: %s", named, part.prefix, part.why)

    def _refuse(self, root: Path, name: str, what: str, allowed: str) -> None:
        with self._report(what, allowed) as report:
            put_away_with_report(failed(root), file=incoming(root) / name, file_name=name, number=1, report=report)
        _log.warning("sftp: %s of %s is refused: %s", name, root.name, what)

    @contextmanager
    def _report(self, what: str, allowed: str) -> Iterator[Path]:
        file = self._kept() / f"{secrets.token_hex(8)}.report.csv"
        try:
            write_report(file, [Remark(1, "", "", what, allowed)], after=0)
            yield file
        finally:
            file.unlink(missing_ok=True)
