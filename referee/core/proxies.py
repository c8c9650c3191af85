# SPDX-License-Identifier: Apache-2.0
"""Whose request it is that a proxy passes on: the rule for `X-Forwarded-For`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

# A zone is a name of the proxy's own network card, and nothing else may stand in an address.
_PLAIN = re.compile(r"[0-9A-Fa-f:.]{2,45}(%[0-9A-Za-z._-]{1,15})?")
_WITH_PORT = re.compile(r"(?P<v4>[0-9.]+):[0-9]{1,5}|\[(?P<v6>[^\]]+)\](:[0-9]{1,5})?")


@dataclass(frozen=True)
class TrustedProxies:
    """The proxies that are believed when they say for whom they ask."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    def include(self, address: str) -> bool:
        """Tell whether an address is that of such a proxy; a text that is no address is not."""
        found = _address(address)
        return found is not None and self._trusts(found)

    def address_of(self, peer: str, forwarded: Sequence[str]) -> str:
        """Return the address of who sent a request that came from `peer`.

        `forwarded` has the values of all headers `X-Forwarded-For`, in the order of the request.
        Each proxy writes behind the others whom it has heard. So the list is read from the right,
        as long as trusted proxies have written it: what stands further left, anybody can invent. At
        something that is no address the proxy that wrote it is the sender.
        """
        sender = _address(peer)
        if sender is None or not self._trusts(sender):
            return peer
        for entry in reversed(",".join(forwarded).split(",")):
            heard = _address(entry.strip())
            if heard is None:
                break
            sender = heard
            if not self._trusts(sender):
                break
        return str(sender)

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self.networks)


NO_PROXIES = TrustedProxies()
"""Nobody is believed: a request is of who has connected."""


def trusted_proxies(texts: Sequence[str]) -> TrustedProxies:
    """Return the proxies of addresses and networks, such as 127.0.0.1 or 10.0.0.0/24.

    Raises `ValueError` with a sentence for a text that is neither, and for a network of everybody.
    """
    return TrustedProxies(tuple(_network(text) for text in texts))


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(text)
    except ValueError:
        raise ValueError(
            f"'{text}' is neither an address nor a network, such as 127.0.0.1 or 10.0.0.0/24"
        ) from None
    if network.prefixlen == 0:
        raise ValueError(f"'{text}' is everybody, who could then give any address: name the proxy")
    return network


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address of a text, which may have a port; None if it has no address.

    An IPv4 address that is written as one of IPv6 is an IPv4 address.
    """
    match = _WITH_PORT.fullmatch(text)
    plain = text if match is None else match["v4"] or match["v6"]
    if _PLAIN.fullmatch(plain) is None:
        return None
    try:
        found = ip_address(plain)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
