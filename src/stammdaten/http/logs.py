"""Logs as lines of JSON on standard error."""

import logging
import sys

import structlog
from pydantic_core import to_json
from structlog.typing import EventDict, Processor, WrappedLogger


def configure_logging() -> None:
    """Send the service's and the libraries' logs to standard error, one JSON object a line."""
    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, _rendered],
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                lambda logger, method, event: _rendered(logger, method, event).decode(),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    # One line a request is ours; the server's own would repeat it, with the query in it.
    logging.getLogger("uvicorn.access").disabled = True


def _rendered(_: WrappedLogger, __: str, event: EventDict) -> bytes:
    return to_json(event, serialize_unknown=True)
