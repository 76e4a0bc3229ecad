"""The settings of a process, read once from the environment and frozen; knows nothing of what they are used for."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SCHEMES = ("postgresql://", "postgres://")
_IMPORT_LIMIT = 2 << 30


class SettingsError(ValueError):
    """A setting that cannot be used; the text names the variable and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an operator can set; every field is one variable of the README's table."""

    home: Path = Path("var")
    # repr=False: the URL may hold a password, and settings end up in tracebacks.
    database_url: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    metrics_port: int | None = None
    body_timeout: float = 10.0
    import_limit: int = _IMPORT_LIMIT
    sftp_port: int = 8022
    # Lists that `sanctions update` and the daily job bring up to date: name to addresses, none for the publisher's own.
    sanctions: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    sanctions_private: bool = False
    # A yente server that is asked instead of those lists.
    yente_url: str | None = None
    yente_dataset: str = "default"
    yente_key: str = field(default="", repr=False)

    def __repr__(self) -> str:
        engine = "postgresql" if self.database_url else "sqlite"
        return f"Settings({engine}, home={str(self.home)!r}, host={self.host!r}, port={self.port})"


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from STAMMDATEN_… variables; an empty variable counts as unset.

    :raises SettingsError: if a value cannot be used.
    """
    given = {
        name.removeprefix("STAMMDATEN_"): value
        for name, value in environ.items()
        if name.startswith("STAMMDATEN_") and value
    }
    database_url = given.get("DATABASE_URL")
    if database_url is not None and not database_url.startswith(_SCHEMES):
        # The value itself is not repeated: it may hold a password.
        raise SettingsError("STAMMDATEN_DATABASE_URL must begin with postgresql://")
    workers = _whole(given, "WORKERS", default=1, least=1, most=256)
    if workers > 1 and database_url is None:
        raise SettingsError(
            "STAMMDATEN_WORKERS must be 1 on the embedded SQLite database, which has one writer; "
            "for more workers use PostgreSQL: set STAMMDATEN_DATABASE_URL"
        )
    return Settings(
        home=Path(given.get("HOME", "var")),
        database_url=database_url,
        host=given.get("HOST", "127.0.0.1"),
        port=_whole(given, "PORT", default=8000, least=0, most=65535),
        workers=workers,
        metrics_port=_whole(given, "METRICS_PORT", default=0, least=0, most=65535) or None,
        body_timeout=_seconds(given, "BODY_TIMEOUT", default=10.0),
        import_limit=_whole(given, "IMPORT_LIMIT", default=_IMPORT_LIMIT, least=1, most=2**53),
        sftp_port=_whole(given, "SFTP_PORT", default=8022, least=0, most=65535),
        sanctions=_sanctions(given.get("SANCTIONS", "")),
        sanctions_private=_flag(given, "SANCTIONS_PRIVATE"),
        yente_url=given.get("YENTE_URL"),
        yente_dataset=given.get("YENTE_DATASET", "default"),
        yente_key=given.get("YENTE_KEY", ""),
    )


def _sanctions(words: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for word in words.split():
        name, _, url = word.partition("=")
        # No value is repeated: an address may hold a key.
        if not name or (url and not url.startswith(("http://", "https://"))):
            raise SettingsError("STAMMDATEN_SANCTIONS must be names of lists, each alone or as name=https://address")
        found[name] = (*found.get(name, ()), url) if url else found.get(name, ())
    return found


def _flag(given: Mapping[str, str], name: str) -> bool:
    word = given.get(name, "0")
    if word not in ("0", "1"):
        raise SettingsError(f"STAMMDATEN_{name} must be 1 or 0")
    return word == "1"


def _whole(given: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    text = given.get(name, str(default))
    if not (text.isascii() and text.isdigit() and least <= int(text[:18]) <= most):
        raise SettingsError(f"STAMMDATEN_{name} must be a whole number from {least} to {most}")
    return int(text)


def _seconds(given: Mapping[str, str], name: str, *, default: float) -> float:
    try:
        seconds = float(given.get(name, default))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:  # noqa: PLR2004 - an hour: longer is a typing error, and NaN fails here too
        raise SettingsError(f"STAMMDATEN_{name} must be a number of seconds above 0 and up to 3600")
    return seconds
