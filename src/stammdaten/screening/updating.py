"""Bringing lists up to date from where their publishers, or a mirror, offer them."""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

from stammdaten.jobs.running import Handler, Job
from stammdaten.refusals import NotAllowed
from stammdaten.screening.downloading import Limits, NotDownloaded, Stamp, download
from stammdaten.screening.loading import confirm_list, load_list
from stammdaten.screening.queries import ListVersion, current_versions
from stammdaten.screening.shapes import BLOCK_LIST
from stammdaten.screening.sources import SOURCES, Unreadable
from stammdaten.screening.staging import Loaded
from stammdaten.settings import Settings, SettingsError
from stammdaten.store import SHARED, Store

UPDATE = "update sanctions lists"
# What can go wrong with one list and leaves the others to be updated.
FAILURES = (NotDownloaded, Unreadable, NotAllowed)


def check_sources(settings: Settings) -> None:
    """Check that the lists to be brought up to date are lists.

    :raises SettingsError: if one is not.
    """
    unknown = sorted(settings.sanctions.keys() - (SOURCES.keys() - {BLOCK_LIST}))
    if unknown:
        raise SettingsError(f"STAMMDATEN_SANCTIONS names {unknown[0]!r}; lists are {', '.join(SOURCES)}")


def limits_of(settings: Settings) -> Limits:
    """Return what servers may ask of a download."""
    return Limits(allow_private=settings.sanctions_private)


def updating_lists(settings: Settings) -> Handler:
    """Return the daily job that brings the configured lists up to date."""

    async def handle(store: Store, job: Job) -> str:
        del job
        said, failed = [], []
        for source, urls in settings.sanctions.items():
            try:
                loaded = await update_list(store, source, urls, limits=limits_of(settings))
            except FAILURES as failure:
                failed.append(f"{source} was not updated: {failure}")
            else:
                said.append(
                    f"{source} {loaded.list_date}: {loaded.entries} entries{'' if loaded.is_new else ', unchanged'}"
                )
        if failed:
            # Tried again in a while; those that succeeded are unchanged then.
            raise NotAllowed("; ".join(failed))
        return "; ".join(said)

    return handle


async def update_list(  # noqa: PLR0913 - what an update is
    store: Store,
    source: str,
    urls: tuple[str, ...],
    *,
    limits: Limits,
    may_shrink: bool = False,
    progress: Callable[[int, int | None], None] = lambda *_: None,
) -> Loaded:
    """Download an official list, unless it is the one in force, and bring it into force.

    :raises NotDownloaded: if it cannot be had.
    :raises Unreadable: if what came is not the list.
    :raises NotAllowed: if it is being loaded already, or lost over a fifth of its entries.
    """
    urls = urls or SOURCES[source].urls
    async with store.reading_shared() as read:
        current = {version.source: version for version in await current_versions(read)}.get(source)
    known = _stamps(current)
    with tempfile.TemporaryDirectory(prefix="stammdaten-sanctions-") as folder:
        stamps = await _download_all(urls, Path(folder), known=known, limits=limits, progress=progress)
        if stamps is None:
            assert current is not None  # noqa: S101 - nothing is unchanged that was not there
            await confirm_list(store, instance_id=SHARED, version=current, origin=current.origin)
            return Loaded(source, current.list_date, current.entries, is_new=False)
        origin = json.dumps({url: asdict(stamp) for url, stamp in stamps.items()})
        path = _file(Path(folder), urls[0]) if len(urls) == 1 else Path(folder)
        return await load_list(
            store, instance_id=SHARED, source=source, path=path, origin=origin, may_shrink=may_shrink
        )


async def _download_all(
    urls: tuple[str, ...],
    folder: Path,
    *,
    known: Mapping[str, Stamp],
    limits: Limits,
    progress: Callable[[int, int | None], None],
) -> dict[str, Stamp] | None:
    """Download the parts of a list beside one another; None if none of them has changed."""
    stamps: dict[str, Stamp] = {}
    if all(url in known for url in urls):
        for url in urls:
            stamp = await download(url, _file(folder, url), known=known[url], limits=limits, progress=progress)
            if stamp is not None:
                stamps[url] = stamp
        if not stamps:
            return None
    for url in urls:
        # As soon as one has changed, all are wanted.
        if url not in stamps:
            stamp = await download(url, _file(folder, url), known=Stamp(), limits=limits, progress=progress)
            assert stamp is not None  # noqa: S101 - `download` refuses to call unchanged what it does not know
            stamps[url] = stamp
    return stamps


def _file(folder: Path, url: str) -> Path:
    # Only the last word of the path, which the readers know OFAC's files by; never a folder of the address.
    return folder / (Path(urlsplit(url).path).name.lower() or "list")


def _stamps(current: ListVersion | None) -> dict[str, Stamp]:
    if current is None or not current.origin:
        return {}
    stamps = {url: Stamp(**values) for url, values in json.loads(current.origin).items()}
    return {url: stamp for url, stamp in stamps.items() if stamp != Stamp()}
