# SPDX-License-Identifier: Apache-2.0
"""Who counts as one address where turns, connections and memory are shared."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Network, ip_address

# The part of an address of IPv6 that a network gives to one machine or one home (RFC 6177); a
# machine takes as many addresses behind it as it wants (RFC 8981).
_IPV6_BITS = 64


@lru_cache(maxsize=4096)
def share_of(address: str) -> str:
    """Return what an IP address has its share under; other text stays as it is.

    An address of IPv4 stands for itself, also as IPv6 writes it (`::ffff:192.0.2.7`). Of IPv6 it is
    the network of 64 bits, without the name of the laptop's own network card.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    if parsed.is_loopback:
        return str(parsed)
    return str(IPv6Network((int(parsed), _IPV6_BITS), strict=False))
