# SPDX-License-Identifier: Apache-2.0
"""The clock of the sessions is that of the measurements."""

from __future__ import annotations

import sys
import time

import pytest

from referee.service.setup.clock import SystemClock


@pytest.mark.skipif(sys.platform != "linux", reason="Linux names its clocks so")
def test_the_clock_is_that_which_counts_sleep():
    """The clock is the one of the boot: between two readings of it there is another one."""
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    now = SystemClock().now().monotonic_s
    assert before <= now <= time.clock_gettime(time.CLOCK_BOOTTIME)
