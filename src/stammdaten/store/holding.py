"""Who has the embedded database open: a lock on its folder, shared by all of them, which a restore wants for itself."""

import fcntl
import os
from pathlib import Path

from stammdaten.refusals import Unavailable


def hold(home: Path) -> int:
    """Say that a process uses the database; until it closes the descriptor that is returned, or has died.

    :raises Unavailable: if a backup is being put back.
    """
    return _locked(home, fcntl.LOCK_SH, f"A backup is being put back into {home}; please try again.")


def hold_alone(home: Path) -> int:
    """Keep everybody else out, likewise.

    :raises Unavailable: if the database is in use.
    """
    return _locked(
        home, fcntl.LOCK_EX, f"The database in {home} is in use: stop what serves it, and wait for commands."
    )


def _locked(home: Path, how: int, sentence: str) -> int:
    # The folder itself: a file of its own might belong to whoever ran a command first, and stay behind in backups.
    descriptor = os.open(home, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise Unavailable(sentence) from error
    return descriptor
