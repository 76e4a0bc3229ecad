"""A client that asks one thing after the other, so many a second, and notes how long each answer took.

Run in a process of its own: `python -m bench.exchange.asking ADDRESS STAMPS ROWS LIST_ID FIRST`, with BENCH_TOKEN in
the environment, until its stdin is closed; then it prints an `Answered` for each kind of request.
"""

import http.client
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from bench.data import article_number, product
from bench.load import LoadFailed
from bench.processes import PYTHON, cpu_seconds, machine_busy_seconds
from bench.subjects import PREFIX, Subject

T = TypeVar("T")

PAGE, FIND, CREATE = "page of 30 products", "find by article number", "durable create of a product"
A_SECOND = 200
_TURNS = (PAGE, FIND, PAGE, PAGE, PAGE, FIND, PAGE, CREATE, PAGE, PAGE)
_PRODUCTS = f"/api/{PREFIX}/v1/products"


class Answered(NamedTuple):
    """How many answers came, and after how many milliseconds."""

    times: int
    p50: float
    p99: float
    longest: float


class Asked(NamedTuple):
    """What each kind of request took, and how many cores others kept busy meanwhile."""

    answered: dict[str, Answered]
    other_load: float


def asked(subject: Subject, *, list_id: str, first: int, during: Callable[[], T]) -> tuple[Asked, T]:
    """Ask a service while something is done; return what that returned, too.

    What the client creates is numbered from `first`.

    :raises LoadFailed: if a request failed.
    """
    line = [PYTHON, "-m", "bench.exchange.asking", subject.server.address, str(subject.stamps)]
    # Our own tree holds the service, the client and the import, not PostgreSQL, which is a daemon.
    ours = (os.getpid(), *([] if subject.database_pid is None else [subject.database_pid]))
    used, busy, began = cpu_seconds(*ours), machine_busy_seconds(), time.perf_counter()
    with subprocess.Popen(
        [*line, str(subject.rows), list_id, str(first)],
        env={**os.environ, "BENCH_TOKEN": subject.token},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            done = during()
            said, complaint = process.communicate()
        finally:
            process.kill()
    if process.returncode:
        raise LoadFailed(f"the client failed: {complaint[-3000:]}")
    others = max(0.0, machine_busy_seconds() - busy - cpu_seconds(*ours) + used) / (time.perf_counter() - began)
    return Asked({kind: Answered(*values) for kind, values in json.loads(said).items()}, others), done


def main() -> None:
    """Ask until stdin is closed."""
    address, stamps, rows, list_id, first = sys.argv[1:]
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    requests = _requests(Path(stamps).read_text().split(), int(rows), int(list_id), int(first))
    took: dict[str, list[float]] = {PAGE: [], FIND: [], CREATE: []}
    due = time.perf_counter()
    while not _is_over(due - time.perf_counter()):
        kind, method, path, body = next(requests)
        began = time.perf_counter()
        _ask(connection, method, path, body)
        ended = time.perf_counter()
        took[kind].append((ended - began) * 1000)
        # What fell due while an answer was awaited is left out, as a client that waits leaves it out.
        due = max(due + 1 / A_SECOND, ended)
    print(json.dumps({kind: _answered(sorted(times)) for kind, times in took.items()}))


def _is_over(seconds: float) -> bool:
    """Wait until the next request is due, or stdin is closed."""
    readable, _, _ = select.select([sys.stdin], [], [], max(0.0, seconds))
    return bool(readable)


def _requests(stamps: list[str], rows: int, list_id: int, first: int) -> Iterator[tuple[str, str, str, bytes | None]]:
    chance = Random(7)
    while True:
        for kind in _TURNS:
            if kind == PAGE:
                yield kind, "GET", f"{_PRODUCTS}?timestamp={chance.choice(stamps)}", None
            elif kind == FIND:
                number = article_number(chance.randint(1, rows))
                yield kind, "POST", f"{_PRODUCTS}/find", json.dumps({"article_number": number}).encode()
            else:
                yield kind, "POST", _PRODUCTS, json.dumps({"list_id": list_id, "product": product(first)}).encode()
                first += 1


def _ask(connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None) -> None:
    headers = {"Authorization": f"Bearer {os.environ['BENCH_TOKEN']}", "Content-Type": "application/json"}
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    said = answer.read()
    if answer.status >= http.client.MULTIPLE_CHOICES:
        raise LoadFailed(f"{method} {path}: {answer.status} {said[:300]!r}")


def _answered(times: list[float]) -> Answered:
    return Answered(len(times), times[len(times) // 2], times[int(len(times) * 0.99)], times[-1])


if __name__ == "__main__":
    main()
