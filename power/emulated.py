# SPDX-License-Identifier: Apache-2.0
"""Whether an emulator measures: its serial number says so, or an address on this machine."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv6Address, ip_address

from power.meter import Identity

SERIAL_PREFIX = "EMU"
"""How the serial number of each emulated meter begins; no meter of Yokogawa's has such a one."""

_TCPIP = re.compile(
    r"\s*TCPIP\d*::(?:\[(?P<bracketed>[^\]]*)\]|(?P<bare>::1|.*?))(?:,\d*)?(?:::\w.*)?"
)


def is_emulated(resource: str, identity: Identity | None) -> bool:
    """Tell whether an emulator answers at a resource, as far as anybody can tell from here.

    No meter of the WT300 series runs on this machine, so a loopback address counts as an emulator.
    It may also be a tunnel or a bridge to a real meter: only a person can know that. `identity` is
    None while nobody has told it. Looks no name up: of names only `localhost` is known.
    """
    if identity is not None and identity.serial.startswith(SERIAL_PREFIX):
        return True
    return resource.strip() == "emulated" or is_on_loopback(resource)


def is_on_loopback(resource: str) -> bool:
    """Tell whether a resource string of PyVISA names an address that never leaves this machine."""
    parts = _TCPIP.fullmatch(resource.upper())
    if parts is None:
        return False
    host = (parts["bare"] if parts["bracketed"] is None else parts["bracketed"]).strip().lower()
    if host.rstrip(".") == "localhost" or host.rstrip(".").endswith(".localhost"):
        return True
    try:
        # An address of fewer parts, as 127.1, is one to every resolver.
        address = ip_address(host if ":" in host else socket.inet_aton(host))
    except (OSError, ValueError):
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    # A connection to 0.0.0.0 or :: ends on this machine.
    return address.is_loopback or address.is_unspecified
