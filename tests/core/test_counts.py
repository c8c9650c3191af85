# SPDX-License-Identifier: Apache-2.0
"""How many of a thing there are, in words."""

from __future__ import annotations

import pytest

from referee.core.counts import counted


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((0, "image"), "0 images"),
        ((1, "image"), "1 image"),
        ((2, "image"), "2 images"),
        ((1, "class", "classes"), "1 class"),
        ((3, "class", "classes"), "3 classes"),
        ((1, "box is", "boxes are"), "1 box is"),
        (("100 or more", "finding"), "100 or more findings"),
    ],
)
def test_one_is_single_and_all_else_is_several(words, expected):
    """One has the singular; none, several and a count in words have the plural."""
    assert expected == counted(*words)
