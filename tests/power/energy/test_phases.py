# SPDX-License-Identifier: Apache-2.0
"""The phases of a run between marks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.emulator.profile import LoadProfile
from power.energy.phases import Mark, judged_phases, phases_of
from power.energy.uncertainty import Measuring
from power.energy.verdict import invalid, with_findings
from power.meter import MeterSettings

SETTINGS = MeterSettings(
    timer_s=30, update_interval_s=0.25, voltage_range_v=150.0, current_range_a=0.1
)


@pytest.fixture
def recording(make_bench: Callable[..., Any], tmp_path: Path) -> Any:
    """Return a run of 4 W, 9 W from 10.1 s on, and 2 W from 20.37 s on."""
    bench = make_bench(LoadProfile((0.0, 10.1, 20.37), (4.0, 9.0, 2.0)))
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    return recorder.record(SETTINGS, tmp_path / "log.csv")


def phases(recording: Any, *marks: tuple[float, str]) -> Any:
    """Return the phases between marks at seconds of the run."""
    start_s = recording.start.sent_s
    measuring = Measuring(recording.identity, recording.settings)
    absolute = [Mark(start_s + at_s, text) for at_s, text in marks]
    return phases_of(recording.readings, absolute, measuring, recording.result.session_s, start_s)


def test_each_phase_has_its_energy_within_its_limit(recording: Any) -> None:
    """The time before the first mark is a phase, too; together they are the whole run."""
    found = phases(recording, (10.1, "work"), (20.37, "rest"))
    assert [None, "work", "rest"] == [phase.text for phase in found]
    assert [0.0, 10.1, 20.37] == pytest.approx([phase.begin_s for phase in found])
    for phase, watts in zip(found, (4.0, 9.0, 2.0), strict=True):
        truth_wh = watts * phase.seconds / 3600
        assert abs(phase.energy_wh - truth_wh) <= phase.uncertainty_wh < 0.2 * truth_wh
        assert phase.mean_power_w == pytest.approx(watts, rel=0.05)
    assert sum(phase.energy_wh for phase in found) == pytest.approx(recording.result.energy_wh)


def test_a_run_without_an_energy_has_no_phases(recording: Any) -> None:
    """What is known to be too low as a whole is so in its parts."""
    marks = [Mark(recording.start.sent_s + 10.1, "work")]
    measuring = Measuring(recording.identity, recording.settings)
    result, bad = recording.result, [invalid("clipping", "Peaks were cut.")]
    given = (recording.readings, marks, measuring, recording.start.sent_s)
    assert 2 == len(judged_phases(result, *given))
    assert () == judged_phases(with_findings(result, bad), *given)


def test_a_phase_of_steady_power_is_as_certain_as_the_run(recording: Any) -> None:
    """Where the power does not change, an edge costs nothing."""
    steady, _, _ = phases(recording, (5.0, "on"), (8.0, "on"))
    assert steady.energy_wh == pytest.approx(4.0 * 5 / 3600, rel=1e-2)
    assert steady.uncertainty_wh < 0.02 * steady.energy_wh


def test_marks_outside_the_run_are_none(recording: Any) -> None:
    """A mark before the start or after the end begins no phase."""
    assert [None, "in"] == [
        phase.text for phase in phases(recording, (-1.0, "early"), (3.0, "in"), (31.0, "late"))
    ]
    assert () == phases(recording)
