"""Runs a command in a process of its own and tells what it took, the database's share apart."""

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import psutil

from bench.processes import cpu_seconds, machine_busy_seconds

_KIB_OF_MB = 1_000_000 / 1024


class Spent(NamedTuple):
    """CPU and wall time in seconds, the most memory in MB, how many cores others kept busy, and what was printed."""

    service: float
    database: float
    elapsed: float
    memory: float
    other_load: float
    said: str

    @property
    def cpu(self) -> float:
        """Return the CPU seconds of both."""
        return self.service + self.database


def spent(line: Sequence[str], environment: dict[str, str], *, database_pid: int | None) -> Spent:
    """Run a command to its end.

    :raises RuntimeError: if it failed.
    """
    databases = () if database_pid is None else (database_pid,)
    database, busy, began = cpu_seconds(*databases), machine_busy_seconds(), time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            line, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        # Not `process.wait`: only this tells what the process and its own children took.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.perf_counter() - began
        output.seek(0)
        said = output.read().decode(errors="replace")
    if process.returncode:
        raise RuntimeError(f"{' '.join(line[:3])} ended with {process.returncode}: {said[-3000:]}")
    service = used.ru_utime + used.ru_stime
    database = cpu_seconds(*databases) - database
    others = max(0.0, machine_busy_seconds() - busy - service - database) / elapsed
    return Spent(service, database, elapsed, used.ru_maxrss / _KIB_OF_MB, others, said)


def largest_process(root: int) -> float:
    """Return the resident memory of the largest process of a tree at this moment, in MB."""
    process, largest = psutil.Process(root), 0
    for member in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # ended meanwhile
            largest = max(largest, member.memory_info().rss)
    return largest / 1e6
