# SPDX-License-Identifier: Apache-2.0
"""The clock of the measurements goes on while the computer sleeps."""

from __future__ import annotations

import sys
import time

import pytest

from power import clock as module
from power.clock import asleep_s, real_elapsed_s

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux names its clocks so")


@linux_only
@pytest.mark.parametrize(("ahead", "slept"), [(0.0, 0.0), (0.01, 0.0), (12.5, 12.5)])
def test_sleep_is_what_the_clocks_differ_by(monkeypatch, ahead, slept):
    """Sleep is the lead of the clock that goes on; what two readings differ by is no sleep."""
    monkeypatch.setattr(module, "real_elapsed_s", lambda: time.monotonic() + ahead)
    assert slept == pytest.approx(asleep_s(), abs=0.05)


def test_a_process_that_is_held_up_between_the_clocks_sees_no_sleep(monkeypatch):
    """Of several looks the quickest counts."""
    readings = iter([0.0, 9.0, 9.0, 9.0002, 9.0002])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(readings))
    clock = iter([5.0, 9.0001])
    monkeypatch.setattr(module, "real_elapsed_s", lambda: next(clock))
    assert 0.0 == asleep_s()


def test_real_time_never_goes_back():
    """Later readings are not smaller."""
    readings = [real_elapsed_s() for _ in range(1000)]
    assert readings == sorted(readings)
