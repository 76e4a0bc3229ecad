"""The folders of files that an instance exchanges by SFTP, below STAMMDATEN_HOME; knows neither server nor store.

Invariant: nothing here follows a link. Folders are opened one by one from the space on, and files within them.
"""

import errno
import os
import secrets
import shutil
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple

_LONGEST_PATH = 4096
# Room below the 255 bytes of a file system for what `settle` and reports put behind a name.
_LONGEST_NAME = 200
_REPORT = ".report.csv"
ROOT: tuple[str, ...] = ()
IMPORT, DONE, FAILED, EXPORT = ("import",), ("import", "done"), ("import", "failed"), ("export",)
# What is in a folder besides files.
FOLDERS = {ROOT: ("import", "export"), IMPORT: ("done", "failed"), DONE: (), FAILED: (), EXPORT: ()}


class Place(NamedTuple):
    """Where a path leads in a space: one of its folders, or a file in one that may be there or not."""

    folder: tuple[str, ...]
    name: str = ""

    @property
    def path(self) -> str:
        """The path as a client sees it."""
        return "/" + "/".join([*self.folder, *([self.name] if self.name else [])])


def space(home: Path, prefix: str) -> Path:
    """Return the folder that an instance's SFTP users see as the root; it exists where there are such users."""
    return home / "sftp" / prefix


def make_space(home: Path, prefix: str) -> Path:
    """Make an instance's folders where they are missing, and return the one that users see as the root."""
    root = space(home, prefix)
    for folder in FOLDERS:
        root.joinpath(*folder).mkdir(parents=True, exist_ok=True)
    return root


def prefixes(home: Path) -> list[str]:
    """Return the prefixes of the instances that have such a folder."""
    root = home / "sftp"
    if not root.is_dir():
        return []
    with os.scandir(root) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


def incoming(space: Path) -> Path:
    """Return where files to import are put."""
    return space.joinpath(*IMPORT)


def outgoing(space: Path) -> Path:
    """Return where exports appear."""
    return space.joinpath(*EXPORT)


def done(space: Path) -> Path:
    """Return where files are put that were imported as they are."""
    return space.joinpath(*DONE)


def failed(space: Path) -> Path:
    """Return where files are put of which something was refused."""
    return space.joinpath(*FAILED)


def place_of(path: bytes) -> Place | None:
    """Read a client's path, relative to the root of a space; None if nothing can be there."""
    if len(path) > _LONGEST_PATH:
        return None
    try:
        words = path.decode().split("/")
    except UnicodeDecodeError:
        return None
    parts: list[str] = []
    for word in words:
        if word == "..":
            del parts[-1:]
        elif word not in {"", "."}:
            parts.append(word)
    if tuple(parts) in FOLDERS:
        return Place(tuple(parts))
    folder, name = tuple(parts[:-1]), parts[-1]
    return Place(folder, name) if folder and folder in FOLDERS and is_name(name) else None


def is_name(name: str) -> bool:
    """Whether a file may be called so: up to 200 bytes of UTF-8, no control characters among them."""
    # Lone surrogates are what Python makes of names that are no UTF-8.
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in name):
        return False
    return len(name.encode()) <= _LONGEST_NAME


@contextmanager
def opened(root: Path, folder: tuple[str, ...]) -> Iterator[int]:
    """Open a folder of a space, as a descriptor.

    :raises OSError: if it, or one on the way to it, is missing, or a link.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    handle = os.open(root, flags)
    try:
        for name in folder:
            outer, handle = handle, os.open(name, flags, dir_fd=handle)
            os.close(outer)
        yield handle
    finally:
        os.close(handle)


def is_plain(status: os.stat_result) -> bool:
    """Whether something is a file: no link, pipe or device."""
    return stat.S_ISREG(status.st_mode)


def standing(root: Path, place: Place) -> os.stat_result:
    """Return how a file stands.

    :raises FileNotFoundError: if there is none.
    """
    with opened(root, place.folder) as folder:
        status = os.stat(place.name, dir_fd=folder, follow_symlinks=False)
    if not is_plain(status):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place.path)
    return status


def plain_files(root: Path, folder: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the names of a folder's files, in no order, and how they stand.

    :raises OSError: if the folder is missing, or a link.
    """
    with opened(root, folder) as handle, os.scandir(handle) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if is_plain(status) and is_name(entry.name):
                yield entry.name, status


def numbers() -> Iterator[int]:
    """Yield numbers to try behind a name: small ones, then any, or the thousandth file of a name would take a while."""
    yield from range(1, 100)
    while True:
        yield secrets.randbelow(10**9)


def settle(folder: Path, *, file: Path, file_name: str, number: int, report: Path) -> None:
    """Move a file into a folder, its report beside it; called again after a crash, it does what is left."""
    named = Path(file_name)
    others = (f"{named.stem}.{number}{'' if more == 1 else f'.{more}'}{named.suffix}" for more in numbers())
    put_beside(folder, file=file, names=chain([file_name], others), report=report)


def put_beside(folder: Path, *, file: Path, names: Iterable[str], report: Path) -> None:
    """Move a file into a folder under the first of the names that is free, its report beside it.

    :raises NotADirectoryError: if the folder is a link.
    """
    if not file.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if folder.is_symlink():
        raise NotADirectoryError(folder)
    for name in names:
        if os.path.lexists(folder / name):
            continue
        # The report first: a file without one would be a file of which nothing is said. Made anew, it also keeps the
        # name, since the server and the process that imports put files here at the same time.
        with suppress(FileExistsError), report.open("rb") as read, (folder / f"{name}{_REPORT}").open("xb") as written:
            shutil.copyfileobj(read, written)
            file.replace(folder / name)
            return
