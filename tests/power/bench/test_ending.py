# SPDX-License-Identifier: Apache-2.0
"""The end of a run, in fake time on the emulated meter: what is read, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder, Recording
from power.emulator.instrument import Options
from power.energy.judge import Verdict
from power.meter import IntegrationState, MeterSettings

STOP_S = 6.73


def ended_early(
    make_bench: Callable[..., Any],
    path: Path,
    schedule: str,
    *,
    update_s: float = 0.5,
    late_final: bool = False,
) -> tuple[Any, Recording, float]:
    """Return the bench of a run that was ended early, its recording, and how long that took."""
    bench = make_bench(None, Options(late_final=late_final), schedule)
    begun: list[float] = []

    def should_stop() -> bool:
        return bool(bench.time.now >= begun[0] + STOP_S)

    # The sleep before the wish ends at the wish, as it does after a signal.
    def sleep(seconds: float) -> None:
        if begun and not should_stop():
            seconds = min(seconds, begun[0] + STOP_S - bench.time.now)
        bench.time.sleep(seconds)

    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=sleep)
    recording = recorder.record(
        MeterSettings(30, update_s, voltage_range_v=150.0, current_range_a=0.1),
        path,
        should_stop=should_stop,
        on_start=lambda identity, settings, start: begun.append(start.written_s),
    )
    return bench, recording, bench.time.now - begun[0] - STOP_S


@pytest.mark.parametrize("late_final", [False, True])
@pytest.mark.parametrize("update_s", [0.1, 1.0])
@pytest.mark.parametrize("before_s", [-0.1, 0.05, 0.3, 0.7, 1.1])
def test_a_display_held_just_before_an_early_end_costs_nothing(
    make_bench: Callable[..., Any],
    tmp_path: Path,
    before_s: float,
    update_s: float,
    late_final: bool,
) -> None:
    """Whenever the display was held, the energy is what the load drew until STOP."""
    hold = f"start+{STOP_S - before_s:.3f} hold"
    bench, recording, _ = ended_early(
        make_bench, tmp_path / "log.csv", hold, update_s=update_s, late_final=late_final
    )
    measurement = bench.instrument.measurement
    run_s = measurement.integrator.ended_s - measurement.integrator.started_s
    assert recording.result.integrator_wh == pytest.approx(5.0 * run_s / 3600, rel=2e-6)
    assert Verdict.INVALID is not recording.result.verdict, recording.result.findings


@pytest.mark.parametrize("update_s", [0.1, 1.0, 2.0])
def test_a_meter_that_answers_gets_the_time_for_two_readings(
    make_bench: Callable[..., Any], tmp_path: Path, update_s: float
) -> None:
    """An early end of a sound meter takes little more than one update."""
    _, recording, took_s = ended_early(make_bench, tmp_path / "log.csv", "", update_s=update_s)
    assert ("", Verdict.VALID) == (recording.left, recording.result.verdict)
    assert took_s < 1.1 * update_s + 0.3


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        ("no_data updates=999 fields=all", IntegrationState.STOP),
        ("lose count=99", IntegrationState.START),
        ("garbage count=999", IntegrationState.START),
    ],
)
def test_a_meter_without_an_energy_is_left_in_time(
    make_bench: Callable[..., Any], tmp_path: Path, fault: str, state: IntegrationState
) -> None:
    """A meter that shows no energy, or does not obey, is left within the time of grace."""
    bench, recording, took_s = ended_early(
        make_bench, tmp_path / "log.csv", f"start+6.5 {fault}", update_s=1.0
    )
    assert recording.left
    assert recording.left in recording.result.findings[-1].text
    assert Verdict.INVALID is recording.result.verdict
    assert took_s <= 1.2 + 0.05
    bench.fault("off")
    assert state.value == bench.instrument.measurement.integrator.state


def test_a_wish_after_the_end_does_not_cut_the_last_reading_short(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """Somebody who wants the end while the last readings are made gets both, an update apart."""
    bench = make_bench()
    wished: list[float] = []

    def sleep(seconds: float) -> None:
        if bench.instrument.measurement.integrator.state == "TIMEUP" and not wished:
            wished.append(bench.time.now)
            seconds = 0.0
        bench.time.sleep(seconds)

    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=sleep)
    recording = recorder.record(
        MeterSettings(12, 2.0, voltage_range_v=150.0, current_range_a=0.1),
        tmp_path / "log.csv",
        should_stop=lambda: bool(wished),
    )
    assert Verdict.VALID is recording.result.verdict, recording.result.findings


STOP, START, RESET = (f"panel key={key}" for key in ("STOP", "START", "RESET"))


@pytest.mark.parametrize("update_s", [0.25, 1.0])
@pytest.mark.parametrize(
    ("presses", "counted_s"),
    [
        # The reading between the two keys sees the STOP.
        ([(3.2, STOP), (3.5, START)], (8,)),
        ([(3.19, STOP), (3.21, START)], (8,)),
        # Both are between two readings, so nobody sees the STOP.
        ([(3.3, STOP), (3.31, START)], (8,)),
        ([(7.7, STOP), (7.9, START)], (8,)),
        # Again and again; between two readings of the result the first one ends the run.
        ([(2.2, STOP), (2.6, START), (4.2, STOP), (4.6, START)], (8, 2)),
        ([(3.2, STOP), (4.2, START)], (8, 3)),
        # With a RESET, and without a START.
        ([(3.2, STOP), (3.3, RESET), (3.5, START)], (8,)),
        ([(3.2, STOP), (3.5, RESET)], (0,)),
        ([(3.2, STOP)], (3,)),
    ],
)
def test_a_stop_and_a_start_at_the_panel_leave_a_verdict(
    make_bench: Callable[..., Any],
    tmp_path: Path,
    presses: list[tuple[float, str]],
    counted_s: tuple[int, ...],
    update_s: float,
) -> None:
    """Whoever stops the meter and starts it again, the run is followed to its end and judged."""
    bench = make_bench(None, Options(), "\n".join(f"start+{at_s} {key}" for at_s, key in presses))
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    settings = MeterSettings(8, update_s, voltage_range_v=150.0, current_range_a=0.1)
    recording = recorder.record(settings, tmp_path / "log.csv")
    assert recording.left == ""
    assert IntegrationState.START is not bench.meter.state()
    result = recording.result
    assert Verdict.VALID is not result.verdict
    assert result.integration_s in counted_s
    states = [row.state for row in recording.readings]
    if IntegrationState.START in states[states.index(result.end_state) :]:
        assert "restarted" in {finding.code for finding in result.findings}


@pytest.mark.parametrize("update_s", [0.1, 1.0])
@pytest.mark.parametrize("stopped_s", [2.31, 4.95, 7.6])
def test_a_pause_between_two_readings_is_told_by_the_meter(
    make_bench: Callable[..., Any], tmp_path: Path, stopped_s: float, update_s: float
) -> None:
    """A pause of 20 ms moves no clock and leaves no hole, but the meter latched the new begin."""
    keys = f"start+{stopped_s} {STOP}\nstart+{stopped_s + 0.02} {START}"
    bench = make_bench(None, Options(), keys)
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    settings = MeterSettings(8, update_s, voltage_range_v=150.0, current_range_a=0.1)
    result = recorder.record(settings, tmp_path / "log.csv").result
    assert "restarted" in {finding.code for finding in result.findings}
    assert Verdict.INVALID is result.verdict


def test_a_run_that_is_started_again_for_ever_has_an_end(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """Two minutes after the timer's time the recorder ends the run itself, and judges it."""
    keys = [(at / 10, STOP if at % 20 else START) for at in range(30, 5000, 10)]
    bench = make_bench(None, Options(), "\n".join(f"start+{at_s} {key}" for at_s, key in keys))
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    settings = MeterSettings(200, 1.0, voltage_range_v=150.0, current_range_a=0.1)
    recording = recorder.record(settings, tmp_path / "log.csv")
    assert Verdict.VALID is not recording.result.verdict
    assert recording.readings[-1].monotonic_s - recording.start.written_s < 200 + 130
