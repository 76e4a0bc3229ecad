"""Imports: what was given, how far it is, and what came of it."""

from sqlalchemy import Column, Table

from stammdaten.store.tables import Flag, Number, metadata, words

imports = Table(
    "imports",
    metadata,
    Column("instance_id", Number, primary_key=True, autoincrement=False),
    Column("id", Number, primary_key=True, autoincrement=False),
    words("slug"),
    words("file_name"),  # as it was called where it came from
    words("origin"),  # command, http, sftp
    Column("user_id", Number, nullable=False),
    words("user_name"),
    Column("is_dry_run", Flag, nullable=False),
    words("state"),  # waiting, running, done, failed
    Column("line", Number, nullable=False),  # the last one that is done
    Column("lines", Number, nullable=False),  # in the whole file; 0 where that is not known
    Column("created", Number, nullable=False),
    Column("updated", Number, nullable=False),
    Column("unchanged", Number, nullable=False),
    Column("refused", Number, nullable=False),
    Column("warnings", Number, nullable=False),
    Column("report_bytes", Number, nullable=False),  # of the report, up to that line
    words("encoding"),
    words("error"),  # why it ended before the end of the file
    words("created_at"),  # UTC
    words("finished_at"),
)
