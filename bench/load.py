"""Puts load on a server with wrk and returns what it took; a measurement with one failed request is none."""

import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.processes import cpu_seconds, machine_busy_seconds

_SCRIPTS = Path(__file__).parent / "lua"
_FAILURES = ("refused", "not connected", "not read", "not written", "timed out")
CONNECTIONS = 16


class LoadFailed(RuntimeError):  # noqa: N818 - named for what it says, as all our refusals are
    """wrk is missing, or a request was not answered with success."""


@dataclass(frozen=True)
class Target:
    """What to put load on: a script and its settings, an address, and the processes whose CPU counts."""

    script: str
    address: str
    application_pid: int
    database_pid: int | None = None
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """One measurement. CPU in seconds per 1,000 requests; times in milliseconds."""

    rate: float
    application_cpu: float
    database_cpu: float
    p50: float = 0.0
    p99: float = 0.0
    other_load: float = 0.0

    @property
    def cpu(self) -> float:
        """Return the CPU of all server processes."""
        return self.application_cpu + self.database_cpu


def require_wrk() -> None:
    """Check that the load generator is there.

    :raises LoadFailed: if it is not.
    """
    if shutil.which("wrk") is None:
        raise LoadFailed("The load generator is missing: apt-get install wrk")


def load(target: Target, *, seconds: float, seed: int) -> Measured:
    """Put load on a server for some seconds.

    :raises LoadFailed: if any request failed.
    """
    databases = () if target.database_pid is None else (target.database_pid,)
    application, database = cpu_seconds(target.application_pid), cpu_seconds(*databases)
    ours, busy, started = (
        cpu_seconds(os.getpid()),
        machine_busy_seconds(),
        time.perf_counter(),
    )
    said = _wrk(target, seconds, seed)
    elapsed = time.perf_counter() - started
    application = cpu_seconds(target.application_pid) - application
    database = cpu_seconds(*databases) - database
    # Our own tree holds wrk and the application servers, not PostgreSQL, which is a daemon.
    ours = cpu_seconds(os.getpid()) - ours + database
    others = max(0.0, machine_busy_seconds() - busy - ours)
    thousands = said["requests"] / 1000
    return Measured(
        rate=said["requests"] / said["seconds"],
        application_cpu=application / thousands,
        database_cpu=database / thousands,
        p50=said["p50"],
        p99=said["p99"],
        other_load=others / elapsed,
    )


def _wrk(target: Target, seconds: float, seed: int) -> dict[str, float]:
    duration = f"{max(1, round(seconds))}s"
    command = [
        "wrk",
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{duration}",
        "--latency",
        "-s",
        f"{target.script}.lua",
    ]
    environment = {**os.environ, **target.settings, "BENCH_RANDOM": str(seed)}
    done = subprocess.run(
        [*command, target.address],
        cwd=_SCRIPTS,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or not done.stderr.startswith("{"):
        raise LoadFailed(f"{target.script}: wrk failed: {done.stderr or done.stdout}")
    said: dict[str, float] = json.loads(done.stderr)
    if any(said[failure] for failure in _FAILURES) or not said["requests"]:
        raise LoadFailed(f"{target.script}: {said}")
    return said
