# SPDX-License-Identifier: Apache-2.0
"""Idle time, a command, idle time again: in fake time, on the emulated meter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from power.bench.command_course import CommandCourse
from power.bench.recorder import Recorder
from power.emulator.profile import LoadProfile, constant
from power.energy.above_idle import net_energy
from power.energy.uncertainty import Measuring
from power.meter import MeterSettings

SETTINGS = MeterSettings(
    timer_s=3600, update_interval_s=0.25, voltage_range_v=150.0, current_range_a=0.1
)


class FakeCommand:
    """A command that lets the load take 3 W more for 4.33 s."""

    def __init__(self, bench: Any, failed: bool = False) -> None:
        self.bench, self.failed = bench, failed
        self.begun_s: float | None = None

    def launch(self) -> None:
        if self.begun_s is not None:
            return
        meter = self.bench.instrument.measurement
        self.begun_s = self.bench.time.now
        inputs = meter.inputs
        at_s = self.begun_s - inputs._begins_s
        inputs.load = replace(
            inputs.load, profile=LoadProfile((0.0, at_s, at_s + 4.33), (4.0, 7.0, 4.0))
        )

    @property
    def ended_s(self) -> float | None:
        ended = self.begun_s is not None and self.bench.time.now >= self.begun_s + 4.33
        return self.begun_s + 4.33 if ended and self.begun_s is not None else None


def record(bench: Any, course: CommandCourse, path: Path) -> Any:
    """Record until the course is over."""
    recorder = Recorder(
        bench.meter,
        clock=bench.time.clock,
        sleep=bench.time.sleep,
        progress=lambda reading, elapsed_s: course.see(reading),
    )
    return recorder.record(
        SETTINGS,
        path,
        should_stop=course.over,
        on_start=lambda identity, settings, start: course.begin(settings),
    )


def test_a_command_is_measured_between_two_idle_times(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """The net energy of a known step is true to a thousandth, and the run ends by itself."""
    bench = make_bench(constant(4.0))
    command = FakeCommand(bench)
    course = CommandCourse(command, 3.0)
    recording = record(bench, course, tmp_path / "log.csv")
    assert course.span is not None
    net = net_energy(
        recording.readings, course.span, Measuring(recording.identity, recording.settings)
    )
    assert net is not None
    assert net.net_energy_wh == pytest.approx(3.0 * 4.33 / 3600, rel=1e-3)
    assert net.idle_w == pytest.approx(4.0)
    assert () == net.findings
    assert 3.0 <= course.span.begun_s - recording.start.sent_s < 4.5
    assert "VALID" == recording.result.verdict.value, recording.result.findings


def test_a_meter_that_is_lost_delays_the_command(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """The idle time counts by readings, so the command begins when the meter answers again."""
    bench = make_bench(constant(4.0), None, "start+1 unplug seconds=8")
    command = FakeCommand(bench)
    course = CommandCourse(command, 3.0)
    recording = record(bench, course, tmp_path / "log.csv")
    assert command.begun_s is not None
    assert command.begun_s - recording.start.sent_s > 9.0


def test_a_command_that_cannot_start_ends_the_run(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """The integration ends at once, and there is no span."""
    bench = make_bench(constant(4.0))
    course = CommandCourse(FakeCommand(bench, failed=True), 3.0)
    recording = record(bench, course, tmp_path / "log.csv")
    assert recording.result.integration_s is not None
    assert recording.result.integration_s < 2
    assert None is course.span
