"""Imports in JSON."""

from collections.abc import Iterable

from pydantic_core import to_json

from stammdaten.exchange.orders import Import
from stammdaten.exchange.reporting import ReportLine


def rendered_import(standing: Import, report: Iterable[ReportLine]) -> bytes:
    """Render how an import stands, with the first lines of its report."""
    return to_json(
        {
            "id": standing.id,
            "slug": standing.slug,
            "file_name": standing.file_name,
            "origin": standing.origin,
            "is_dry_run": standing.is_dry_run,
            "state": standing.state,
            "line": standing.line,
            # Not known before somebody has counted them.
            "lines": standing.lines or None,
            "created": standing.created,
            "updated": standing.updated,
            "unchanged": standing.unchanged,
            "refused": standing.refused,
            "warnings": standing.warnings,
            "encoding": standing.encoding,
            "error": standing.error,
            "report": [line._asdict() for line in report],
            "user_id": standing.user_id,
            "user_name": standing.user_name,
            "created_at": standing.created_at,
            "finished_at": standing.finished_at or None,
        }
    )
