# SPDX-License-Identifier: Apache-2.0
"""A team that moves in the running order."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("name", "to", "order"),
    [
        ("a", "last", "bcda"),
        ("d", "first", "dabc"),
        ("b", 2, "acbd"),
        ("a", "first", "abcd"),
        ("a", -1, "abcd"),
        ("d", 4, "abcd"),
        ("x", "last", "abcd"),
    ],
)
def test_a_team_moves_to_a_place(scripts: Scripts, name: str, to: str | int, order: str) -> None:
    """The others keep their order; beyond the ends nothing moves."""
    assert list(order) == scripts.call("event/order.js", "moved", list("abcd"), name, to)
