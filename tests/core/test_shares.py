# SPDX-License-Identifier: Apache-2.0
"""The addresses that have one share."""

from __future__ import annotations

import pytest

from referee.core.shares import share_of


@pytest.mark.parametrize(
    ("address", "share"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::FFFF:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("fe80::1%wlan0", "fe80::/64"),
        ("::1", "::1"),
        ("", ""),
        ("somewhere", "somewhere"),
    ],
)
def test_share_of(address: str, share: str) -> None:
    """IPv4 stands for itself, in both spellings; a machine has all of its 64 bits of IPv6."""
    assert share == share_of(address)
