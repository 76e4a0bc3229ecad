"""The floor below an import: the same file, read with `csv`, into a bare table, in one transaction.

Run in a process of its own: `python -m bench.exchange.bare FILE DATABASE`, where DATABASE is a URL of PostgreSQL
(COPY) or a file of SQLite (executemany).
"""

import asyncio
import csv
import sqlite3
import sys
from pathlib import Path

import asyncpg

from bench.exchange.articles import COLUMNS

TABLE = "bare_articles"
_CREATE = f"CREATE TABLE {TABLE} ({', '.join(f'{name} text NOT NULL' for name in COLUMNS)})"


def main() -> None:
    """Fill the table."""
    path, database = Path(sys.argv[1]), sys.argv[2]
    if database.startswith("postgresql://"):
        asyncio.run(_copy(path, database))
    else:
        _execute_many(path, database)


async def _copy(path: Path, url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(_CREATE)
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter=";")
            next(rows)
            await connection.copy_records_to_table(TABLE, records=rows, columns=COLUMNS)
    finally:
        await connection.close()


def _execute_many(path: Path, database: str) -> None:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(_CREATE)
    connection.execute("BEGIN")
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter=";")
        next(rows)
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(COLUMNS))})", rows)
    connection.execute("COMMIT")
    connection.close()


if __name__ == "__main__":
    main()
