"""What SFTP users send: kept aside until it is complete, then shown in `import/` and ordered; knows no SSH.

Invariant: a file that is in `import/` under its name is complete. What is not complete goes to `import/failed`, with a
report that says so, be it cut off, too large, or left by a server that was killed.
"""

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
    is_plain,
    is_taken,
    numbers,
    opened,
    plain_files,
    prefixes,
    put_beside,
    put_in,
    settle,
    space,
    standing,
)
from stammdaten.lists.queries import live_lists
from stammdaten.refusals import NotFound, TooLarge, Unavailable
from stammdaten.store import Store

_SCAN_SECONDS = 5
# A file that somebody copies into the folder by other means is complete when it was not written to for so long.
_QUIET_SECONDS = 10
_AGAIN = "send the whole file again"

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Upload:
    """A file that is being sent."""

    login: Login
    name: str
    file: Path
    handle: int
    limit: int
    size: int = 0
    received: int = 0
    fault: str = ""

    def write(self, offset: int, data: bytes) -> None:
        """Write what a client sent; after a fault, nothing more.

        :raises TooLarge: if the file would pass the limit.
        :raises OSError: if the disk does not take it.
        """
        self._check(offset + len(data))
        try:
            while data:
                written = os.pwrite(self.handle, data, offset)
                offset, data, self.received = offset + written, data[written:], self.received + written
                self.size = max(self.size, offset)
        except OSError as error:
            self.fault = f"the file could not be kept: {error.strerror}"
            raise

    def resize(self, size: int) -> None:
        """Make the file so long.

        :raises TooLarge: if that is over the limit.
        """
        self._check(size)
        os.ftruncate(self.handle, size)
        self.size = size

    def _check(self, size: int) -> None:
        if size > self.limit:
            self.fault = f"the file is over the limit of {self.limit} bytes"
        if self.fault:
            raise TooLarge(f"{self.fault[0].upper()}{self.fault[1:]}.")


class _Arrival(NamedTuple):
    login_name: str
    # Not the file's own times: attempts to order its import change them.
    at_ns: int


class Receiving:
    """Takes files in for the instances of one STAMMDATEN_HOME."""

    def __init__(self, store: Store, *, home: Path, limit: int, ordered: Callable[[], None]) -> None:
        self._store = store
        self._home = home
        self._limit = limit
        self._ordered = ordered
        # One file at a time: two clients under one name, or a client and the scan, must not take the same one.
        self._one = asyncio.Lock()
        self._waiting: dict[tuple[str, str], _Arrival] = {}

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

        :raises TooLarge: if it was refused while it was sent.
        :raises OSError: if the disk does not take it.
        """
        if not upload.fault and upload.received < upload.size:
            upload.fault = f"the file has holes: {upload.received} bytes were sent"
        if upload.fault:
            self.cut(upload, upload.fault)
            raise TooLarge(f"Nothing is imported: {upload.fault}.")

        def bring() -> str:
            with opened(space(self._home, upload.login.caller.prefix), IMPORT) as folder:
                name = put_in(upload.file, folder, name=upload.name)
                os.fsync(folder)
            return name

        try:
            await asyncio.to_thread(os.fsync, upload.handle)
            await self.take(upload.login, bring=bring)
        except OSError as error:
            self._put_away(upload, f"the file could not be kept: {error.strerror}")
            raise
        finally:
            os.close(upload.handle)

    def cut(self, upload: Upload, why: str) -> None:
        """Put away what was sent of a file that will not be complete."""
        os.close(upload.handle)
        self._put_away(upload, upload.fault or why)

    async def take(self, login: Login, *, bring: Callable[[], str]) -> None:
        """Bring a file into `import/`, and order its import if it has a name for that.

        Where that cannot be now, or files of the instance that came before still wait, a scan will do it. `bring`
        returns the name that the file has there; it writes over none that waits.

        :raises OSError: if it cannot be brought; what happens to it later raises none, since it is there then.
        """
        prefix = login.caller.prefix
        async with self._one:
            name = bring()
            if not is_taken(name):
                return
            must_wait = any(waiting == prefix for waiting, _ in self._waiting)
            self._waiting[prefix, name] = _Arrival(login.name, time.time_ns())
            if must_wait:
                return
            try:
                await self._take(prefix, name)
            except (Unavailable, OSError) as error:
                _log.warning("sftp: %s of %s waits: %s", name, prefix, error)

    async def scan(self) -> None:
        """Take what lies in `import/` of all instances, in the order in which it came there.

        :raises Unavailable: if the database is away.
        """
        for prefix in prefixes(self._home):
            try:
                for name in await asyncio.to_thread(self._lying, prefix):
                    async with self._one:
                        await self._take(prefix, name)
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
                    status = file.lstat()
                    if is_plain(status) and status.st_nlink > 1:
                        # It was complete, and is in `import/` already: the server was killed while it moved it.
                        file.unlink()
                        continue
                    self._put_part(path.name, file, file.name.partition(".")[2], "the server was stopped")

    def _kept(self) -> Path:
        return self._home / "sftp-uploads"

    def _lying(self, prefix: str) -> list[str]:
        # Those that wait also where they lie no more, as when a client removed them: to take them forgets them.
        files = {name: arrival.at_ns for (of, name), arrival in list(self._waiting.items()) if of == prefix}
        now = time.time()
        for name, status in plain_files(space(self._home, prefix), IMPORT):
            if is_taken(name) and abs(now - status.st_mtime) > _QUIET_SECONDS:
                files.setdefault(name, status.st_ctime_ns)
        return sorted(files, key=lambda name: (files[name], name))

    async def _take(self, prefix: str, name: str) -> None:
        root = space(self._home, prefix)
        with suppress(FileNotFoundError):
            standing(root, Place(IMPORT, name))
            await self._order(prefix, root, name)
        self._waiting.pop((prefix, name), None)

    async def _order(self, prefix: str, root: Path, name: str) -> None:
        slug, file = name.partition(".")[0], incoming(root) / name
        arrival = self._waiting.get((prefix, name))
        caller = await self._caller(prefix, None if arrival is None else arrival.login_name)
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

    def _put_away(self, upload: Upload, why: str) -> None:
        self._put_part(upload.login.caller.prefix, upload.file, upload.name, why)

    def _put_part(self, prefix: str, file: Path, name: str, why: str) -> None:
        named = name if is_name(name) else "unnamed"
        names = (f"{named}.{number}.part" for number in numbers())
        try:
            what = f"{why}; {file.stat().st_size} bytes of {named} had come, nothing of it is imported"
            with self._report(what, _AGAIN) as report:
                put_beside(failed(space(self._home, prefix)), file=file, names=names, report=report)
        except OSError as error:
            # It stays where it is until the next start; others must still be put away.
            _log.error("sftp: a part of %s of %s cannot be put away: %s", named, prefix, error.strerror)
            return
        _log.warning("sftp: a part of %s of %s is put away: %s", named, prefix, why)

    def _refuse(self, root: Path, name: str, what: str, allowed: str) -> None:
        with self._report(what, allowed) as report:
            settle(failed(root), file=incoming(root) / name, file_name=name, number=1, report=report)
        _log.warning("sftp: %s of %s is refused: %s", name, root.name, what)

    @contextmanager
    def _report(self, what: str, allowed: str) -> Iterator[Path]:
        file = self._kept() / f"{secrets.token_hex(8)}.report.csv"
        try:
            write_report(file, [Remark(0, "", "", what, allowed)], after=0)
            yield file
        finally:
            file.unlink(missing_ok=True)
