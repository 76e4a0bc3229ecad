"""How old the schema of a database is; bringing it up to date is `migrating.py`'s business."""

from sqlalchemy import Column, MetaData, Table, Text, select

from stammdaten.refusals import Refusal
from stammdaten.store import Statement, Store
from stammdaten.store.doors import NoSuchTable

# The newest migration. A test holds it against the folder: looking there at each start costs half a second.
HEAD = "0003"

_versions = Table("alembic_version", MetaData(), Column("version_num", Text))
_REVISION = Statement(select(_versions.c.version_num))


class SchemaOutdated(Refusal):
    """The database is older (or newer) than this version of the service."""


async def revision(store: Store) -> str | None:
    """Return the revision of the schema, or None if there is no schema yet."""
    async with store.reading_shared() as read:
        try:
            found = await read.row(_REVISION)
        except NoSuchTable:
            return None
    return None if found is None else str(found[0])


async def check_schema(store: Store) -> None:
    """Refuse to go on with another schema than this version's.

    :raises SchemaOutdated: with what to do about it.
    """
    found = await revision(store)
    if found is not None and found > HEAD:
        raise SchemaOutdated(f"The database is at revision {found}, newer than this version of the service knows.")
    if found != HEAD:
        known = f"is at revision {found}" if found else "has no schema yet"
        raise SchemaOutdated(f"The database {known}, this version needs {HEAD}: run 'stammdaten migrate'.")
