# SPDX-License-Identifier: Apache-2.0
"""One device at a time: which requests come from another address than a session's first one."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address


@lru_cache(maxsize=1024)
def one_spelling(address: str) -> str:
    """Return an IP address in its shortest spelling; other text stays as it is.

    A server that listens on IPv6 sees a client of IPv4 as `::ffff:192.0.2.7`: that is the address
    192.0.2.7.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return str(mapped or parsed)


def is_second(first: str | None, address: str) -> bool:
    """Tell whether a request comes from another address than the session's first one.

    A session without a first address on record has no second one, and neither has a request whose
    address is not known (the empty text).
    """
    return bool(first and address) and one_spelling(first or "") != one_spelling(address)
