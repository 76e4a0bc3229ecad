"""The server: uvicorn with time-outs and limits at the door that it does not have itself, and its workers."""

import asyncio
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from prometheus_client import start_http_server
from pydantic_core import to_json
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from stammdaten.http.logs import configure_logging
from stammdaten.http.observing import NOT_ROUTED, REQUESTS, SECURITY_HEADERS, STRICT_CONTENT, new_request_id
from stammdaten.http.operating import counted
from stammdaten.http.refusing import refusal_body
from stammdaten.settings import Settings

LARGEST_HEADERS = 256 * 1024
_KEEP_ALIVE_SECONDS = 30
_SHUTDOWN_SECONDS = 30
# So much of a body begins the time for it anew: an upload may take as long as it goes on, a trickle may not.
_TIMED_BYTES = 256 * 1024

_log = logging.getLogger(__name__)
_BODY_HEADERS = {b"content-length", b"transfer-encoding"}
_STATUS_LINES = {400: b"400 Bad Request", 431: b"431 Request Header Fields Too Large"}


class Door(HttpToolsProtocol):
    """A connection that closes on clients who take too long over their headers or body, or send endless headers."""

    def __init__(self, timeout: float, **given: Any) -> None:
        super().__init__(**given)
        self._timeout = timeout
        self._waits_for = "headers"
        self._timer: asyncio.TimerHandle | None = None
        self._received = 0
        self._timed_from = 0
        self.url = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self._waits_for
        # Also where no message begins: blank lines between requests would keep a connection for ever.
        self._waits_for = before or "headers"
        self._received += len(data)
        super().data_received(data)
        # A request that came in one piece, as nearly all do, has started no timer.
        if self._waits_for != before or self._goes_on():
            self._stop_waiting()
        if self._waits_for and self._timer is None:
            self._wait()
        if before == "body" and not self._waits_for and self.cycle.response_complete:
            self._wait_for_a_request()
        if self._waits_for == "headers" and self._received > LARGEST_HEADERS:
            self._refuse_headers()

    def on_headers_complete(self) -> None:
        self._waits_for = "body"
        # Counted exactly only where so much has come: a body may have come with them.
        if self._received > LARGEST_HEADERS:
            length = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if length > LARGEST_HEADERS:
                self._refuse_headers()
                return
        if self.parser.should_upgrade() and any(name in _BODY_HEADERS for name, _ in self.headers):
            # The parser takes what follows for another protocol: a body would be lost, or be taken for a request.
            self._refuse(400, "A request with a body cannot ask for another protocol.")
            return
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._waits_for, self._received = "", 0
        self._stop_waiting()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _goes_on(self) -> bool:
        # Not once it is answered: who was refused early may send the rest, but not for ever.
        return (
            self._waits_for == "body"
            and self._received - self._timed_from >= _TIMED_BYTES
            and not self.transport.is_closing()
            and not self.cycle.response_complete
        )

    def _wait(self) -> None:
        if not self.transport.is_closing():
            self._timed_from = self._received
            self._timer = self.loop.call_later(self._timeout, self._end_waiting)

    def _end_waiting(self) -> None:
        if self.flow.read_paused:
            # The client is not slow, we are: a disk, or the database.
            self._wait()
            return
        self.transport.close()

    def _wait_for_a_request(self) -> None:
        # As uvicorn does behind each answer, but not where a body ends behind its answer.
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse_headers(self) -> None:
        self._refuse(431, f"The headers must not be larger than {LARGEST_HEADERS} bytes.")

    def _refuse(self, status: int, text: str) -> None:
        if self.transport.is_closing():
            return
        REQUESTS.labels("other", NOT_ROUTED, str(status)).inc()
        body = to_json(refusal_body(self.url.decode("latin-1").partition("?")[0], text))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            (b"x-request-id", new_request_id()),
            *SECURITY_HEADERS,
            STRICT_CONTENT,
        ]
        head = b"".join(b"%b: %b\r\n" % header for header in headers)
        self.transport.write(b"HTTP/1.1 %b\r\n%b\r\n%b" % (_STATUS_LINES[status], head, body))
        self.transport.close()


class _Server(uvicorn.Server):
    """Ends a graceful shutdown with exit code 0: uvicorn would raise the signal once more and die of it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            yield
            self._captured_signals.clear()


def serve(settings: Settings, factory: str) -> bool:
    """Serve the app that `factory` (`module:function`) builds until a signal comes; return whether it went well."""
    configure_logging()
    config = uvicorn.Config(
        factory,
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        http=partial(Door, settings.body_timeout),  # type: ignore[arg-type]  # any callable that makes a protocol
        ws="none",
        loop="uvloop",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    try:
        return _serve_with_workers(settings, config) if settings.workers > 1 else _serve_alone(settings, config)
    except OSError as error:
        _log.error("cannot listen: %s", error)
    except SystemExit:  # uvicorn's way of ending, after it has logged why
        pass
    return False


def _serve_alone(settings: Settings, config: uvicorn.Config) -> bool:
    if settings.metrics_port:
        start_http_server(settings.metrics_port, settings.host)
    server = _Server(config)
    server.run()
    return server.started


def _serve_with_workers(settings: Settings, config: uvicorn.Config) -> bool:
    with tempfile.TemporaryDirectory(prefix="stammdaten-metrics-") as folder:
        # Workers count into files there, so that /metrics of any of them tells of all.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        if settings.metrics_port:
            start_http_server(settings.metrics_port, settings.host, registry=counted())
        supervisor = Multiprocess(config, [config.bind_socket()])
        supervisor.run()
        return all(process.exitcode != STARTUP_FAILURE for process in supervisor.processes)
