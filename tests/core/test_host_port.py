# SPDX-License-Identifier: Apache-2.0
"""An address of IPv6 stands in brackets before its port, and any other text as it is."""

from __future__ import annotations

import pytest

from referee.core.host_port import bracketed, joined


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (":::8000", "[::]:8000"),
        ("[::]:8000", "[::]:8000"),
        ("fd00::3:8000", "[fd00::3]:8000"),
        ("fe80::1%eth0:8000", "[fe80::1%eth0]:8000"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("arena.local:8000", "arena.local:8000"),
        ("::1", "::1"),
        ("8000", "8000"),
        (":8000", ":8000"),
    ],
)
def test_brackets(address: str, shown: str) -> None:
    """What is no host and port is left alone: the program that listens says what is wrong."""
    assert shown == bracketed(address)


def test_a_host_and_a_port_are_joined() -> None:
    """Brackets that are there are not doubled."""
    assert "[::1]:8000" == joined("::1", 8000) == joined("[::1]", "8000")
    assert "10.0.0.1:8000" == joined("10.0.0.1", 8000)
