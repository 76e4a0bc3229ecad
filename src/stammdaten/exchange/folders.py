"""The folders of files that an instance exchanges by SFTP, below STAMMDATEN_HOME; knows neither server nor store."""

import shutil
from pathlib import Path


def space(home: Path, prefix: str) -> Path:
    """Return the folder that an instance's SFTP users see as the root; it exists where there are such users."""
    return home / "sftp" / prefix


def incoming(space: Path) -> Path:
    """Return where files to import are put."""
    return space / "import"


def outgoing(space: Path) -> Path:
    """Return where exports appear."""
    return space / "export"


def done(space: Path) -> Path:
    """Return where files are put that were imported as they are."""
    return incoming(space) / "done"


def failed(space: Path) -> Path:
    """Return where files are put of which something was refused."""
    return incoming(space) / "failed"


def settle(folder: Path, *, file: Path, file_name: str, number: int, report: Path) -> None:
    """Move a file into a folder, its report beside it; called again after a crash, it does what is left."""
    if not file.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / file_name
    if place.exists():
        place = place.with_name(f"{place.stem}.{number}{place.suffix}")
    # The report first: a file without one would be a file of which nothing is said.
    shutil.copyfile(report, place.with_name(f"{place.name}.report.csv"))
    file.replace(place)
