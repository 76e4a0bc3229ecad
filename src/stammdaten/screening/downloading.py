"""Downloads from strangers, with limits on everything they could stretch; knows no list and no format."""

import asyncio
import os
import ssl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import httpcore2
import httpx2 as httpx

from stammdaten.disk import sync
from stammdaten.screening.reaching import CheckedBackend, Line, Network, NotReachable

Progress = Callable[[int, int | None], None]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_OK = 200
_NOT_MODIFIED = 304
_HIGHEST_PORT = 65535
_LONGEST_STAMP = 512
# How long to look for bytes past the announced end. The server was asked to close then, so this is rarely waited for.
_LOOK_PAST_END_SECONDS = 1.0
_INTERNET = Network()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server may ask of us; `idle_seconds` is how long not a byte may come."""

    most_bytes: int = 2 * 1024**3
    connect_seconds: float = 10
    idle_seconds: float = 30
    total_seconds: float = 1800
    allow_private: bool = False


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a server said of the version it sent, for the next request to ask whether there is a newer one."""

    etag: str = ""
    last_modified: str = ""


class NotDownloaded(Exception):  # noqa: N818 - a refusal, not an error of the service
    """The file was not fetched; `str()` of it is the sentence for the operator: host and reason, nothing secret."""


async def download(  # noqa: PLR0913 - `network` is for tests, which have a resolver and a certificate of their own
    url: str, into: Path, *, known: Stamp, limits: Limits, progress: Progress, network: Network = _INTERNET
) -> Stamp | None:
    """Fetch a file over HTTP into `into`, which is replaced only by a complete one; None if `known` is the newest.

    Redirects are followed, each checked as the first URL is. `progress` is told the bytes so far, and those to come if
    the server says so.

    :raises NotDownloaded: if the URL or an address behind it is not allowed, the server refuses, breaks off, stalls, or
        sends more than the limits allow or other than it announced, or the file cannot be written.
    """
    target = _checked(url)
    try:
        async with asyncio.timeout(limits.total_seconds):
            for _ in range(1 + _MOST_REDIRECTS):
                hop = _Hop(target, known, limits, progress)
                with _in_words(hop):
                    reached = await hop.follow(into, network)
                if not isinstance(reached, httpx.URL):
                    return reached
                target = reached
    except TimeoutError:
        raise NotDownloaded(f"{_host(target)} was not done after {limits.total_seconds:g} seconds.") from None
    raise NotDownloaded(f"{_host(target)} redirects once more after {_MOST_REDIRECTS} redirects.")


@dataclass(frozen=True, slots=True)
class _Hop:
    """One request of a download; its answer is a redirect to the next, the file, or that there is no newer one."""

    target: httpx.URL
    known: Stamp
    limits: Limits
    progress: Progress

    @property
    def host(self) -> str:
        return _host(self.target)

    async def follow(self, into: Path, network: Network) -> httpx.URL | Stamp | None:
        backend = CheckedBackend(network.resolve, allow_private=self.limits.allow_private)
        url = httpcore2.URL(
            scheme=self.target.raw_scheme,
            host=self.target.raw_host,
            port=self.target.port,
            target=self.target.raw_path,
        )
        seconds = self.limits.idle_seconds
        patience = {"connect": self.limits.connect_seconds, "read": seconds, "write": seconds, "pool": seconds}
        # httpcore, not the client over it: nothing here reads the environment, follows, decodes, keeps or logs URLs.
        async with (
            httpcore2.AsyncConnectionPool(ssl_context=network.trust(), network_backend=backend) as pool,
            pool.stream("GET", url, headers=self._headers(), extensions={"timeout": patience}) as response,
        ):
            if response.status in _REDIRECTS:
                return self._redirected(_header(response, b"location"))
            if response.status == _NOT_MODIFIED and self.known != Stamp():
                return None
            if response.status != _OK:
                raise NotDownloaded(f"{self.host} answers with status {response.status}.")
            await self._store(response, into)
            return Stamp(_kept(_header(response, b"etag")), _kept(_header(response, b"last-modified")))

    def _headers(self) -> list[tuple[bytes, bytes]]:
        return [
            (b"Host", self.target.netloc),
            (b"User-Agent", b"stammdaten"),
            (b"Accept", b"*/*"),
            (b"Accept-Encoding", b"identity"),
            (b"Connection", b"close"),
            *(
                (name, value.encode())
                for name, value in (
                    (b"If-None-Match", _kept(self.known.etag)),
                    (b"If-Modified-Since", _kept(self.known.last_modified)),
                )
                if value
            ),
        ]

    def _redirected(self, location: str) -> httpx.URL:
        if not location:
            raise NotDownloaded(f"{self.host} redirects, but does not say where to.")
        try:
            joined = str(self.target.join(location))
        except httpx.InvalidURL:
            raise NotDownloaded(f"{self.host} redirects to what is no URL.") from None
        try:
            there = _checked(joined)
        except NotDownloaded as refused:
            raise NotDownloaded(f"{self.host} redirects to where we do not go: {refused}") from None
        if self.target.scheme == "https" and there.scheme == "http":
            raise NotDownloaded(f"{self.host} redirects from https to http, to {_host(there)}.")
        return there

    async def _store(self, response: httpcore2.Response, into: Path) -> None:
        announced = self._announced(response)
        line: Line = response.extensions["network_stream"]
        line.in_body = True
        with _unfinished(into) as (file, path):
            self.progress(0, announced)
            received = 0
            try:
                async for chunk in response.aiter_stream():
                    received += len(chunk)
                    if received > self.limits.most_bytes:
                        raise NotDownloaded(f"{self.host} sends more than {self.limits.most_bytes:,} bytes.")
                    file.write(chunk)
                    self.progress(received, announced)
            except (httpcore2.ProtocolError, httpcore2.NetworkError, ssl.SSLError):
                of = "" if announced is None else f" of {announced:,}"
                raise NotDownloaded(f"{self.host} broke off after {received:,}{of} bytes.") from None
            if announced is not None and (
                received != announced
                or line.taken > announced
                or await line.has_more(within_seconds=min(self.limits.idle_seconds, _LOOK_PAST_END_SECONDS))
            ):
                raise NotDownloaded(f"{self.host} announced {announced:,} bytes and sent another number of them.")
            await asyncio.to_thread(_flush_to_disk, file)
            # From here to the end nothing waits: a cancellation comes before the replacement or after it.
            path.replace(into)
            # The rename itself is on the disk only with the folder.
            sync(into.parent)

    def _announced(self, response: httpcore2.Response) -> int | None:
        # Asked for as it is: a few compressed bytes may unfold to any number.
        if _header(response, b"content-encoding").lower() not in {"", "identity"}:
            raise NotDownloaded(f"{self.host} sends the file compressed, which it was asked not to do.")
        length = _header(response, b"content-length")
        if not length:
            # Without length and chunks the end of the file looks like a torn connection.
            if not _header(response, b"transfer-encoding"):
                raise NotDownloaded(f"{self.host} does not say how long the file is.")
            return None
        # Only digits are left here by the protocol's parser.
        if int(length) > self.limits.most_bytes:
            raise NotDownloaded(f"{self.host} announces more than {self.limits.most_bytes:,} bytes.")
        return int(length)


