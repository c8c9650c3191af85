# SPDX-License-Identifier: Apache-2.0
"""One device at a time: when an address is another one."""

from __future__ import annotations

import pytest

from referee.core.devices import is_second, one_spelling


@pytest.mark.parametrize(
    ("first", "address", "second"),
    [
        ("192.0.2.7", "192.0.2.7", False),
        ("192.0.2.7", "192.0.2.8", True),
        ("192.0.2.7", "::ffff:192.0.2.7", False),
        ("::ffff:192.0.2.7", "192.0.2.7", False),
        ("::ffff:192.0.2.7", "::FFFF:c000:0207", False),
        ("192.0.2.7", "::ffff:192.0.2.8", True),
        ("2001:db8::1", "2001:DB8:0:0:0:0:0:1", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("127.0.0.1", "::1", True),
        ("fe80::1%wlan0", "fe80::1%wlan0", False),
        ("a socket", "a socket", False),
        ("a socket", "192.0.2.7", True),
        ("192.0.2.7", "", False),
        (None, "192.0.2.7", False),
        ("", "192.0.2.7", False),
    ],
)
def test_a_second_address(first, address, second):
    """Spellings of one address are one; without two known addresses there is no second one."""
    assert second is is_second(first, address)


@pytest.mark.parametrize(
    ("address", "spelt"),
    [("::ffff:10.0.0.2", "10.0.0.2"), ("2001:DB8::0:1", "2001:db8::1"), ("here", "here")],
)
def test_one_spelling(address, spelt):
    """An IPv4 address behind IPv6 is spelt as IPv4, and what is no address stays."""
    assert spelt == one_spelling(address)
