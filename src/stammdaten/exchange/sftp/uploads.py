"""A file while it is being sent: how much of it has come, and what is wrong with it; knows neither place nor taking."""

import os
from bisect import insort
from dataclasses import dataclass, field
from pathlib import Path

from stammdaten.auth.logins import Login
from stammdaten.refusals import TooLarge

# Clients that have many requests on the way may send some out of order: 32 MiB in the pieces that are usual.
_MOST_AHEAD = 1024


@dataclass(eq=False)
class Upload:
    """A file that is being sent; with a `fault`, nothing more is written, and it will not be imported."""

    login: Login
    name: str
    file: Path
    handle: int
    limit: int
    size: int = 0
    fault: str = ""
    # Up to where nothing is missing, and the begins and ends of what came beyond, in order.
    _whole: int = field(default=0, init=False)
    _ahead: list[tuple[int, int]] = field(default_factory=list, init=False)

    def write(self, offset: int, data: bytes) -> None:
        """Write what a client sent.

        :raises TooLarge: if there is a fault, as where the file would pass the limit.
        :raises OSError: if the disk does not take it.
        """
        begin, end = offset, offset + len(data)
        self._check(end)
        try:
            while data:
                written = os.pwrite(self.handle, data, offset)
                offset, data = offset + written, data[written:]
                self.size = max(self.size, offset)
        except OSError as error:
            self.fault = f"the file could not be kept: {error.strerror}"
            # It is of no use any more, and must not keep a disk full for as long as its client stays.
            os.ftruncate(self.handle, 0)
            raise
        self._count(begin, end)

    def resize(self, size: int) -> None:
        """Make the file so long.

        :raises TooLarge: if there is a fault, as where that is over the limit.
        """
        self._check(size)
        os.ftruncate(self.handle, size)
        self.size, self._whole = size, min(self._whole, size)
        self._ahead = [(begin, min(end, size)) for begin, end in self._ahead if begin < size]

    def check_whole(self) -> None:
        """Check that each byte of the file was sent.

        :raises TooLarge: if there is a fault, as where there is a hole.
        """
        if not self.fault and self._whole < self.size:
            self.fault = f"the file has a hole behind byte {self._whole}"
        self._check(self.size)

    def _count(self, begin: int, end: int) -> None:
        insort(self._ahead, (begin, end))
        while self._ahead and self._ahead[0][0] <= self._whole:
            self._whole = max(self._whole, self._ahead.pop(0)[1])
        if len(self._ahead) > _MOST_AHEAD:
            self.fault = "the pieces of the file do not follow each other"

    def _check(self, size: int) -> None:
        if size > self.limit:
            self.fault = f"the file is over the limit of {self.limit} bytes"
        if self.fault:
            raise TooLarge(f"{self.fault[0].upper()}{self.fault[1:]}.")