def _host(url: httpx.URL) -> str:
    return url.raw_host.decode("ascii")


def _checked(given: str) -> httpx.URL:
    try:
        url = httpx.URL(given)
    except httpx.InvalidURL:
        raise NotDownloaded("This is no URL.") from None
    if url.scheme not in {"http", "https"}:
        raise NotDownloaded(f"Only http and https are fetched, not {url.scheme or 'a path'}.")
    if not url.raw_host:
        raise NotDownloaded("The URL names no host.")
    if url.userinfo:
        raise NotDownloaded(f"The URL for {_host(url)} holds a user name or password.")
    if url.port is not None and not 0 < url.port <= _HIGHEST_PORT:
        raise NotDownloaded(f"The URL for {_host(url)} names a port that does not exist.")
    return url


@contextmanager
def _in_words(hop: _Hop) -> Iterator[None]:
    # The texts of the client stay inside, but for why there is no connection: they may quote what was sent or received.
    try:
        yield
    except NotReachable as refused:
        raise NotDownloaded(f"{hop.host} {refused}.") from None
    except httpcore2.ConnectTimeout:
        raise NotDownloaded(f"{hop.host} took no call within {hop.limits.connect_seconds:g} seconds.") from None
    except httpcore2.TimeoutException:
        raise NotDownloaded(f"{hop.host} sent nothing for {hop.limits.idle_seconds:g} seconds.") from None
    except httpcore2.ConnectError as failed:
        raise NotDownloaded(f"{hop.host} cannot be connected to: {str(failed) or 'refused'}.") from None
    except (httpcore2.ProtocolError, httpcore2.NetworkError, ssl.SSLError):
        raise NotDownloaded(f"{hop.host} broke off, or does not speak HTTP.") from None
    except OSError as failed:
        raise NotDownloaded(f"What {hop.host} sends cannot be written: {failed.strerror}.") from None


def _header(response: httpcore2.Response, name: bytes) -> str:
    values = [value for given, value in response.headers if given.lower() == name]
    return b", ".join(values).decode("utf-8", "replace").strip()


def _kept(stamp: str) -> str:
    # It goes into a later request: what could break out of a header, or bloat it, is worth no stamp.
    return stamp if stamp.isascii() and stamp.isprintable() and len(stamp) <= _LONGEST_STAMP else ""


@contextmanager
def _unfinished(into: Path) -> Iterator[tuple[BinaryIO, Path]]:
    # In the same folder, for a rename within a file system is all or nothing.
    handle, name = tempfile.mkstemp(prefix=".download-", suffix=".part", dir=into.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _flush_to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
