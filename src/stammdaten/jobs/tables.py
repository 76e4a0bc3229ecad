"""The queue. Shared by all instances: a worker takes what is due, whosever it is."""

from sqlalchemy import Column, Index, Table

from stammdaten.store.tables import Number, Words, metadata, shared_id, words

jobs = Table(
    "jobs",
    metadata,
    shared_id(),
    Column("kind", Words, nullable=False),
    Column("key", Words, nullable=False),  # one job a kind and key: asking twice is asking once
    Column("instance_id", Number, nullable=False),  # 0: of no instance
    Column("payload", Words, nullable=False),  # JSON
    Column("state", Words, nullable=False),  # waiting, running, done, failed
    Column("due_at", Words, nullable=False),  # UTC
    Column("claimed_by", Words, nullable=False),
    Column("claimed_until", Words, nullable=False),  # UTC; past it, another worker may take over
    Column("attempts", Number, nullable=False),
    Column("progress", Words, nullable=False),  # JSON: where to go on after a restart
    words("report"),
    Column("created_at", Words, nullable=False),
    Column("finished_at", Words, nullable=False),
    Index("jobs_key", "kind", "key", unique=True),
    Index("jobs_due", "state", "due_at"),
)
