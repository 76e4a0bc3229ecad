"""What an SFTP user sees and may do: five folders, and one way in; knows neither logins nor how files are taken.

Every path is read by `folders.place_of` and opened without following links; none of asyncssh's own methods that touch
files is left in use.
"""

import asyncio
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from asyncssh import (
    SFTPAttrs,
    SFTPFailure,
    SFTPName,
    SFTPNoSuchFile,
    SFTPOpUnsupported,
    SFTPPermissionDenied,
    SFTPServer,
    SSHServerChannel,
)
from asyncssh.constants import FXF_APPEND, FXF_CREAT, FXF_EXCL, FXF_TRUNC, FXF_WRITE

from stammdaten.exchange.sftp.folders import (
    FOLDERS,
    IMPORT,
    Place,
    move_into_import,
    opened,
    place_of,
    plain_files,
    standing,
)
from stammdaten.exchange.sftp.uploads import Upload
from stammdaten.exchange.sftp.visits import Listing, Reading, Visit
from stammdaten.refusals import TooLarge

_MOST_READ = 256 << 10
_LAST_SECOND = 2**32 - 1

_log = logging.getLogger(__name__)


class Space(SFTPServer):
    """The space of an instance, for one session; `is_cut` once its client is gone."""

    def __init__(self, visit: Visit, channel: "SSHServerChannel[bytes]") -> None:
        super().__init__(channel)
        self._visit = visit
        self._root = visit.root
        self.is_cut = False

    def map_path(self, path: bytes) -> bytes:  # noqa: ARG002 - the protocol's
        """Refuse what is not defined here, such as links: all methods of the base class on paths ask here first."""
        raise SFTPOpUnsupported("This cannot be done here.")

    def open(self, path: bytes, pflags: int, attrs: SFTPAttrs) -> object:  # noqa: ARG002 - the protocol's
        place = _file(path)
        self._visit.check_handles()
        is_write = pflags & (FXF_WRITE | FXF_APPEND | FXF_CREAT | FXF_TRUNC)
        held = self._upload(place, pflags) if is_write else self._reading(place)
        self._visit.handles.add(held)
        return held

    def _reading(self, place: Place) -> Reading:
        # Looked at first: to open a pipe or a device may do something already.
        standing(self._root, place)
        with opened(self._root, place.folder) as folder:
            handle = os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        _log.info("sftp: %s reads %s", self._visit.login.name, place.path)
        return Reading(handle)

    def _upload(self, place: Place, pflags: int) -> Upload:
        if place.folder != IMPORT:
            raise SFTPPermissionDenied("Files are put into /import and nowhere else.")
        is_there = self._is_there(place)
        if is_there and pflags & FXF_EXCL:
            raise SFTPFailure("There is a file of this name already.")
        if pflags & FXF_APPEND or (is_there and not pflags & FXF_TRUNC):
            raise SFTPOpUnsupported("Nothing can be appended to or resumed: send the whole file again.")
        if not is_there and not pflags & FXF_CREAT:
            raise SFTPNoSuchFile("There is no such file.")
        return self._visit.receiving.begin(self._visit.login, place.name)

    def _is_there(self, place: Place) -> bool:
        with opened(self._root, place.folder) as folder, suppress(FileNotFoundError):
            os.stat(place.name, dir_fd=folder, follow_symlinks=False)
            return True
        return False

    async def close(self, file_obj: object) -> None:
        if isinstance(file_obj, Reading):
            os.close(file_obj.handle)
            return
        upload = _sent(file_obj)
        if self.is_cut:
            await self._visit.receiving.cut(upload, "the connection was lost")
            return
        attrs = _attrs_of(os.fstat(upload.handle))
        with _answered():
            await self._visit.receiving.complete(upload)
        self._visit.remember(upload.name, attrs)
        _log.info("sftp: %s put %s: %s bytes", self._visit.login.name, upload.name, upload.size)

    def read(self, file_obj: object, offset: int, size: int) -> bytes:
        if not isinstance(file_obj, Reading):
            raise SFTPPermissionDenied("What is being sent cannot be read.")
        return os.pread(file_obj.handle, min(size, _MOST_READ), offset) if offset < 1 << 62 else b""

    def write(self, file_obj: object, offset: int, data: bytes) -> int:
        with _answered():
            _sent(file_obj).write(offset, data)
        return len(data)

    async def fsync(self, file_obj: object) -> None:
        await asyncio.to_thread(os.fsync, _sent(file_obj).handle)

    def stat(self, path: bytes) -> SFTPAttrs:
        place = _place(path)
        if not place.name:
            return self._folder_attrs(place.folder)
        try:
            return _attrs_of(standing(self._root, place))
        except FileNotFoundError:
            if place.folder == IMPORT and place.name in self._visit.taken:
                return self._visit.taken[place.name]
            raise

    def lstat(self, path: bytes) -> SFTPAttrs:
        return self.stat(path)

    def fstat(self, file_obj: object) -> SFTPAttrs:
        return _attrs_of(os.fstat((file_obj if isinstance(file_obj, Reading) else _sent(file_obj)).handle))

    def setstat(self, path: bytes, attrs: SFTPAttrs) -> None:
        """Ignore times and permissions, which many clients set after they have sent a file."""
        _place(path)
        if attrs.size is not None:
            raise SFTPOpUnsupported("A file cannot be cut or extended: send the whole file again.")

    def fsetstat(self, file_obj: object, attrs: SFTPAttrs) -> None:
        if attrs.size is None:
            return
        with _answered():
            _sent(file_obj).resize(attrs.size)

    def scandir(self, path: bytes) -> Listing:
        place = _place(path)
        if place.name:
            standing(self._root, place)
            raise SFTPFailure("This is a file.")
        self._visit.check_handles()
        listing = Listing(self._names(place.folder))
        self._visit.handles.add(listing)
        return listing

    def _names(self, folder: tuple[str, ...]) -> Iterator[SFTPName]:
        for name in (".", ".."):
            yield SFTPName(name.encode(), attrs=self._folder_attrs(folder))
        for name in FOLDERS[folder]:
            yield SFTPName(name.encode(), attrs=self._folder_attrs((*folder, name)))
        # Read at once: a listing that a client never finishes would keep descriptors.
        for name, status in list(plain_files(self._root, folder)) if folder else ():
            yield SFTPName(name.encode(), attrs=_attrs_of(status))

    def _folder_attrs(self, folder: tuple[str, ...]) -> SFTPAttrs:
        with opened(self._root, folder) as handle:
            mtime = os.fstat(handle).st_mtime
        return _attrs(mtime=mtime, mode=stat.S_IFDIR | (0o755 if folder == IMPORT else 0o555))

    def remove(self, path: bytes) -> None:
        place = _file(path)
        standing(self._root, place)
        with opened(self._root, place.folder) as folder:
            os.unlink(place.name, dir_fd=folder)
        _log.info("sftp: %s removes %s", self._visit.login.name, place.path)

    async def rename(self, oldpath: bytes, newpath: bytes) -> None:
        if self._is_there(_renamed(newpath)):
            raise SFTPFailure("There is a file of this name already.")
        await self.posix_rename(oldpath, newpath)

    async def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        old, new = _renamed(oldpath), _renamed(newpath)
        attrs = _attrs_of(standing(self._root, old))

        def move(folder: int) -> str:
            return move_into_import(old.name, folder, name=new.name, source_folder=folder)

        await self._visit.receiving.take_in(self._visit.login, move=move)
        self._visit.remember(new.name, attrs)
        _log.info("sftp: %s renames %s to %s", self._visit.login.name, old.path, new.path)

    def realpath(self, path: bytes) -> bytes:
        return _place(path).path.encode()

    def mkdir(self, path: bytes, attrs: SFTPAttrs) -> None:  # noqa: ARG002 - the protocol's
        raise SFTPPermissionDenied("The folders here are import and export, and no others.")

    def rmdir(self, path: bytes) -> None:  # noqa: ARG002 - the protocol's
        raise SFTPPermissionDenied("The folders here stay.")

    def exit(self) -> None:
        """Say that the session went well: without a status, `scp` takes it for failed."""
        self.channel.exit(0)

    def format_user(self, uid: int | None) -> str:  # noqa: ARG002 - the protocol's
        return "-"

    def format_group(self, gid: int | None) -> str:  # noqa: ARG002 - the protocol's
        return "-"


