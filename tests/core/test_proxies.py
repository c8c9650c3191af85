# SPDX-License-Identifier: Apache-2.0
"""Whose request it is that a proxy passes on."""

from __future__ import annotations

import pytest

from referee.core.proxies import NO_PROXIES, trusted_proxies

PROXIES = trusted_proxies(["127.0.0.1", "10.0.0.0/24", "fd00::/64"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        # Nobody but a trusted proxy is believed.
        ("192.0.2.9", ["203.0.113.7"], "192.0.2.9"),
        ("10.0.1.5", ["203.0.113.7"], "10.0.1.5"),
        # One proxy, and what its client has invented stands further left.
        ("127.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["127.0.0.1, 203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["198.51.100.1,10.0.0.9,203.0.113.7"], "203.0.113.7"),
        # Several proxies, also in headers of their own, as HAProxy writes them.
        ("127.0.0.1", ["203.0.113.7, 10.0.0.9"], "203.0.113.7"),
        ("127.0.0.1", ["198.51.100.1", "203.0.113.7", "10.0.0.9, 10.0.0.8"], "203.0.113.7"),
        ("10.0.0.9", ["10.0.0.8"], "10.0.0.8"),
        # Ports, brackets, zones, and IPv4 in the form of IPv6.
        ("127.0.0.1", ["203.0.113.7:51234"], "203.0.113.7"),
        ("127.0.0.1", ["[2001:db8::7]:51234"], "2001:db8::7"),
        ("127.0.0.1", ["[2001:db8::7]"], "2001:db8::7"),
        ("127.0.0.1", ["2001:DB8:0::7"], "2001:db8::7"),
        ("fd00::1", ["2001:db8::7, fd00::2"], "2001:db8::7"),
        ("127.0.0.1", ["fe80::1%eth0"], "fe80::1%eth0"),
        ("::ffff:127.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["::ffff:203.0.113.7"], "203.0.113.7"),
        ("127.0.0.1", ["198.51.100.1, ::ffff:10.0.0.9"], "198.51.100.1"),
        # No header, or nothing in it: the proxy itself asks.
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("127.0.0.1", ["  "], "127.0.0.1"),
        # Garbage ends the reading at the proxy that has written it.
        ("127.0.0.1", ["203.0.113.7, unknown"], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.7, unix:"], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.7, x, 10.0.0.9"], "10.0.0.9"),
        ("127.0.0.1", ["203.0.113.7,"], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.7 10.0.0.9"], "127.0.0.1"),
        ("127.0.0.1", ["for=203.0.113.7"], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.7:999999"], "127.0.0.1"),
        ("127.0.0.1", ["999.0.113.7"], "127.0.0.1"),
        ("127.0.0.1", ["fe80::1%<b>"], "127.0.0.1"),
        ("127.0.0.1", ["203.0.113.07"], "127.0.0.1"),
        ("127.0.0.1", ["[203.0.113.7"], "127.0.0.1"),
        ("127.0.0.1", ["²03.0.113.7"], "127.0.0.1"),
        # What is connected without an address is no proxy.
        ("", ["203.0.113.7"], ""),
    ],
)
def test_address_of_a_request(peer: str, forwarded: list[str], address: str) -> None:
    """The header is read from the right, as far as trusted proxies have written it."""
    assert address == PROXIES.address_of(peer, forwarded)


def test_without_proxies_no_header_counts() -> None:
    """By default a request is of who has connected, this laptop included."""
    assert "127.0.0.1" == NO_PROXIES.address_of("127.0.0.1", ["203.0.113.7"])
    assert "::ffff:1.2.3.4" == NO_PROXIES.address_of("::ffff:1.2.3.4", ["203.0.113.7"])


def test_a_long_header_is_read_to_the_first_stranger() -> None:
    """As many entries as a head may hold cost microseconds each, and change nothing."""
    assert "203.0.113.7" == PROXIES.address_of("127.0.0.1", ["1.2.3.4, " * 2000 + "203.0.113.7"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nginx", "neither an address nor a network"),
        ("10.0.0.5/24", "neither an address nor a network"),
        ("*", "neither an address nor a network"),
        ("", "neither an address nor a network"),
        ("0.0.0.0/0", "is everybody"),
        ("::/0", "is everybody"),
    ],
)
def test_what_is_no_proxy(text: str, expected: str) -> None:
    """A name, a network with bits of a host, and everybody are refused in words."""
    with pytest.raises(ValueError, match=expected):
        trusted_proxies([text])


def test_which_connections_are_of_proxies() -> None:
    """Addresses and networks count, in both ways to write IPv4."""
    told = [PROXIES.include(it) for it in ("127.0.0.1", "::ffff:10.0.0.77", "10.0.1.1", "", "x")]
    assert [True, True, False, False, False] == told
