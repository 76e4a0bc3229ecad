"""Starts and ends the measured servers, and reads their CPU seconds; knows nothing of what they serve."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import psutil

_READY_SECONDS = 60
PYTHON = sys.executable


class ServerFailed(RuntimeError):  # noqa: N818 - named for what it says, as all our refusals are
    """A server did not come up; the text ends with its log."""


@dataclass(frozen=True)
class Server:
    """A running server."""

    process: "subprocess.Popen[bytes]"
    address: str

    @property
    def pid(self) -> int:
        """Return the process id of the root of its process tree."""
        return self.process.pid


def free_port() -> int:
    """Return a port on which nobody listens at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def serving(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    port: int,
    ready: str,
    log: Path,
) -> Iterator[Server]:
    """Start a server, wait until the path `ready` answers below 500, and end it at the end.

    :raises ServerFailed: if it ends or stays silent.
    """
    with log.open("ab") as file:
        # Its own environment on top of ours; stdin closed, so that nothing can wait for a terminal.
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_ready(process, address + ready, log)
        yield Server(process, address)
    finally:
        _end(process)


def uvicorn(application: str, port: int) -> list[str]:
    """Return the command that serves an ASGI application: uvloop, httptools, no request log."""
    options = [
        "--loop",
        "uvloop",
        "--http",
        "httptools",
        "--no-access-log",
        "--log-level",
        "warning",
    ]
    return [
        PYTHON,
        "-m",
        "uvicorn",
        application,
        "--lifespan",
        "on",
        "--port",
        str(port),
        *options,
    ]


def cpu_seconds(*roots: int) -> float:
    """Return the CPU seconds that these process trees have used so far, with their ended children."""
    total = 0.0
    for root in roots:
        try:
            process = psutil.Process(root)
            family = [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        for member in family:
            try:
                used = member.cpu_times()
            except psutil.NoSuchProcess:  # ended meanwhile: its parent now counts it
                continue
            total += used.user + used.system + used.children_user + used.children_system
    return total


def machine_busy_seconds() -> float:
    """Return the CPU seconds that the machine has used so far, or that other machines took from it."""
    used = psutil.cpu_times()
    return float(used.user + used.nice + used.system + used.irq + used.softirq + used.steal)


def answers(url: str) -> bool:
    """Tell whether something answers below 500 at this address."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            status = int(answer.status)
    except urllib.error.HTTPError as refused:
        status = refused.code
    except OSError:
        return False
    return status < HTTPStatus.INTERNAL_SERVER_ERROR


def _wait_until_ready(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    started = time.monotonic()
    while not answers(url):
        if process.poll() is not None or time.monotonic() - started > _READY_SECONDS:
            raise ServerFailed(f"{url} does not answer:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.005)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
