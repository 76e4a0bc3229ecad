"""The record of checks as rows of a table, each with the lists it rests on; for CSV."""

import bisect
from collections.abc import AsyncIterator

from stammdaten.screening.queries import ListVersion, activated_versions, checks_since
from stammdaten.store import Store

HEADER = [
    "at",
    "contact_uid",
    "name",
    "why",
    "user_name",
    "outcome",
    "status",
    "highest_score",
    "matches",
    "threshold",
    "engine",
    "lists",
    "comment",
]
# What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


async def audit_rows(store: Store, instance_id: int, *, since: str) -> AsyncIterator[list[str]]:
    """Return the header and a row for each check and decision from a moment (UTC) on."""
    async with store.reading_shared() as read:
        official = _Snapshots(await activated_versions(read))
    async with store.reading(instance_id) as read:
        blocked = _Snapshots(await activated_versions(read))
    yield HEADER
    async with store.reading(instance_id, slow=True) as read:
        async for records in checks_since(read, since):
            for record in records:
                lists = [*official.at(record["official"]), *blocked.at(record["blocked"])]
                values = {**record, "lists": ", ".join(lists)}
                yield [_safe(str(values[name])) for name in HEADER]


class _Snapshots:
    """Which versions were in force after each activation."""

    def __init__(self, versions: list[ListVersion]) -> None:
        self._activations: list[int] = []
        self._shown: list[list[str]] = []
        standing: dict[str, str] = {}
        for version in versions:
            standing[version.source] = f"{version.source} {version.list_date or version.loaded_at} ({version.entries})"
            self._activations.append(version.activation)
            self._shown.append(sorted(standing.values()))

    def at(self, activation: int) -> list[str]:
        """Return the lists that were in force after an activation."""
        place = bisect.bisect_right(self._activations, activation)
        return self._shown[place - 1] if place else []


def _safe(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
