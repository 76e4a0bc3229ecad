"""What was written is on the disk for good; knows no file of the service."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Put a file on the disk, or a folder, without which a new name in it may be lost.

    :raises OSError: if the disk does not take it.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
