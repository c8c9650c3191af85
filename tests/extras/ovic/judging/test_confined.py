# SPDX-License-Identifier: Apache-2.0
"""The time that a process waits for its core is not its own."""

from __future__ import annotations

import os
import sys

import pytest

from referee.extras.ovic.judging.confined import Limits, Patience, waited_s
from referee.extras.ovic.rules.pace import Pace


@pytest.mark.parametrize(
    ("took_s", "waited", "pace", "left_s"),
    [
        (3.0, 3.0, Pace.FAST_ENOUGH, 7.0),  # in time; nobody asks whether it waited
        (10.5, 0.0, Pace.TOO_SLOW, 0.01),  # on a quiet machine the wall clock is its own time
        (12.0, 4.0, Pace.FAST_ENOUGH, 2.0),  # it gets what it waited for
        (15.0, 4.5, Pace.TOO_SLOW, 0.01),  # its own time is over
        (39.0, 38.0, Pace.FAST_ENOUGH, 1.0),  # the longest time is near
        (41.0, 38.0, Pace.BUSY, 0.01),  # and over: nothing is known of the model
    ],
)
def test_who_waits_for_the_core_may_take_longer(took_s, waited, pace, left_s):
    """At a limit of 10 s a process has 10 s of its own, and 40 s at most."""
    clock = iter([0.0, *[took_s] * 2])
    patience = Patience(Limits(seconds=10), lambda: waited, clock.__next__)
    assert pace is patience.pace()
    assert left_s == pytest.approx(patience.left_s())


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_linux_tells_how_long_a_process_waited():
    """The time in the line for the core is known of a process, and 0 of one that is gone."""
    assert 0 < waited_s(os.getpid()) < 1e6
    assert 0.0 == waited_s(2**22 + 1)
