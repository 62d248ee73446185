"""Which addresses are out on the public internet. Everything else is refused, whoever asks.

What counts is a list of what is global, not of what is private: a range nobody thought of is refused. The standard library's
``is_global`` is not used, because it changed between patch releases and calls multicast global.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

from suffice.errors import InputError, PageError, PageRefused

if TYPE_CHECKING:
    import httpx2

# IANA's special-purpose registry for IPv4, multicast and the reserved end, and one address outside of it: Azure's wire server,
# which hands out a machine's own secrets like the metadata services on link-local addresses do.
_NON_PUBLIC_IPV4 = tuple(
    IPv4Network(network)
    for network in """0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
    192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4
    240.0.0.0/4""".split()
)
_GLOBAL_IPV6 = IPv6Network("2000::/3")
# Inside 2000::/3: protocol assignments with Teredo and ORCHID, documentation, and 6to4, whose addresses are IPv4 in disguise.
_NON_PUBLIC_IPV6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP_MARKERS = (0x00005EFE, 0x02005EFE)


def is_public(address: str) -> bool:
    """Whether the address, and every IPv4 address hidden inside it, is a public one.

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
    hidden = list(_extract_embedded_ipv4(parsed))
    if parsed in _NAT64:  # How a network without IPv4 reaches the rest of the internet.
        return all(is_public(str(inner)) for inner in hidden)
    if parsed not in _GLOBAL_IPV6 or any(parsed in network for network in _NON_PUBLIC_IPV6):
        return False
    return all(is_public(str(inner)) for inner in hidden)


def _extract_embedded_ipv4(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 address that a gateway on the way would make of it."""
    low = int(address) & 0xFFFF_FFFF
    if address in _NAT64 or (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP_MARKERS:
        yield IPv4Address(low)


DEFAULT_PORTS = {"http": 80, "https": 443}
_ALLOW_HOSTS_HINT = "SUFFICE_ALLOW_HOSTS lets in hosts of your own"
_HOST_PATTERN = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")
# Names that no public name server answers for: a network's own, or nobody's.
_PRIVATE_HOST = re.compile(
    r"(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|onion|test|invalid)$"
)
_MAX_ADDRESSES = 3  # Tried one after the other when a server does not answer on the first.

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class HostAllowlist:
    """Hosts a user lets in although they are not public: ``host`` on any port, or ``host:port``."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> "HostAllowlist":
        return cls(frozenset(_parse_allowed_host(entry) for entry in entries if entry.strip()))

    def __call__(self, host: str, port: int) -> bool:
        return not self.hosts.isdisjoint({(host, port), (host, None)})


def parse_url(text: str, allowed: HostAllowlist) -> "httpx2.URL":
    """A checked URL out of whatever a search result or a redirect says."""
    import httpx2

    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, TypeError, UnicodeError, ValueError) as error:
        raise PageRefused(f"{text[:120]!r} is no address of a page: {error}") from error
    check_url(url, allowed)
    return url


def resolve_redirect(base: "httpx2.URL", location: str) -> str:
    """Where a redirect leads."""
    import httpx2

    try:
        return str(base.join(location))
    except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
        raise PageRefused(f"{base.host} redirects to {location[:120]!r}, which is no address of a page") from error


def check_url(url: "httpx2.URL", allowed: HostAllowlist) -> None:
    """Refuse a URL that is no plain web address; what its name resolves to is checked when a connection is made."""
    if url.scheme not in DEFAULT_PORTS:
        raise PageRefused(f"{_shorten_url(url)}: only http and https pages are read, not {url.scheme or 'no scheme'}")
    if not url.host:
        raise PageRefused(f"{_shorten_url(url)}: the address names no host")
    if url.userinfo:
        raise PageRefused(f"{url.host}: an address that carries a user name or password is not followed")
    port = DEFAULT_PORTS[url.scheme] if url.port is None else url.port
    if allowed(_normalize_host(url.host), port):
        return
    if port not in DEFAULT_PORTS.values():
        raise PageRefused(f"{url.host}: port {port} is neither 80 nor 443; {_ALLOW_HOSTS_HINT}")
    if not _HOST_PATTERN.fullmatch(url.host) or _PRIVATE_HOST.search(_normalize_host(url.host)):
        raise PageRefused(f"{url.host} is no name of a public host; {_ALLOW_HOSTS_HINT}")


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """Every address of a host, as the system resolves it."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise PageError(f"{host} cannot be resolved: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def make_client(
    allowed: HostAllowlist, *, resolve: Resolver = system_resolve, wrap_transport: Any = None, **options: Any
) -> "httpx2.AsyncClient":
    """An HTTP client behind the guard. ``cache`` wraps the guarded transport; it is asked only about URLs that were checked."""
    import httpcore2
    import httpx2
    from httpcore2._backends.auto import AutoBackend

    class Guarded(AutoBackend):
        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore2.AsyncNetworkStream:
            addresses = await _resolve_checked(host, port, allowed, resolve)
            for address in addresses[: _MAX_ADDRESSES - 1]:
                try:
                    return await super().connect_tcp(address, port, timeout, local_address, socket_options)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                    continue
            return await super().connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

        async def connect_unix_socket(self, *arguments: Any, **named: Any) -> httpcore2.AsyncNetworkStream:
            raise PageRefused("a socket file is no web page")

    transport = httpx2.AsyncHTTPTransport(trust_env=False)
    # httpx2 has no public way to say which backend its pool connects through; a test pins that this one is used.
    transport._pool._network_backend = Guarded()

    async def checked(request: "httpx2.Request") -> None:
        check_url(request.url, allowed)

    return httpx2.AsyncClient(
        transport=transport if wrap_transport is None else wrap_transport(transport),
        event_hooks={"request": [checked]},
        trust_env=False,
        follow_redirects=False,
        **options,
    )


async def _resolve_checked(host: str, port: int, allowed: HostAllowlist, resolve: Resolver) -> Sequence[str]:
    addresses = await resolve(host, port)
    if not addresses:
        raise PageError(f"{host} has no address")
    if allowed(_normalize_host(host), port):
        return addresses
    for address in addresses:
        if not is_public(address):
            raise PageRefused(f"{host} is {address}, which is not a public address; {_ALLOW_HOSTS_HINT}")
    return addresses


def _parse_allowed_host(entry: str) -> tuple[str, int | None]:
    host, separator, port = entry.strip().rpartition(":")
    if not separator or host.endswith(":") or (":" in host and not host.endswith("]")):  # a bare name or IPv6 address
        host, port = entry.strip(), ""
    if (port or (separator and host != entry.strip())) and not (port.isdecimal() and 0 < int(port) < 65536):
        raise InputError(f"SUFFICE_ALLOW_HOSTS: {entry.strip()!r} is not host or host:port")
    if not host or any(character in "/@?#" or character.isspace() for character in host):
        raise InputError(
            f"SUFFICE_ALLOW_HOSTS: {entry.strip()!r} is not host or host:port; leave out http:// and paths"
        )
    return _normalize_host(host), int(port) if port else None


def _normalize_host(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _shorten_url(url: "httpx2.URL") -> str:
    return str(url)[:120]
