# SPDX-License-Identifier: Apache-2.0
"""Rescue what a meter holds after its program was killed, in fake time on the emulated meter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.bench.rescue import LeftRunning, Rescued, Rescuer
from power.bench.run_notes import RunNotes, RunPlace
from power.emulator.profile import bursts, energy_wh
from power.energy.verdict import Verdict
from power.errors import MeterRefused
from power.logs.audit import audit
from power.logs.facts_file import facts_path
from power.logs.journal import RunJournal
from power.logs.power_log import PowerLog, read_power_log
from power.meter import IntegrationState, MeterSettings
from power.wipe_rule import unfinished
from tests.support.leave import LEAVE

MakeBench = Callable[..., Any]
SETTINGS = MeterSettings(
    timer_s=12, update_interval_s=0.25, voltage_range_v=150.0, current_range_a=0.1
)
LOAD = bursts(2.0, 9.0, 1.5, 0.3)


class Killed(BaseException):
    """The end of a program."""


class Case:
    """A recording that was killed after some seconds, and a rescue of it."""

    def __init__(self, bench: Any, folder: Path, after_s: float = 8.0) -> None:
        self.bench, self.folder = bench, folder
        self.journal = RunJournal(folder / "runs.jsonl")
        self.log = folder / "run.csv"

        def die(reading: Any, elapsed_s: float) -> None:
            if elapsed_s > after_s:
                raise Killed

        time = bench.time
        notes = RunNotes(RunPlace(self.log, "X", self.journal), clock=time.clock, utc=time.utc)
        recorder = Recorder(
            bench.meter, clock=time.clock, sleep=time.sleep, notes=notes, progress=die
        )
        with pytest.raises(Killed):
            recorder.record(SETTINGS, self.log)
        bench.meter = bench.driver()

    def rescue(self, log: Path | None = None, sleep: Any = None, **more: Any) -> Rescued:
        """Rescue what the meter holds."""
        time = self.bench.time
        rescuer = Rescuer(
            self.bench.driver(),
            self.journal,
            "X",
            clock=time.clock,
            sleep=sleep or time.sleep,
            utc=time.utc,
        )
        return rescuer.rescue(log, self.folder / "new.csv", **more)


@pytest.fixture
def case(make_bench: MakeBench, tmp_path: Path) -> Case:
    """Return a recording that was killed after 8 of 12 s."""
    return Case(make_bench(LOAD), tmp_path)


@pytest.mark.parametrize("later_s", [0.0, 2.0, 60.0])
def test_a_killed_run_is_finished(case: Case, later_s: float) -> None:
    """The run is followed to its end or read after it, its log finished, its energy judged."""
    rows = len(read_power_log(case.log))
    case.bench.time.sleep(later_s)
    rescued = case.rescue()
    assert case.log == rescued.log
    assert Verdict.VALID is rescued.result.verdict, rescued.result.findings
    assert energy_wh(LOAD, 0, 12) == pytest.approx(rescued.result.energy_wh, rel=5e-6)
    assert "rescued" in {finding.code for finding in rescued.result.findings}
    assert len(read_power_log(case.log)) >= rows + 2
    assert rescued.complete
    assert rescued.result == audit(case.log).result
    assert [] == unfinished(case.journal.entries(), "EMU000000")
    with pytest.raises(ValueError, match="finished already"):
        case.rescue(case.log)
    with pytest.raises(MeterRefused, match="in a log already"):
        case.rescue()


def test_a_wish_for_the_end_does_not_spoil_the_last_readings(case: Case) -> None:
    """Ctrl-C between the two readings of the result cuts a sleep short, but no reading."""
    case.bench.time.sleep(10.0)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        case.bench.time.sleep(seconds if slept[1:] else seconds / 10)

    assert Verdict.VALID is case.rescue(sleep=sleep).result.verdict
    assert slept[1:]


def test_a_torn_row_is_cut_off(case: Case) -> None:
    """Half a row, and the zeros that a power cut may leave, do not spoil the log."""
    rows = read_power_log(case.log)
    with open(case.log, "ab") as file:
        file.write(b"8.25,2026-01-0" + bytes(40))
    case.bench.time.sleep(10.0)
    assert Verdict.VALID is case.rescue().result.verdict
    assert rows == read_power_log(case.log)[: len(rows)]


def test_after_a_restart_of_the_computer(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart the wall clock tells when the run began."""
    monkeypatch.setattr("power.bench.rescue.boot_name", lambda: "another boot")
    rescued = case.rescue()
    assert Verdict.VALID is rescued.result.verdict, rescued.result.findings


