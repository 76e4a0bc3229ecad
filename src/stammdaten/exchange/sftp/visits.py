"""What the sessions of a connection share: whose it is, and what it has open; knows neither paths nor the protocol."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from weakref import WeakSet

from asyncssh import SFTPAttrs, SFTPFailure, SFTPName

from stammdaten.auth.logins import Login
from stammdaten.exchange.sftp.receiving import Receiving
from stammdaten.exchange.sftp.uploads import Upload

_MOST_HANDLES = 16
_MOST_TAKEN = 64


@dataclass(frozen=True, eq=False)
class Visit:
    """What the sessions of one connection share: who it is, where, and what they have open."""

    login: Login
    root: Path
    receiving: Receiving
    handles: WeakSet["Upload | Reading | Listing"] = field(default_factory=WeakSet)
    # How files stood when they were taken: many clients look whether what they sent is there.
    taken: dict[str, SFTPAttrs] = field(default_factory=dict)

    def check_handles(self) -> None:
        """Check that one more file or folder may be opened.

        :raises SFTPFailure: if there are too many.
        """
        if len(self.handles) >= _MOST_HANDLES:
            raise SFTPFailure(f"At most {_MOST_HANDLES} files and folders may be open at once.")

    def remember(self, name: str, attrs: SFTPAttrs) -> None:
        """Remember how a file stood when it was taken, for some time."""
        self.taken.pop(name, None)
        if len(self.taken) == _MOST_TAKEN:
            del self.taken[next(iter(self.taken))]
        self.taken[name] = attrs


@dataclass(frozen=True, eq=False)
class Reading:
    """A file that is read, by its descriptor."""

    handle: int


class Listing:
    """The names in a folder, as asyncssh wants to read them."""

    def __init__(self, names: Iterator[SFTPName]) -> None:
        self._names = names

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SFTPName:
        try:
            return next(self._names)
        except StopIteration:
            raise StopAsyncIteration from None
