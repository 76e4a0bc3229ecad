"""The real command in a process of its own: for signals, time-outs, workers, and databases that break."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2 as httpx

from stammdaten.settings import Settings

STAMMDATEN = str(Path(sys.executable).with_name("stammdaten"))
_PATIENCE_SECONDS = 30


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


def command(settings: Settings, *words: str, given: str = "", expect: int = 0) -> str:
    """Run a command to its end and return what it printed; another exit code is an AssertionError."""
    ended = subprocess.run(
        [STAMMDATEN, *words],
        env=environment(settings),
        input=given,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    assert ended.returncode == expect, f"{words}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout if expect == 0 else ended.stderr


class Served:
    """`stammdaten serve`, ready when entered, stopped by SIGTERM when left."""

    def __init__(self, settings: Settings, **more: object) -> None:
        self.settings = settings
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._more = more
        self.log = settings.home / f"log-{self.port}"

    def __enter__(self) -> Self:
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [STAMMDATEN, "serve"],
                env=environment(self.settings, port=self.port, **self._more),
                stdout=log,
                stderr=log,
            )
        self.wait_until_ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(_PATIENCE_SECONDS)

    def wait_until_ready(self) -> None:
        """Wait until the service says that it is."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if httpx.get(f"{self.url}/health/ready", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"not ready:\n{self.log.read_text()}")

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
        return httpx.Client(base_url=f"{self.url}/api/{prefix}/v1", headers=headers, timeout=30, **given)
