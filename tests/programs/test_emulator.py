# SPDX-License-Identifier: Apache-2.0
"""The range of the emulated meter fits its load."""

from __future__ import annotations

import pytest

from referee.errors import InputError
from referee.programs.emulator import range_for


@pytest.mark.parametrize(
    ("load", "range_a"),
    [("5.0", 0.05), ("0:2.4,0.8:6.8,5:6.1", 0.1), ("60", 0.5), ("61", 1.0), ("0", 0.005)],
)
def test_smallest_range_that_holds_the_load(load, range_a):
    """At 120 V the range holds the largest power of the load, and is no larger than needed."""
    assert range_a == range_for(load)


def test_a_text_that_is_no_load_is_refused():
    """The option's own text stands in the refusal."""
    with pytest.raises(InputError, match="--load watts"):
        range_for("watts")
