# SPDX-License-Identifier: Apache-2.0
"""A change of settings is told, and a wider bound is told from a narrower one."""

from __future__ import annotations

import pytest

from referee.extras.ovic.rules.settings_change import change_text, changed, only_wider

BEFORE = {"boxes": 100, "overhang": 0.2, "slower": 4.0}


@pytest.mark.parametrize(
    ("now", "names", "wider"),
    [
        ({}, [], True),
        ({"overhang": None}, ["overhang"], True),
        ({"overhang": 0.5, "slower": 9.0}, ["overhang", "slower"], True),
        ({"overhang": 0.0}, ["overhang"], False),
        ({"slower": 3.0, "overhang": 1.0}, ["overhang", "slower"], False),
        ({"boxes": 200}, ["boxes"], False),
        ({"unknown": 1}, [], True),
    ],
)
def test_what_differs_is_named(now, names, wider):
    """Another number of boxes fits no model of before; a bound may only grow."""
    assert names == changed(BEFORE, BEFORE | now)
    assert wider is only_wider(BEFORE, BEFORE | now)


def test_a_bound_that_was_left_out_cannot_grow():
    """Any number is narrower than no bound."""
    assert not only_wider({"overhang": None}, {"overhang": 1.0})
    assert "overhang was left out and is 1.0" == change_text({"overhang": None}, {"overhang": 1.0})