@contextmanager
def _answered() -> Iterator[None]:
    """Answer the client as the protocol does if a file is refused."""
    try:
        yield
    except TooLarge as refused:
        raise SFTPFailure(str(refused)) from refused


def _place(path: bytes) -> Place:
    place = place_of(path)
    if place is None:
        raise SFTPNoSuchFile("There is no such place; files lie in /import, its folders, and /export.")
    return place


def _file(path: bytes) -> Place:
    place = _place(path)
    if not place.name:
        raise SFTPFailure("This is a folder.")
    return place


def _renamed(path: bytes) -> Place:
    place = _file(path)
    if place.folder != IMPORT:
        raise SFTPPermissionDenied("Files are renamed within /import and nowhere else.")
    return place


def _sent(file_obj: object) -> Upload:
    if not isinstance(file_obj, Upload):
        raise SFTPPermissionDenied("This file is open for reading.")
    return file_obj


def _attrs_of(status: os.stat_result) -> SFTPAttrs:
    return _attrs(size=status.st_size, mtime=status.st_mtime)


def _attrs(*, size: int = 0, mtime: float = 0, mode: int = stat.S_IFREG | 0o644) -> SFTPAttrs:
    """Compose what a client sees of a file: nobody's user and group."""
    seconds = min(max(int(mtime), 0), _LAST_SECOND)
    return SFTPAttrs(size=size, uid=0, gid=0, permissions=mode, atime=seconds, mtime=seconds)
