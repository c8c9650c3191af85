# SPDX-License-Identifier: Apache-2.0
"""The URLs of this machine that operators give to contestants."""

from __future__ import annotations

import fcntl
import ipaddress
import socket
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from referee.core.host_port import joined

_SIOCGIFADDR = 0x8915  # ioctl(2) of Linux: the address of a network interface
_ANY_IPV6 = ("::", "[::]")
_ANY = ("0.0.0.0", "", *_ANY_IPV6)
_IF_INET6 = Path("/proc/net/if_inet6")
_GLOBAL = 0x00
# Not to be told: an address that is temporary, failed, about to end or not sure yet (if_addr.h).
_PASSING = 0x01 | 0x08 | 0x20 | 0x40


def contestants_urls(address: str, scheme: str = "http") -> list[str]:
    """Return the URLs of a server that listens on `HOST:PORT`.

    A server that listens on all addresses has one URL for each network of this machine, and one
    that listens on [::] has those of IPv6, too. The list
    is empty without a network, and for port 0, because the real port is not known here.
    """
    host, _, port = address.rpartition(":")
    if port == "0":
        return []
    hosts = [host]
    if host in _ANY:
        hosts = _network_addresses()
        if host in _ANY_IPV6:
            hosts += _network_addresses_ipv6()
    return [f"{scheme}://{joined(one, port)}" for one in hosts]


def certificate_hosts(addresses: Sequence[str]) -> list[str]:
    """Return whom a certificate must name for servers that listen on these addresses.

    They are the hosts that the teams are told, and this machine's names for itself.
    """
    own_hosts = [
        urlsplit(url).hostname or "" for address in addresses for url in contestants_urls(address)
    ]
    given = [address.rpartition(":")[0].strip("[]") for address in addresses]
    named = [host for host in (*own_hosts, *given) if host not in _ANY]
    return list(dict.fromkeys([*named, "127.0.0.1", "localhost"]))


def _network_addresses() -> list[str]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        if sys.platform != "linux":
            return _address_towards_anywhere(probe)
        addresses = [_address_of(probe, name) for _, name in socket.if_nameindex()]
    return [one for one in addresses if one is not None and not one.startswith("127.")]


def _network_addresses_ipv6() -> list[str]:
    """Return the lasting addresses that reach beyond one cable (/proc/net/if_inet6)."""
    if sys.platform != "linux":
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            return _address_towards_anywhere(probe, "2001:db8::1")
    try:
        rows = [line.split() for line in _IF_INET6.read_text(encoding="ascii").splitlines()]
    except OSError:  # This machine speaks no IPv6.
        return []
    return [
        str(ipaddress.IPv6Address(bytes.fromhex(row[0])))
        for row in rows
        if len(row) == 6 and int(row[3], 16) == _GLOBAL and not int(row[4], 16) & _PASSING
    ]


def _address_of(probe: socket.socket, interface: str) -> str | None:
    try:
        answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", interface.encode()[:15]))
    except OSError:  # An interface that is down has no address.
        return None
    return socket.inet_ntoa(answer[20:24])


def _address_towards_anywhere(probe: socket.socket, target: str = "192.0.2.1") -> list[str]:
    """Return this machine's own address on its default route.

    Connecting a UDP socket sends nothing. The targets are for documentation (RFC 5737, RFC 3849).
    """
    try:
        probe.connect((target, 9))
    except OSError:
        return []
    return [str(probe.getsockname()[0])]
