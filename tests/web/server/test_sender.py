# SPDX-License-Identifier: Apache-2.0
"""The address of a request, in both kinds of servers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from referee.core.proxies import NO_PROXIES, TrustedProxies, trusted_proxies
from referee.web.server.sender import sender_of

LOCAL = trusted_proxies(["127.0.0.1"])


@pytest.mark.parametrize(
    ("peer", "headers", "proxies", "sender"),
    [
        (("127.0.0.1", 5), [("X-FORWARDED-FOR", "203.0.113.7")], LOCAL, "203.0.113.7"),
        (("127.0.0.1", 5), [("X-FORWARDED-FOR", "203.0.113.7")], NO_PROXIES, "127.0.0.1"),
        (("192.0.2.1", 5), [("X-FORWARDED-FOR", "203.0.113.7")], LOCAL, "192.0.2.1"),
        (("127.0.0.1", 5), [("X-REAL-IP", "203.0.113.7")], LOCAL, "127.0.0.1"),
        (("127.0.0.1", 5), [("FORWARDED", "for=203.0.113.7")], LOCAL, "127.0.0.1"),
        (
            ("127.0.0.1", 5),
            [("X-FORWARDED-FOR", "10.9.9.9"), ("HOST", "x"), ("X-FORWARDED-FOR", "203.0.113.7")],
            LOCAL,
            "203.0.113.7",
        ),
        (("::1", 5, 0, 0), [], LOCAL, "::1"),
        (b"", [("X-FORWARDED-FOR", "203.0.113.7")], LOCAL, ""),
    ],
)
def test_sender(
    peer: object, headers: list[tuple[str, str]], proxies: TrustedProxies, sender: str
) -> None:
    """Only a trusted proxy's header counts, and no header beside X-Forwarded-For."""
    assert sender == sender_of(SimpleNamespace(peer_addr=peer, headers=headers), proxies)
