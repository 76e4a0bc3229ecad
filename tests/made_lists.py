"""Lists of invented parties in the formats of their publishers, and how a running service comes by them."""

import time
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from stammdaten.jobs.queue import newest_jobs
from stammdaten.screening.loading import load_list
from stammdaten.screening.staging import Loaded
from stammdaten.store import SHARED, Store
from tests.cast import Member, Service

# Invented, and long enough to be nobody else's.
WANTED = ("6900001", "Zoltan Barnabas Quistorp-Vandermeulen", "Hungary")
FIRM = ("6900002", "Korvanthal Machinery Export Corporation", "Iran (Islamic Republic of)")


def un_list(
    persons: Iterable[tuple[str, str, str]] = (WANTED,),
    firms: Iterable[tuple[str, str, str]] = (FIRM,),
    *,
    day: str = "2026-11-01",
) -> str:
    """Write a consolidated list of the United Nations: data id, name and country of each party."""
    individuals = "".join(
        f"<INDIVIDUAL><DATAID>{number}</DATAID><FIRST_NAME>{escape(name)}</FIRST_NAME><UN_LIST_TYPE>TEST</UN_LIST_TYPE>"
        f"<REFERENCE_NUMBER>TSi.{number}</REFERENCE_NUMBER><LISTED_ON>2020-05-04</LISTED_ON>"
        f"<NATIONALITY><VALUE>{escape(country)}</VALUE></NATIONALITY></INDIVIDUAL>"
        for number, name, country in persons
    )
    entities = "".join(
        f"<ENTITY><DATAID>{number}</DATAID><FIRST_NAME>{escape(name)}</FIRST_NAME><UN_LIST_TYPE>TEST</UN_LIST_TYPE>"
        f"<REFERENCE_NUMBER>TSe.{number}</REFERENCE_NUMBER><LISTED_ON>2020-05-04</LISTED_ON>"
        f"<ENTITY_ADDRESS><COUNTRY>{escape(country)}</COUNTRY></ENTITY_ADDRESS></ENTITY>"
        for number, name, country in firms
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<CONSOLIDATED_LIST dateGenerated="{day}T00:00:00.000Z"><INDIVIDUALS>{individuals}</INDIVIDUALS>'
        f"<ENTITIES>{entities}</ENTITIES></CONSOLIDATED_LIST>"
    )


def load(service: Service, folder: Path, text: str, *, source: str = "un", member: Member | None = None) -> Loaded:
    """Bring a list into force as the command does, and wait until the service has done what follows from it."""
    path = folder / f"list-{time.monotonic_ns()}"
    path.write_text(text)
    instance_id = SHARED if member is None else member.instance_id

    async def work(store: Store) -> Loaded:
        return await load_list(store, instance_id=instance_id, source=source, path=path, may_shrink=True)

    loaded = service.run(work)
    settle(service)
    return loaded


def settle(service: Service) -> None:
    """Wait until no job is waiting or running, and the service knows the lists in force."""

    async def busy(store: Store) -> list[object]:
        async with store.reading_shared() as read:
            return [row for row in await newest_jobs(read, most=1000) if row[3] not in ("done", "failed")]

    deadline = time.monotonic() + 60
    while rest := service.run(busy):
        assert time.monotonic() < deadline, rest
        service.work()
        time.sleep(0.05)
    service.run(lambda _: service.screening.bring_up_to_date())