def test_a_log_without_rows_is_enough(make_bench: MakeBench, tmp_path: Path) -> None:
    """A program that was killed at once leaves a run that can be followed to its end."""
    case = Case(make_bench(LOAD), tmp_path, after_s=0.0)
    assert energy_wh(LOAD, 0, 12) == pytest.approx(case.rescue().result.energy_wh, rel=5e-6)


def test_a_run_that_somebody_stopped_is_suspect(case: Case) -> None:
    """Nobody knows whether the run should have ended where somebody pressed STOP."""
    case.bench.time.sleep(1.0)
    case.bench.fault("panel key=STOP")
    rescued = case.rescue()
    assert Verdict.SUSPECT is rescued.result.verdict
    assert "stopped" in {finding.code for finding in rescued.result.findings}


def test_stop_ends_the_run_now(case: Case) -> None:
    """With `stop` the rescue ends the integration, and its energy counts up to there."""
    case.bench.time.sleep(1.0)
    rescued = case.rescue(stop=True)
    assert Verdict.VALID is rescued.result.verdict, rescued.result.findings
    assert IntegrationState.STOP is rescued.result.end_state
    assert 9.0 == pytest.approx(rescued.result.integration_s, abs=1.0)


def test_a_reset_meter_has_lost_the_energy(case: Case) -> None:
    """When somebody has reset the meter, the log is finished without an energy."""
    case.bench.time.sleep(10.0)
    case.bench.fault("panel key=RESET")
    rescued = case.rescue()
    assert Verdict.INVALID is rescued.result.verdict
    assert "meter_reset" in {finding.code for finding in rescued.result.findings}
    with pytest.raises(MeterRefused, match="nothing to rescue"):
        case.rescue()


def test_a_wait_can_be_ended(case: Case) -> None:
    """Ctrl-C leaves the meter integrating, and the run can be rescued again."""
    with pytest.raises(LeftRunning, match="integrates on"):
        case.rescue(should_stop=lambda: True)
    assert IntegrationState.START is case.bench.driver().state()
    assert Verdict.VALID is case.rescue().result.verdict


def test_a_lost_link_is_taken_up_again(make_bench: MakeBench, tmp_path: Path) -> None:
    """A cable that is out during the rescue costs readings, and no energy."""
    case = Case(make_bench(LOAD, None, "start+9.5 unplug seconds=1.5"), tmp_path)
    rescued = case.rescue()
    assert Verdict.VALID is rescued.result.verdict, rescued.result.findings
    assert "gap" in {finding.code for finding in rescued.result.findings}


def test_another_run_on_the_meter_is_not_taken_for_it(case: Case) -> None:
    """A result that cannot be that of the run goes into a new log, and is SUSPECT."""
    case.bench.time.sleep(10.0)
    case.bench.meter.prepare(SETTINGS, LEAVE)
    case.bench.meter.start()
    case.bench.time.sleep(3.0)
    case.bench.meter.stop()
    with pytest.raises(ValueError, match="not the run of"):
        case.rescue(case.log)
    rows = case.log.read_bytes()
    rescued = case.rescue()
    assert case.folder / "new.csv" == rescued.log
    assert Verdict.SUSPECT is rescued.result.verdict
    assert "rescued_alone" in {finding.code for finding in rescued.result.findings}
    assert energy_wh(LOAD, 0, 3) == pytest.approx(rescued.result.energy_wh, rel=0.2)
    assert rows == case.log.read_bytes()
    assert rescued.result == audit(rescued.log).result


def test_an_integration_without_a_timer_needs_a_stop(make_bench: MakeBench, tmp_path: Path) -> None:
    """A foreign integration without a timer never ends; the rescue says so and waits not."""
    case = Case(make_bench(LOAD), tmp_path)
    case.bench.time.sleep(10.0)
    case.bench.meter.prepare(
        MeterSettings(0, 0.25, voltage_range_v=150.0, current_range_a=0.1), LEAVE
    )
    case.bench.meter.start()
    case.bench.time.sleep(3.0)
    with pytest.raises(MeterRefused, match="--stop"):
        case.rescue()
    assert not facts_path(case.folder / "new.csv").exists()
    assert case.rescue(stop=True).result.energy_wh is not None


def test_a_log_that_is_still_written_is_left_alone(case: Case) -> None:
    """A living program's log is refused, and its rows stay as they are."""
    rows = case.log.read_bytes()
    with PowerLog(case.log, resume=True), pytest.raises(OSError, match="another program"):
        case.rescue()
    assert rows == case.log.read_bytes()
