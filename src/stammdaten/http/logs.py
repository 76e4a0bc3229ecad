"""Logs as lines of JSON on standard error."""

import logging
import sys

import structlog
from pydantic_core import to_json
from structlog.typing import EventDict, Processor

from stammdaten.clock import utc_now, utc_stamp

# Each line is written whole and at once, so that the lines of several workers do not mix.
_lines = structlog.BytesLogger(sys.stderr.buffer)


def log_request(**what: object) -> None:
    """Write the line of a request, past the processors: one line for each request, all of the same form."""
    _lines.msg(to_json({"timestamp": utc_stamp(utc_now()), "level": "info", "event": "request", **what}))


def configure_logging() -> None:
    """Send the service's and the libraries' logs to standard error, one JSON object a line."""
    processors: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        _rendered,
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=processors))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    # One line a request is ours; the server's own would repeat it, with the query in it.
    logging.getLogger("uvicorn.access").disabled = True


def _rendered(_: object, __: str, event: EventDict) -> str:
    return to_json(event, serialize_unknown=True).decode()
