"""Requests one after the other, for what is asked rarely: deep pages, and contacts with their total."""

import http.client
import re
import time
from dataclasses import dataclass
from http import HTTPStatus
from statistics import median
from urllib.parse import urlsplit

from bench.load import LoadFailed
from bench.subjects import PREFIX, Subject

_TIMES = 100
_REACHES_PAGE_1000 = 30_000
_READ_SECONDS = re.compile(r'^stammdaten_database_seconds_sum\{door="read"\} (\S+)$', re.MULTILINE)


@dataclass(frozen=True)
class Paged:
    """What a request took in milliseconds: the median until the answer, the mean time in the database."""

    name: str
    answered: float
    database: float


def paged(subject: Subject, name: str, path: str) -> Paged:
    """Ask for a page again and again, one request after the other.

    :raises LoadFailed: if a request failed.
    """
    connection = http.client.HTTPConnection(urlsplit(subject.server.address).netloc)
    headers = {"Authorization": f"Bearer {subject.token}"}
    try:
        for _ in range(10):
            _get(connection, path, headers)
        before, times = _read_seconds(connection), []
        for _ in range(_TIMES):
            started = time.perf_counter()
            _get(connection, path, headers)
            times.append(time.perf_counter() - started)
        database = (_read_seconds(connection) - before) / _TIMES
    finally:
        connection.close()
    return Paged(name, median(times) * 1000, database * 1000)


def all_paged(subject: Subject, engine: str, *, with_contacts: bool) -> list[Paged]:
    """Ask for deep pages of products, and for pages of contacts where there are some."""
    products, contacts = f"/api/{PREFIX}/v1/products", f"/api/{PREFIX}/v1/contacts"
    rows = f"{engine}, {subject.rows:,} products"
    asked = [
        paged(subject, f"page=1, {rows}", f"{products}?timestamp=2000-01-01"),
        paged(subject, f"page=10, {rows}", f"{products}?timestamp=2000-01-01&page=10"),
        paged(subject, f"page=100, {rows}", f"{products}?timestamp=2000-01-01&page=100"),
    ]
    if subject.rows >= _REACHES_PAGE_1000:
        asked.append(paged(subject, f"{DEEP}, {rows}", f"{products}?timestamp=2000-01-01&page=1000"))
    if with_contacts:
        asked += [
            paged(subject, f"{CONTACTS}, {engine}", contacts),
            paged(subject, f"contacts, page=1000, {engine}", f"{contacts}?page=1000"),
            paged(
                subject,
                f"contacts on the watchlist, {engine}",
                f"{contacts}?is_watchlist=true",
            ),
            paged(
                subject,
                f"contacts since a timestamp (all), {engine}",
                f"{contacts}?timestamp=2000-01-01",
            ),
            paged(
                subject,
                f"contacts, search=müller, {engine}",
                f"{contacts}?search=m%C3%BCller",
            ),
        ]
    return asked


DEEP = "page=1000"
CONTACTS = "contacts with total"


def _get(connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> bytes:
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != HTTPStatus.OK:
        raise LoadFailed(f"{path}: {answer.status} {body[:300]!r}")
    return body


def _read_seconds(connection: http.client.HTTPConnection) -> float:
    found = _READ_SECONDS.search(_get(connection, "/metrics", {}).decode())
    if found is None:
        raise LoadFailed("/metrics does not show the time of reads")
    return float(found[1])
