"""What the numbers depend on: the machine, the versions, and how long a byte takes to the disk."""

import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import psutil

_PACKAGES = (
    "uvicorn",
    "uvloop",
    "httptools",
    "starlette",
    "asyncpg",
    "pydantic",
    "sqlalchemy",
    "fastapi",
)


def describe(postgres_version: str) -> list[str]:
    """Return a few lines on machine and versions."""
    memory = psutil.virtual_memory().total / 2**30
    packages = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    system = f"{platform.system()} {platform.release()}"
    sync = f"an fdatasync of 4 KB takes {_sync_microseconds():.0f} µs (median)"
    engines = f"PostgreSQL {postgres_version}, SQLite {sqlite3.sqlite_version}"
    return [
        f"Machine: {os.cpu_count()} cores, {_processor()}, {memory:.0f} GB RAM, {system}; {sync}.",
        f"Versions: Python {platform.python_version()}, {engines}, {_wrk_version()}, {packages}.",
    ]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _wrk_version() -> str:
    if shutil.which("wrk") is None:
        return "no wrk"
    # wrk -v prints its version, its usage, and exits with 1.
    said = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False)
    return " ".join((said.stdout + said.stderr).split()[:2])


def _sync_microseconds() -> float:
    """Time a synced append, on the disk where the measured databases lie."""
    with tempfile.TemporaryFile(prefix="stammdaten-bench-") as file:
        disk = file.fileno()
        # Into space already taken, as the write-ahead logs of both engines mostly do.
        os.write(disk, bytes(4096 * 200))
        os.fsync(disk)
        os.lseek(disk, 0, os.SEEK_SET)
        times = []
        for _ in range(200):
            started = time.perf_counter()
            os.write(disk, b"1" * 4096)
            os.fdatasync(disk)
            times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e6
