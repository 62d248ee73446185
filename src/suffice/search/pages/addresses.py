"""Which addresses are out on the public internet. Everything else is refused, whoever asks.

What counts is a list of what is global, not of what is private: a range nobody thought of is refused. The standard library's
``is_global`` is not used, because it changed between patch releases and calls multicast global.
"""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

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
