"""Connections to public addresses alone, each to the very address that was checked; knows not what is fetched."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2 as httpx

Resolve = Callable[[str, int], Awaitable[list[str]]]

_IPv4 = ipaddress.IPv4Address
_IPv6 = ipaddress.IPv6Address

# IANA IPv4 Special-Purpose Address Registry, with multicast. The standard library's `is_global` is not asked: what it
# answers differs between patch releases of Python.
_SPECIAL_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            # The address at which virtual machines of Azure find their host: it looks public and is not.
            "168.63.129.16/32",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)
# All that IANA has given out for the public network, and what is special in it.
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
# These carry an IPv4 address, from bit 96 and from bit 16 on.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_6TO4 = ipaddress.IPv6Network("2002::/16")


class NotReachable(Exception):  # noqa: N818 - a refusal; its text ends the sentence that begins with the host's name
    """The host may not be reached, or is not found."""


def is_public(address: str) -> bool:
    """Tell whether an IP address belongs to the public network, by what IANA's registries say of its range.

    An IPv6 address that carries an IPv4 address is as public as that one (NAT64, 6to4); a mapped one is not public.

    :raises ValueError: if it is no IP address.
    """
    given = ipaddress.ip_address(address)
    if isinstance(given, _IPv4):
        return not any(given in network for network in _SPECIAL_4)
    if given in _NAT64:
        return is_public(str(_IPv4(int(given) & 0xFFFFFFFF)))
    if given in _6TO4:
        return is_public(str(_IPv4(int(given) >> 80 & 0xFFFFFFFF)))
    # A scope (`%eth0`) is for addresses of the own link; a public address has none.
    return given.scope_id is None and given in _PUBLIC_6 and not any(given in network for network in _SPECIAL_6)


async def resolve_host(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a host; the odd spellings of IPv4 (`0x7f.1`, `2130706433`) become addresses.

    :raises OSError: if the host is not found.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """How the addresses of a host are found, and whose certificates are believed."""

    resolve: Resolve = resolve_host
    trust: Callable[[], ssl.SSLContext] = httpx.create_ssl_context


class Line(httpcore2.AsyncNetworkStream):
    """A connection that counts what a body takes of it.

    Until `in_body` is set it is read line by line: so nothing of the body is taken while the head is read, and what is
    counted afterwards is the body alone.
    """

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._held = b""
        self._at = 0
        self.in_body = False
        self.taken = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - httpcore's interface
        if self._at == len(self._held):
            self._held, self._at = await self._stream.read(max_bytes, timeout), 0
        end = len(self._held)
        if not self.in_body:
            end = self._held.find(b"\n", self._at) + 1 or end
        given, self._at = self._held[self._at : end], end
        if self.in_body:
            self.taken += len(given)
        return given

    async def has_more(self, *, within_seconds: float) -> bool:
        """Tell whether the server sends still more; one that neither sends nor closes has said all."""
        try:
            return await self.read(1, within_seconds) != b""
        except (httpcore2.ReadTimeout, httpcore2.ReadError):
            return False

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - httpcore's interface
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
    ) -> "Line":
        return Line(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves a host once, checks all its addresses and connects to one of these, never to the name.

    A second resolution could answer otherwise than the one that was checked (DNS rebinding). TLS is not touched by it:
    httpcore still asks for, and verifies, the certificate of the name.
    """

    def __init__(self, resolve: Resolve, *, allow_private: bool) -> None:
        self._resolve = resolve
        self._allow_private = allow_private
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> Line:
        failed: Exception = httpcore2.ConnectError("no address")
        # One budget for all addresses, of the rest a share for each: a dead one may neither use it up nor add to it.
        try:
            async with asyncio.timeout(timeout) as budget:
                addresses = await self._checked_addresses(host, port)
                for place, address in enumerate(addresses):
                    share = _left(budget, among=len(addresses) - place)
                    try:
                        return Line(
                            await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
                        )
                    except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as refused:
                        failed = refused
        except TimeoutError as late:
            raise httpcore2.ConnectTimeout from late
        raise failed

    async def _checked_addresses(self, host: str, port: int) -> list[str]:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as unknown:
            raise NotReachable("is not found by name") from unknown
        if not addresses:
            raise NotReachable("has no address")
        # All must be public, those too that would not be tried: a name with one foot in the house is not trusted.
        inside = [] if self._allow_private else [address for address in addresses if not is_public(address)]
        if inside:
            raise NotReachable(f"has an address that is not public, {inside[0]}")
        return addresses


def _left(budget: asyncio.Timeout, *, among: int) -> float | None:
    ends = budget.when()
    return None if ends is None else max(0.0, ends - asyncio.get_running_loop().time()) / among
