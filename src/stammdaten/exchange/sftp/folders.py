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
# Room below the 255 bytes of a file system for what files that are put away, and reports, get behind their names.
_LONGEST_NAME = 200
_REPORT = ".report.csv"
_ENDINGS = (".csv", ".xlsx")
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


def is_taken(name: str) -> bool:
    """Whether a file of this name in `import/` is to be imported; hidden and temporary names are not."""
    return name.lower().endswith(_ENDINGS) and not name.startswith(".")


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


def move_into_import(source: str | Path, folder: int, *, name: str, source_folder: int | None = None) -> str:
    """Move a file into `import/`, which is opened as `folder`, and return its name there.

    A name that is to be imported may be that of a file that waits and was acknowledged: the new one gets another.

    :raises OSError: if that cannot be.
    """
    if is_taken(name):
        return _move_to_free_name(source, folder, name=name, source_folder=source_folder)
    os.replace(source, name, src_dir_fd=source_folder, dst_dir_fd=folder)
    return name


def _move_to_free_name(source: str | Path, folder: int, *, name: str, source_folder: int | None = None) -> str:
    """Move a file into an opened folder, over no other, and return its name: the given one, or `<stem>.<n><suffix>`.

    :raises OSError: if that cannot be, or all names that are left are too long.
    """
    named = Path(name)
    for free in chain([name], (f"{named.stem}.{number}{named.suffix}" for number in numbers())):
        if not is_name(free):
            break
        with suppress(FileExistsError):
            os.link(source, free, src_dir_fd=source_folder, dst_dir_fd=folder, follow_symlinks=False)
            os.unlink(source, dir_fd=source_folder)
            return free
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def put_away_with_report(folder: Path, *, file: Path, file_name: str, number: int, report: Path) -> None:
    """Move a whole file into `done/` or `failed/`, its report beside it, writing over nothing.

    It gets its name or, if that is not free, one with a number. Called again after a crash, this moves the file if
    that is still to do: under another name then if the report was there already, which stays without a file.

    :raises OSError: if that cannot be; nothing is there then.
    """
    named = Path(file_name)
    others = (f"{named.stem}.{number}{'' if more == 1 else f'.{more}'}{named.suffix}" for more in numbers())
    _move_with_report(folder, file=file, names=chain([file_name], others), report=report)


def put_part_away_with_report(folder: Path, *, file: Path, file_name: str, report: Path) -> None:
    """Move what came of a file into `failed/` as `<name>.<n>.part`, its report beside it, writing over nothing.

    :raises OSError: if that cannot be; nothing is there then.
    """
    names = (f"{file_name}.{number}.part" for number in numbers())
    _move_with_report(folder, file=file, names=names, report=report)


def _move_with_report(folder: Path, *, file: Path, names: Iterable[str], report: Path) -> None:
    # One that is not there was moved before.
    if not file.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    if folder.is_symlink():
        raise NotADirectoryError(folder)
    name, beside = _free_name(folder, names)
    try:
        # The report first: a file without one would be a file of which nothing is said.
        shutil.copyfile(report, beside)
        file.replace(folder / name)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _free_name(folder: Path, names: Iterable[str]) -> tuple[str, Path]:
    """Return the first free name and where its report will be, which keeps the name: others put files here, too."""
    for name in names:
        beside = folder / f"{name}{_REPORT}"
        with suppress(FileExistsError):
            if not os.path.lexists(folder / name):
                beside.touch(exist_ok=False)
                return name, beside
    raise AssertionError("there is always another number")
