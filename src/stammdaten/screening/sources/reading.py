"""One pass over a list: what it gives, what of it was not understood, and when it is refused; knows no format."""

from collections import Counter
from collections.abc import Callable, Iterator

from stammdaten.screening.entries import Entry

# A hostile file must not fill the memory with what nobody understands.
_KEPT_UNKNOWN = 1_000
_KEPT_LENGTH = 120
_LONGEST_ID = 255


class Unreadable(Exception):  # noqa: N818 - refusals are named for what they say
    """The file is broken, cut short, empty or of another format: nothing of it may be used."""


class Reading:
    """One pass over the entries of a file, streaming; iterate it once and to the end.

    Nothing of it counts before the pass ended: what was cut short is seen at the end of a file.
    After the pass `version` is the list's own date (`YYYY-MM-DD`, or empty if it gives none) and `unknown` counts
    the parts that were not understood, such as `country: Region: Gaza`.

    :raises Unreadable: while iterating, if the file is broken, half, has no entries or gives an entry twice
    """

    def __init__(self, entries: "Callable[[Reading], Iterator[Entry]]") -> None:
        self.version = ""
        self.unknown: Counter[str] = Counter()
        self._entries = entries
        self._begun = False

    def not_understood(self, what: str, value: str = "") -> None:
        """Count a part of the list that has no place in an entry."""
        key = (f"{what}: {value}" if value else what)[:_KEPT_LENGTH]
        if key not in self.unknown and len(self.unknown) >= _KEPT_UNKNOWN:
            key = "more"
        self.unknown[key] += 1

    def __iter__(self) -> Iterator[Entry]:
        if self._begun:
            message = "A reading is one pass; read the file again for another."
            raise RuntimeError(message)
        self._begun = True
        # Hashes, not texts: with 1,000,000 entries this is the only thing that grows, to some 80 MB.
        seen: set[int] = set()
        for entry in self._entries(self):
            if not 0 < len(entry.entry_id) <= _LONGEST_ID:
                raise Unreadable(
                    f"An entry has the id {entry.entry_id[:50]!r}; 1 to {_LONGEST_ID} characters were expected."
                )
            identity = hash(entry.entry_id)
            if identity in seen:
                raise Unreadable(f"The entry {entry.entry_id!r} stands in the file twice; each may stand there once.")
            seen.add(identity)
            yield entry
        if not seen:
            raise Unreadable("The file holds no entries; a list of at least one was expected.")
