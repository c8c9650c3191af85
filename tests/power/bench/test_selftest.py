# SPDX-License-Identifier: Apache-2.0
"""The self-test, in fake time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from power.bench.selftest import Outcome, SelfTest
from power.meter import MeterSettings

MakeBench = Callable[..., Any]


def checks(bench: Any) -> dict[str, Outcome]:
    """Return the self-test's checks."""
    test = SelfTest(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep, seconds=3)
    return {check.name: check.outcome for check in test.run()}


def test_a_good_meter_passes_and_has_its_settings_back(make_bench: MakeBench) -> None:
    """A good meter passes every check, and keeps its settings."""
    bench = make_bench()
    before = MeterSettings(timer_s=77, update_interval_s=2.0, current_range_a=0.5, line_filter=True)
    bench.meter.prepare(before)
    found = checks(bench)
    assert {Outcome.OK} == set(found.values()), found
    assert ["identity", "error queue", "settings", "update rate"] == list(found)[:4]
    assert ["after START", "clock", "integration", "restored"] == list(found)[4:]
    assert before == bench.meter.settings()


@pytest.mark.parametrize(
    ("fault", "name", "outcome"),
    [
        ("errors count=2", "error queue", Outcome.WARN),
        ("refuse count=4", "measuring", Outcome.FAIL),
        ("clamp count=1", "restored", Outcome.OK),
        ("mode200", "identity", Outcome.FAIL),
        ("panel key=START", "measuring", Outcome.FAIL),
    ],
)
def test_a_bad_meter_is_found(
    make_bench: MakeBench, fault: str, name: str, outcome: Outcome
) -> None:
    """Each fault fails its own check, and the self-test runs to its end."""
    bench = make_bench()
    if fault != "mode200":
        bench.meter.identify()
    bench.fault(fault)
    assert outcome is checks(bench)[name]


def test_a_stop_at_the_panel_fails_the_timer(make_bench: MakeBench) -> None:
    """STOP at the panel fails the check of the timer."""
    found = checks(make_bench(None, None, "start+1 panel key=STOP"))
    assert Outcome.FAIL is found["timer"]
    assert Outcome.OK is found["restored"]
