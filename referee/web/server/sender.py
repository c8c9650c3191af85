# SPDX-License-Identifier: Apache-2.0
"""The address of a request: of who has connected, or whom a trusted proxy names.

This is the one place that says it. All that goes by address uses it: turns, shares, the brake
against guessing, sessions with a second address, and the records.
"""

from __future__ import annotations

from typing import Any

from referee.core.proxies import TrustedProxies

_HEADER = "X-FORWARDED-FOR"


def sender_of(request: Any, proxies: TrustedProxies) -> str:
    """Return the address of a request that gunicorn has parsed."""
    peer = peer_of(request.peer_addr)
    if not proxies.include(peer):
        return peer
    return proxies.address_of(peer, [text for name, text in request.headers if name == _HEADER])


def peer_of(address: Any) -> str:
    """Return the address of a connection's other end, as the system gives it; '' if it has none."""
    return str(address[0]) if isinstance(address, tuple) else ""
