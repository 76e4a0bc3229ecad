"""The real command in a process of its own: for signals, time-outs, workers, and databases that break."""

import inspect
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2 as httpx

from stammdaten.settings import Settings

STAMMDATEN = str(Path(sys.executable).with_name("stammdaten"))
# Nothing takes so many seconds, on any machine; nothing is measured by it.
PATIENCE = 60
_RUNNING = re.compile(r"running on http://127\.0\.0\.1:(\d+)")
_HALTING = Path(__file__).with_name("halting")


def wait_until(condition: Callable[..., object], *given: object) -> None:
    """Wait until a condition comes true.

    :raises AssertionError: if it never does; its text is the condition's.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition(*given):
        assert time.monotonic() < deadline, f"waited in vain: {inspect.getsource(condition).strip()}"
        time.sleep(0.02)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(settings: Settings, **more: object) -> dict[str, str]:
    """Return the environment that makes a command use these settings."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("STAMMDATEN_")}
    environ["STAMMDATEN_HOME"] = str(settings.home)
    if settings.database_url:
        environ["STAMMDATEN_DATABASE_URL"] = settings.database_url
    return environ | {f"STAMMDATEN_{name.upper()}": str(value) for name, value in more.items()}


def halting(halt: Path | None) -> dict[str, str]:
    """Make a file; return what an environment needs to let processes stand still until it is removed.

    The file's name is the place, see `halting/sitecustomize.py`.
    """
    if halt is None:
        return {}
    halt.parent.mkdir(exist_ok=True)
    halt.touch()
    path = [str(_HALTING), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"HALT": str(halt), "PYTHONPATH": os.pathsep.join(path)}


def command(settings: Settings, *words: str, given: str = "", expect: int = 0) -> str:
    """Run a command to its end and return what it printed; another exit code is an AssertionError."""
    ended = subprocess.run(
        [STAMMDATEN, *words],
        env=environment(settings),
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == expect, f"{words}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout if expect == 0 else ended.stderr


class Served:
    """`stammdaten serve`, ready when entered, stopped by SIGTERM when left."""

    port: int
    url: str

    def __init__(self, settings: Settings, *, halt: Path | None = None, **more: object) -> None:
        self.settings = settings
        # Of a port that was free a moment ago, nobody knows whether it still is.
        self._environment = environment(settings, **{"port": 0} | more) | halting(halt)
        self.log = settings.home / f"log-{time.monotonic_ns()}"

    def __enter__(self) -> Self:
        with self.log.open("w") as log:
            self.process = subprocess.Popen([STAMMDATEN, "serve"], env=self._environment, stdout=log, stderr=log)
        try:
            self.wait_until_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)

    def wait_until_ready(self) -> None:
        """Wait until the service says that it is."""
        wait_until(self._is_ready)

    def _is_ready(self) -> bool:
        log = self.log.read_text()
        assert self.process.poll() is None, log
        running = _RUNNING.search(log)
        if running is None:
            return False
        self.port = int(running[1])
        self.url = f"http://127.0.0.1:{self.port}"
        try:
            return httpx.get(f"{self.url}/health/ready", timeout=PATIENCE).status_code == 200
        except httpx.TransportError:
            return False

    def command(self, *words: str, given: str = "", expect: int = 0) -> str:
        """Run a command beside the serving process."""
        return command(self.settings, *words, given=given, expect=expect)

    def account(self, prefix: str = "acme", roles: tuple[str, ...] = ("api-user",)) -> tuple[httpx.Client, int]:
        """Make an account, a user with a token and a list by commands; return a client and the list id."""
        self.command("account", "create", prefix, "--prefix", prefix)
        options = [word for role in roles for word in ("--role", role)]
        self.command("user", "create", "--prefix", prefix, "--name", "anna", *options)
        token = self.command("token", "create", "--prefix", prefix, "--user", "anna").splitlines()[-1]
        list_id = int(self.command("list", "create", "--prefix", prefix, "Spare Parts").splitlines()[-1])
        return self.client(prefix, token), list_id

    def client(self, prefix: str, token: str, **given: Any) -> httpx.Client:
        """Return a client that sends a token; paths are below `/api/{prefix}/v1`."""
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=f"{self.url}/api/{prefix}/v1", headers=headers, timeout=PATIENCE, **given)
