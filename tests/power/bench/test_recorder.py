# SPDX-License-Identifier: Apache-2.0
"""Recording a run, in fake time on the emulated meter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.bench.run_notes import NoNotes
from power.emulator.instrument import Options
from power.emulator.profile import bursts, energy_wh
from power.energy.judge import Verdict
from power.errors import MeterUnreachable
from power.logs.power_log import read_power_log
from power.meter import IntegrationState, MeterSettings
from tests.support.full_disk import FullDisk

SETTINGS = MeterSettings(
    timer_s=12, update_interval_s=0.25, voltage_range_v=150.0, current_range_a=0.1
)


def recorder_on(bench: Any, **more: Any) -> Recorder:
    """Return a recorder in the bench's time."""
    return Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep, **more)


def test_a_recording_is_complete(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """Every update is in the log once, and the energy is the profile's integral."""
    profile = bursts(2.0, 9.0, 1.5, 0.3)
    bench = make_bench(profile)
    recording = recorder_on(bench).record(SETTINGS, tmp_path / "log.csv")
    rows = read_power_log(tmp_path / "log.csv")
    assert len(recording.readings) == len(rows)
    running = [row for row in rows if row.state is IntegrationState.START]
    steps = [round((row.monotonic_s - running[0].monotonic_s) / 0.25) for row in running]
    assert list(range(len(running))) == steps
    assert len(running) == 47
    assert Verdict.VALID is recording.result.verdict, recording.result.findings
    assert recording.result.energy_wh == pytest.approx(energy_wh(profile, 0, 12), rel=5e-6)
    assert recording.result.cross_check_wh == pytest.approx(recording.result.energy_wh, rel=1e-4)


def test_stopping_early_is_judged(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """A stop before the timer ends the integration, and its energy is judged."""
    bench = make_bench()
    seen: list[float] = []
    recorder = recorder_on(bench, progress=lambda reading, elapsed_s: seen.append(elapsed_s))
    recording = recorder.record(SETTINGS, tmp_path / "log.csv", should_stop=lambda: len(seen) >= 20)
    assert IntegrationState.STOP is recording.result.end_state
    assert Verdict.VALID is recording.result.verdict, recording.result.findings


def test_a_computer_that_slept_makes_the_run_suspect(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """Sleep within the run is a finding with its seconds; sleep before it is none."""
    bench = make_bench()

    def asleep_s() -> float:
        return 100.0 if bench.time.now < 1006.0 else 103.0

    recording = recorder_on(bench, asleep_s=asleep_s).record(SETTINGS, tmp_path / "log.csv")
    assert 3.0 == recording.suspended_s
    assert {"suspended": Verdict.SUSPECT} == {
        finding.code: finding.severity for finding in recording.result.findings
    }


def test_a_lost_link_is_taken_up_again(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """Three seconds without a link leave a note of a gap, and the run stays VALID."""
    bench = make_bench()
    connect = bench.connect

    class Cut:
        """A wire that fails for a while."""

        def __init__(self, wire: Any) -> None:
            self.name, self.wire = "cut", wire

        def __getattr__(self, name: str) -> Any:
            if name != "close" and 1004.0 < bench.time.now < 1007.0:
                raise MeterUnreachable("the cable is out")
            return getattr(self.wire, name)

    bench.connect = lambda: Cut(connect())
    bench.meter = bench.driver()
    recording = recorder_on(bench).record(SETTINGS, tmp_path / "log.csv")
    assert {"gap"} == {finding.code for finding in recording.result.findings}
    assert Verdict.VALID is recording.result.verdict
    assert recording.result.energy_wh == pytest.approx(5.0 * 12 / 3600, rel=1e-5)


@pytest.mark.parametrize(
    ("fault", "ends"),
    [
        ("unplug seconds=1.5", IntegrationState.STOP),
        ("unplug seconds=100", IntegrationState.START),
        ("hang seconds=100", IntegrationState.START),
        ("lose count=1", IntegrationState.STOP),
        ("silent count=1", IntegrationState.STOP),
    ],
)
def test_a_wish_to_stop_has_an_end(
    make_bench: Callable[..., Any], tmp_path: Path, fault: str, ends: IntegrationState
) -> None:
    """A lost meter gets a moment to come back; then the recording ends with what is known."""
    bench = make_bench(None, None, f"start+3 {fault}")
    begun: list[float] = []
    recording = recorder_on(bench).record(
        SETTINGS,
        tmp_path / "log.csv",
        should_stop=lambda: bench.time.now > begun[0] + 4.0,
        on_start=lambda identity, settings, start: begun.append(start.sent_s),
    )
    assert ends is recording.result.end_state
    assert bool(recording.left) is (ends is IntegrationState.START)
    if recording.left:
        assert Verdict.INVALID is recording.result.verdict
        assert recording.result.energy_wh is None
        assert len(recording.readings) == len(read_power_log(tmp_path / "log.csv"))
    else:
        assert recording.result.energy_wh is not None, recording.result.findings


def test_the_wait_after_a_wish_to_stop_is_short(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """On a link that is cut the recording ends within the time of grace."""
    bench = make_bench(None, None, "start+3 unplug seconds=100")
    begun: list[float] = []
    asked: list[float] = []

    def should_stop() -> bool:
        if bench.time.now > begun[0] + 4.0:
            asked.append(bench.time.now)
        return bool(asked)

    recorder_on(bench, grace_s=1.0).record(
        SETTINGS,
        tmp_path / "log.csv",
        should_stop=should_stop,
        on_start=lambda identity, settings, start: begun.append(start.sent_s),
    )
    assert bench.time.now - asked[0] <= 1.0


def test_a_meter_that_stays_away_ends_the_recording(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """The wait for a lost meter is bounded, and the readings so far stay in the log."""
    bench = make_bench()

    def lose() -> None:
        raise MeterUnreachable("the meter is gone")

    recorder = recorder_on(
        bench, progress=lambda reading, elapsed_s: setattr(bench.meter, "read", lose)
    )
    bench.meter.attach = lose
    with pytest.raises(MeterUnreachable, match="gone"):
        recorder.record(SETTINGS, tmp_path / "log.csv")
    assert 1 == len(read_power_log(tmp_path / "log.csv"))
    assert bench.time.now < 1200


def test_an_end_that_somebody_else_made_is_found(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """STOP at the panel makes a run shorter than its timer, and INVALID."""
    bench = make_bench(None, None, "start+6 panel key=STOP")
    result = recorder_on(bench).record(SETTINGS, tmp_path / "log.csv").result
    assert Verdict.INVALID is result.verdict
    assert {"window"} == {finding.code for finding in result.findings}


def test_a_full_disk_does_not_lose_the_run(
    make_bench: Callable[..., Any], tmp_path: Path, full_disk: FullDisk
) -> None:
    """On a full disk readings wait in memory, and reach the log when there is room again."""
    bench, path = make_bench(), tmp_path / "log.csv"

    def progress(reading: Any, elapsed_s: float) -> None:
        if 4.0 < elapsed_s < 4.3:
            full_disk.fill(path, room=30)

    def sleep(seconds: float) -> None:
        bench.time.sleep(seconds)
        # The bench's clock began at 1000 s; the run is over before 1020 s.
        if bench.time.now > 1040.0:
            full_disk.free()

    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=sleep, progress=progress)
    recording = recorder.record(SETTINGS, path)
    assert recording.complete
    assert Verdict.VALID is recording.result.verdict
    assert len(recording.readings) == len(read_power_log(path))


def test_rows_that_find_no_room_are_told(
    make_bench: Callable[..., Any],
    tmp_path: Path,
    full_disk: FullDisk,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Rows still without room after a bounded wait are counted in the log of errors."""
    bench, path = make_bench(), tmp_path / "log.csv"
    recorder = recorder_on(bench, progress=lambda reading, elapsed_s: full_disk.fill(path))
    recording = recorder.record(SETTINGS, path)
    full_disk.free()
    assert not recording.complete
    assert Verdict.VALID is recording.result.verdict
    assert f"{recording.readings[-1].energy_wh!r},12.0,TIMEUP" in caplog.messages[-1]


def test_a_recording_needs_a_timer(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """A recording without a timer is refused: with a dead laptop the meter would never stop."""
    with pytest.raises(ValueError, match="timer"):
        recorder_on(make_bench()).record(MeterSettings(timer_s=0), tmp_path / "log.csv")


class Wishes(NoNotes):
    """Notes that keep the wishes for an end."""

    def __init__(self) -> None:
        self.asked_s: list[float] = []

    def asked(self, session_s: float) -> None:
        """Keep a wish."""
        self.asked_s.append(session_s)


def test_a_run_that_cannot_be_read_ends_by_its_timer(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """Another program changed what the meter sends: the timer ends the run, and nobody asked."""
    notes = Wishes()
    bench = make_bench(None, Options(), "start+3 items number=3")
    recording = recorder_on(bench, notes=notes).record(SETTINGS, tmp_path / "log.csv")
    assert [] == notes.asked_s
    result = recording.result
    assert (IntegrationState.TIMEUP, 12.0, 12.0) == (
        *(result.end_state, result.integration_s, result.session_s),
    )
    assert result.energy_wh == pytest.approx(5.0 * 12 / 3600, rel=1e-4)
