"""Setting what an instance wants of its checks, which are all done again then."""

import json
from dataclasses import replace
from typing import Any

from stammdaten.jobs.queue import ask_within
from stammdaten.refusals import Fault, Invalid
from stammdaten.screening.queries import Rules, rules
from stammdaten.screening.shapes import BLOCK_LIST
from stammdaten.screening.sources import SOURCES
from stammdaten.screening.tables import screening_settings
from stammdaten.store import Write

RESCREEN = "screen all contacts"
_MOST_DAYS = 3_650


async def set_rules(write: Write, *, set_by: str, **given: Any) -> Rules:
    """Set some of `Rules` by name, the others stay; ask for a check of all contacts.

    :raises Invalid: if a value is out of range.
    """
    before = await rules(write)
    after = replace(before, **given)
    faults = list(_faults(after))
    if faults:
        raise Invalid(faults)
    if after == before:
        return after
    row = (
        *(write.next_id(), str(after.threshold), str(after.certain), after.most_age_days, after.rescreen_days),
        *(json.dumps(after.sources) if after.sources else "", set_by, write.now_utc),
    )
    await write.insert(screening_settings, [row])
    key = f"{write.instance_id}:{write.next_id()}"
    payload = {"why": "the settings changed"}
    await ask_within(write, kind=RESCREEN, key=key, now=write.now_utc, owner=write.instance_id, payload=payload)
    return after


def _faults(wanted: Rules) -> list[Fault]:
    found = []
    if not 0.5 <= wanted.threshold <= wanted.certain <= 1:  # noqa: PLR2004 - half a name is no name
        found.append(Fault("threshold", "must be from 0.5 to 1, and not above certain"))
    found += [
        Fault(name, f"must be from 1 to {_MOST_DAYS} days")
        for name in ("most_age_days", "rescreen_days")
        if not 1 <= getattr(wanted, name) <= _MOST_DAYS
    ]
    # The block list always counts.
    official = [source for source in SOURCES if source != BLOCK_LIST]
    unknown = sorted(set(wanted.sources) - set(official))
    if unknown:
        found.append(Fault("sources", f"must be some of {', '.join(official)}; not {unknown[0]}"))
    return found
