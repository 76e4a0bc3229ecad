"""The floor below a service: the bare statement in a loop on the same engine and the same data.

PostgreSQL's is run by pgbench: 16 connections, prepared, the very SQL of the service, its parameters written
in but for the one that varies. pgbench asks for text, which doubles a `bytea`: it gets the document decoded,
cheapest way that was tried (hex, escapes, or binary through asyncpg cost the server as much or more).
SQLite's runs in a process of its own on a connection with the service's settings, its rows joined to one body;
in two at once: beside an idle core a statement takes less CPU, and beside the load generator no service has one.
"""

import multiprocessing
import os
import random
import re
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from bench.load import CONNECTIONS, LoadFailed, Measured
from bench.postgres import Postgres
from bench.processes import cpu_seconds
from bench.statements import WANTED, Asked
from stammdaten.store.sqlite import connect

# pgbench takes numbers only: the values lie in an array in the statement. Longer ones take longer to index.
_MOST_VALUES = 400
_PROCESSES = 2


def postgres_floor(  # noqa: PLR0913 - a statement, where it runs, and for how long
    server: Postgres, database: str, folder: Path, asked: Asked, values: list[str], *, seconds: float, seed: int
) -> Measured:
    """Run a statement in a loop on PostgreSQL with values at random.

    :raises LoadFailed: if pgbench failed.
    """
    chosen = random.Random(seed).sample(values, min(_MOST_VALUES, len(values)))
    script = folder / "floor.sql"
    script.write_text(f"\\set n random(1, {len(chosen)})\n{_inlined(asked, chosen)};\n")
    how = f"--no-vacuum --protocol=prepared --client={CONNECTIONS} --jobs=1 --time={max(1, round(seconds))}"
    where = ["--host", server.socket_folder, "--username", "postgres", database]
    before = cpu_seconds(server.pid)
    done = subprocess.run(
        [server.tools / "pgbench", *how.split(), f"--random-seed={seed}", f"--file={script}", *where],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PGOPTIONS": "-c jit=off"},
    )
    used = cpu_seconds(server.pid) - before
    processed = re.search(r"actually processed: (\d+)", done.stdout)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    is_whole = done.returncode == 0 and "number of failed transactions: 0 " in done.stdout
    if processed is None or rate is None or not is_whole:
        raise LoadFailed(f"pgbench failed: {done.stderr or done.stdout}")
    return Measured(float(rate[1]), application_cpu=0.0, database_cpu=used / int(processed[1]) * 1000)


def _inlined(asked: Asked, values: list[str]) -> str:
    array = f"('{{{','.join(values)}}}'::text[])[:n]"
    sql = " ".join(asked.sql.split()).replace("products.document", "convert_from(products.document, 'UTF8')", 1)
    # From the last to the first, or $1 would be found in $10.
    for place in range(len(asked.arguments), 0, -1):
        argument = asked.arguments[place - 1]
        sql = sql.replace(f"${place}", array if argument == WANTED else str(argument))
    return sql


def sqlite_floor(file: Path, asked: Asked, values: list[str], *, seconds: float, seed: int) -> Measured:
    """Run a statement in a loop on SQLite with values at random, in two processes at once."""
    # Started afresh, not forked: a copy of this process would share its threads' locks.
    with ProcessPoolExecutor(_PROCESSES, multiprocessing.get_context("spawn")) as processes:
        started = [processes.submit(_loop, file, asked, values, seconds, seed + place) for place in range(_PROCESSES)]
        loops = [one.result() for one in started]
    times, used = sum(times for times, _ in loops), sum(used for _, used in loops)
    # The rate of one: a second process is a second server.
    return Measured(times / _PROCESSES / seconds, application_cpu=0.0, database_cpu=used / times * 1000)


def _loop(file: Path, asked: Asked, values: list[str], seconds: float, seed: int) -> tuple[int, float]:
    connection = connect(file)
    chosen = random.Random(seed)
    try:
        times, started, used = 0, time.perf_counter(), time.thread_time()
        while time.perf_counter() - started < seconds:
            rows = connection.execute(asked.sql, asked.with_wanted(chosen.choice(values))).fetchall()
            b'{"products":[%b]}' % b",".join([row[0] for row in rows])
            times += 1
        return times, time.thread_time() - used
    finally:
        connection.close()
