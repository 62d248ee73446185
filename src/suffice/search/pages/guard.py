"""Restrict fetching to the public internet (protection against server-side request forgery).

Checked are the URL before each request and the resolved addresses when the connection is made, so that a host name cannot
point to a private address. The user may allow other hosts with SUFFICE_ALLOW_HOSTS.

For IPv6 the list holds what is global, so that unlisted ranges are refused. The standard library's ``is_global`` is not used,
because it changed between patch releases and calls multicast global.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address
from typing import Any

import httpcore2
import httpx2
from httpcore2._backends.auto import AutoBackend

from suffice.errors import InputError, PageError, PageRefused
from suffice.search.urls import DEFAULT_PORTS, shorten_url

# IANA's special-purpose registry for IPv4, multicast and the reserved range, and one address outside of it: Azure's wire
# server, which gives out a machine's secrets like the metadata services on link-local addresses.
_NON_PUBLIC_IPV4 = tuple(
    IPv4Network(network)
    for network in """0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
    192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4
    240.0.0.0/4""".split()
)
_GLOBAL_IPV6 = IPv6Network("2000::/3")
# Inside 2000::/3: protocol assignments with Teredo and ORCHID, documentation, and 6to4, which embeds IPv4 addresses.
_NON_PUBLIC_IPV6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP_MARKERS = (0x00005EFE, 0x02005EFE)

_ALLOW_HOSTS_HINT = "to allow a host of your own, set SUFFICE_ALLOW_HOSTS"
_HOST_PATTERN = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
# Names that public name servers do not resolve: names of private networks and reserved names.
_PRIVATE_HOST = re.compile(
    r"(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|onion|test|invalid)$"
)
_MAX_ADDRESSES = 3  # Addresses of a host that are tried in turn.

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class HostAllowlist:
    """Hosts that the user allows although they are not public: ``host`` on any port, or ``host:port``."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> "HostAllowlist":
        return cls(frozenset(_parse_allowed_host(entry) for entry in entries if entry.strip()))

    def __call__(self, host: str, port: int) -> bool:
        return not self.hosts.isdisjoint({(host, port), (host, None)})


def parse_url(text: str, allowed: HostAllowlist) -> httpx2.URL:
    """Parse and check a URL from a search result or a redirect."""
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, TypeError, UnicodeError, ValueError) as error:
        raise PageRefused(f"{text[:120]!r} is not the URL of a page: {error}") from error
    check_url(url, allowed)
    return url


def check_url(url: httpx2.URL, allowed: HostAllowlist) -> None:
    """Raise ``PageRefused`` unless this is the URL of a public page; the resolved address is checked on connecting."""
    if url.scheme not in DEFAULT_PORTS:
        raise PageRefused(f"{shorten_url(str(url))}: only http and https URLs are read, not {url.scheme or 'others'}")
    if not url.host:
        raise PageRefused(f"{shorten_url(str(url))}: the URL has no host")
    if url.userinfo:
        raise PageRefused(f"{url.host}: a URL with a user name or password is not followed")
    port = DEFAULT_PORTS[url.scheme] if url.port is None else url.port
    if allowed(_normalize_host(url.host), port):
        return
    if port not in DEFAULT_PORTS.values():
        raise PageRefused(f"{url.host}: port {port} is neither 80 nor 443; {_ALLOW_HOSTS_HINT}")
    if not _HOST_PATTERN.fullmatch(url.host) or _PRIVATE_HOST.search(_normalize_host(url.host)):
        raise PageRefused(f"{url.host} is not the name of a public host; {_ALLOW_HOSTS_HINT}")


async def system_resolve(host: str, port: int) -> Sequence[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise PageError(f"{host} cannot be resolved: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def make_client(allowed: HostAllowlist, *, resolve: Resolver = system_resolve, **options: Any) -> httpx2.AsyncClient:
    """Return an HTTP client that connects to allowed addresses only. URLs are checked before each request."""

    class PublicOnlyBackend(AutoBackend):
        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore2.AsyncNetworkStream:
            *others, last = (await _resolve_checked(host, port, allowed, resolve))[:_MAX_ADDRESSES]
            for address in others:
                try:
                    return await super().connect_tcp(address, port, timeout, local_address, socket_options)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                    continue
            return await super().connect_tcp(last, port, timeout, local_address, socket_options)

        async def connect_unix_socket(self, *arguments: Any, **named: Any) -> httpcore2.AsyncNetworkStream:
            raise PageRefused("a socket file is not a web page")

    transport = httpx2.AsyncHTTPTransport(trust_env=False)
    # httpx2 has no public way to set the backend of its connection pool; a test checks that this one is used.
    transport._pool._network_backend = PublicOnlyBackend()

    async def checked(request: httpx2.Request) -> None:
        check_url(request.url, allowed)

    return httpx2.AsyncClient(
        transport=transport, event_hooks={"request": [checked]}, trust_env=False, follow_redirects=False, **options
    )


async def _resolve_checked(host: str, port: int, allowed: HostAllowlist, resolve: Resolver) -> Sequence[str]:
    addresses = await resolve(host, port)
    if not addresses:
        raise PageError(f"{host} has no address")
    if allowed(_normalize_host(host), port):
        return addresses
    for address in addresses:
        if not is_public(address):
            raise PageRefused(f"{host} resolves to {address}, which is not a public address; {_ALLOW_HOSTS_HINT}")
    return addresses


def is_public(address: str) -> bool:
    """Whether the address, and every IPv4 address embedded in it, is public.

    >>> [is_public(a) for a in ("93.184.215.14", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2606:4700::1111")]
    [True, False, False, False, True]
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _NON_PUBLIC_IPV4)
    if parsed.scope_id is not None:
        return False
    is_nat64 = parsed in _NAT64  # How an IPv6-only network reaches IPv4 hosts.
    is_translated = is_nat64 or (int(parsed) >> 32) & 0xFFFF_FFFF in _ISATAP_MARKERS
    if is_translated and not is_public(str(IPv4Address(int(parsed) & 0xFFFF_FFFF))):
        return False
    return is_nat64 or (parsed in _GLOBAL_IPV6 and not any(parsed in network for network in _NON_PUBLIC_IPV6))


def _parse_allowed_host(entry: str) -> tuple[str, int | None]:
    entry = entry.strip()
    host, separator, port = entry.rpartition(":")
    if not separator or host.endswith(":") or (":" in host and not host.endswith("]")):  # A bare name or IPv6 address.
        host, port = entry, ""
    if (port or (separator and host != entry)) and not (port.isdecimal() and 0 < int(port) < 65536):
        raise InputError(f"SUFFICE_ALLOW_HOSTS: {entry!r} is not host or host:port")
    if not host or any(character in "/@?#" or character.isspace() for character in host):
        raise InputError(f"SUFFICE_ALLOW_HOSTS: {entry!r} is not host or host:port; leave out http:// and paths")
    return _normalize_host(host), int(port) if port else None


def _normalize_host(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()
