# SPDX-License-Identifier: Apache-2.0
"""The phase of the updates, found while a run is recorded in fake time on the emulated meter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from power.bench.recorder import Recorder
from power.meter import IntegrationState, MeterSettings


def test_a_blurred_look_at_the_updates_is_not_used(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """The phase of the last sharp look is kept, and each update is read once."""
    bench = make_bench()
    look = bench.meter.await_update
    looks = []

    def blurred(interval_s: float) -> tuple[float, float]:
        update_s, off_s = look(interval_s)
        looks.append(bench.time.now)
        return (update_s, off_s) if len(looks) == 2 else (update_s + 0.4 * interval_s, 0.05)

    bench.meter.await_update = blurred
    settings = MeterSettings(150, 0.25, voltage_range_v=150.0, current_range_a=0.1)
    recording = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep).record(
        settings, tmp_path / "log.csv"
    )
    phases = {round(row.monotonic_s / 0.25 % 1, 1) for row in recording.readings[2:-2]}
    assert 1 == len(phases), phases
    assert len(looks) > 50
    running = [row for row in recording.readings if row.state is IntegrationState.START]
    assert len(running) == 600 - 2
