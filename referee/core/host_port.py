# SPDX-License-Identifier: Apache-2.0
"""A host and a port as one text; an IPv6 address stands in brackets (RFC 3986, 3.2.2)."""

from __future__ import annotations

import ipaddress


def joined(host: str, port: int | str) -> str:
    """Return `HOST:PORT`, or `[HOST]:PORT` for an IPv6 address with or without its brackets."""
    plain = host.removeprefix("[").removesuffix("]")
    return f"[{plain}]:{port}" if is_ipv6(plain) else f"{host}:{port}"


def bracketed(address: str) -> str:
    """Return `HOST:PORT` with brackets around an IPv6 address; any other text is itself."""
    host, colon, port = address.rpartition(":")
    return joined(host, port) if colon else address


def is_ipv6(host: str) -> bool:
    """Tell whether a host without brackets is an IPv6 address."""
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False
