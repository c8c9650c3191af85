# SPDX-License-Identifier: Apache-2.0
"""Every fault of the emulator against driver, recorder and verdict, in fake time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.emulator.faults import CATALOGUE, BadFault, parse_fault, parse_schedule
from power.emulator.instrument import Options
from power.emulator.profile import constant
from power.energy.judge import EnergyResult, Verdict
from power.errors import (
    MeterBusy,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterSilent,
    MeterUnreachable,
)
from power.meter import IntegrationState, MeterSettings
from tests.support.leave import LEAVE

SETTINGS = MeterSettings(
    timer_s=40, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)
TRUE_WH = 5.0 * 40 / 3600

MakeBench = Callable[..., Any]


def record(bench: Any, path: Path) -> EnergyResult:
    """Record a run and return its verdict."""
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    return recorder.record(SETTINGS, path / "log.csv", leave=LEAVE).result


# For each fault during a run: the verdict, and the finding that names the fault.
DURING = [
    ("silent count=1", Verdict.VALID, None),
    ("silent count=4", Verdict.VALID, "gap"),
    ("silent count=9", Verdict.SUSPECT, "few_samples"),
    ("slow seconds=1 count=1", Verdict.VALID, None),
    ("slow seconds=5 count=1", Verdict.VALID, "gap"),
    ("stale", Verdict.VALID, None),
    ("garbage count=3", Verdict.VALID, None),
    ("truncate count=3", Verdict.VALID, None),
    ("no_data updates=4", Verdict.SUSPECT, "no_data"),
    ("no_data updates=4 fields=all", Verdict.SUSPECT, "no_data"),
    ("over updates=2", Verdict.INVALID, "over_range"),
    ("negative updates=3 watts=-12", Verdict.SUSPECT, "negative_power"),
    ("negative updates=2 watts=-1", Verdict.SUSPECT, "negative_power"),
    ("talk header=1 verbose=0", Verdict.VALID, None),
    ("talk header=1 verbose=1", Verdict.VALID, None),
    ("talk header=0 verbose=0", Verdict.VALID, None),
    ("binary", Verdict.VALID, None),
    ("numerals", Verdict.VALID, None),
    ("panel key=STOP", Verdict.INVALID, "window"),
    ("panel key=START", Verdict.VALID, None),
    ("panel key=RESET", Verdict.VALID, None),
    ("timeup", Verdict.INVALID, "window"),
    ("clip share=0.5 current=1.28", Verdict.INVALID, "clipping"),
    ("force_range", Verdict.INVALID, "range_changed"),
    ("hyphen place=before", Verdict.INVALID, "range_changed"),
    ("hyphen place=after", Verdict.INVALID, "range_changed"),
    ("hold", Verdict.SUSPECT, "clock"),
    ("items number=3", Verdict.SUSPECT, "few_samples"),
    ("errors count=40", Verdict.VALID, None),
    ("overrun count=1", Verdict.VALID, None),
    ("unplug seconds=3", Verdict.VALID, "gap"),
    ("hang seconds=3", Verdict.VALID, "gap"),
    ("power seconds=2", Verdict.INVALID, "meter_error"),
]


@pytest.mark.parametrize(("line", "verdict", "code"), DURING, ids=[row[0] for row in DURING])
def test_a_fault_during_a_run(
    make_bench: MakeBench, tmp_path: Path, line: str, verdict: Verdict, code: str | None
) -> None:
    """The recorder survives a fault or finds it, and a wrong energy is never VALID."""
    bench = make_bench(None, None, f"start+15.2 {line}")
    result = record(bench, tmp_path)
    found = {finding.code for finding in result.findings}
    assert (verdict, True) == (result.verdict, code is None or code in found), result.findings
    if result.verdict is Verdict.VALID:
        assert TRUE_WH == pytest.approx(result.energy_wh, rel=1e-5)


# For each fault before a run: the error of prepare.
BEFORE = [
    ("refuse count=1", MeterRefused, "error 813"),
    ("clamp count=1", MeterRefused, "voltage_range_v at 300.0 instead of 150.0"),
    ("clamp count=2", MeterRefused, "at 300.0 instead of 150.0"),
    ("no_data updates=99", MeterRefused, "not ready to measure"),
    ("over updates=99", MeterRefused, "over range"),
    ("silent count=1", MeterSilent, "did not answer"),
    ("garbage count=1", MeterReplyError, "no text of its language|belongs"),
    ("mode200", MeterMismatch, "WT200 command mode"),
    ("unplug seconds=5", MeterUnreachable, "link is cut"),
    ("hang seconds=5", MeterSilent, "mute"),
    ("panel key=START", MeterBusy, "an integration runs"),
]


@pytest.mark.parametrize(("line", "error", "words"), BEFORE, ids=[row[0] for row in BEFORE])
def test_a_fault_before_a_run(
    make_bench: MakeBench, line: str, error: type[Exception], words: str
) -> None:
    """Prepare fails with the right error, and works once the fault is over."""
    bench = make_bench()
    if line not in ("mode200", "unplug seconds=5", "hang seconds=5", "panel key=START"):
        bench.meter.identify()
    bench.fault(line)
    with pytest.raises(error, match=words):
        bench.meter.prepare(SETTINGS)
    bench.fault("off")
    bench.time.sleep(60.0)
    bench.tell(":SYST:COMM:COMM WT300;:INTEG:STOP")
    assert SETTINGS == bench.meter.prepare(SETTINGS, LEAVE)


@pytest.mark.parametrize("name", ["averaging", "max_hold", "scaling", "hold"])
def test_leftovers_are_switched_off(make_bench: MakeBench, tmp_path: Path, name: str) -> None:
    """Another user's leftover settings have no effect on the energy."""
    bench = make_bench(None, None, f"0 leftover name={name}")
    result = record(bench, tmp_path)
    assert Verdict.VALID is result.verdict
    assert TRUE_WH == pytest.approx(result.energy_wh, rel=1e-5)


def test_a_lost_setting_is_found(make_bench: MakeBench) -> None:
    """The read-back shows a setting that was lost on its way."""
    bench = make_bench()
    bench.meter.identify()
    bench.tell(":INP:MODE DC")
    bench.fault("lose count=9")
    with pytest.raises(MeterRefused, match="kept mode at .*DC"):
        bench.meter.prepare(SETTINGS)


def test_a_lost_start_is_found(make_bench: MakeBench) -> None:
    """A START that never arrived is an error within 5 s."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.fault("lose count=1")
    with pytest.raises(MeterRefused, match="did not start: state RESET, its error queue is empty"):
        bench.meter.start()


def test_the_timer_beats_stop(make_bench: MakeBench) -> None:
    """If the timer ends the run before STOP, the end is TIMEUP."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(5.0)
    bench.fault("race")
    assert IntegrationState.TIMEUP is bench.meter.stop()
    assert '0,"No error"' == bench.ask(":STAT:ERR?")


def test_somebody_changed_the_items(make_bench: MakeBench) -> None:
    """Another number of fields is an error, and prepare repairs the items."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.fault("items number=3")
    with pytest.raises(MeterReplyError, match="3 values where 13 were asked for"):
        bench.meter.read()
    bench.meter.prepare(SETTINGS)
    assert 5.0 == bench.meter.read().power_w


def test_a_deaf_start_is_an_error_and_the_run_can_be_taken_up(make_bench: MakeBench) -> None:
    """After a lost confirmation of START, attach finds the running integration."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.fault("deaf_start seconds=20")
    with pytest.raises(MeterSilent):
        bench.meter.start()
    bench.time.sleep(20.0)
    assert IntegrationState.START is bench.meter.attach()


def test_a_power_failure_keeps_settings_and_ends_in_error(make_bench: MakeBench) -> None:
    """After a power failure the meter is in state ERROR, with settings and energy kept."""
    bench = make_bench()
    bench.meter.prepare(SETTINGS)
    bench.meter.start()
    bench.time.sleep(6.0)
    bench.fault("power seconds=10")
    with pytest.raises(MeterUnreachable):
        bench.meter.read()
    bench.time.sleep(10.0)
    assert IntegrationState.ERROR is bench.meter.attach()
    assert SETTINGS == bench.meter.settings()
    assert IntegrationState.ERROR is bench.meter.stop()


def test_the_load_can_be_changed(make_bench: MakeBench, tmp_path: Path) -> None:
    """Watts that are set during a run count in the true integral."""
    bench = make_bench(constant(5.0), None, "start+4 load watts=2\nstart+8 load watts=8")
    result = record(bench, tmp_path)
    assert (5 * 4 + 2 * 4 + 8 * 32) / 3600 == pytest.approx(result.energy_wh, rel=1e-5)
    truth = bench.instrument.measurement.true_energy_wh(bench.time.now)
    assert truth == pytest.approx(result.energy_wh, rel=1e-5)
    assert Verdict.VALID is result.verdict


def test_a_load_that_was_changed_stays(make_bench: MakeBench, tmp_path: Path) -> None:
    """The next integration begins with the changed load, and does not repeat the change."""
    bench = make_bench(constant(5.0), None, "start+4 load watts=2")
    first = record(bench, tmp_path)
    (tmp_path / "again").mkdir()
    second = record(bench, tmp_path / "again")
    assert (5 * 4 + 2 * 36) / 3600 == pytest.approx(first.energy_wh, rel=1e-5)
    assert 2 * 40 / 3600 == pytest.approx(second.energy_wh, rel=1e-5)
    truth = bench.instrument.measurement.true_energy_wh(bench.time.now)
    assert truth == pytest.approx(second.energy_wh, rel=1e-5)


def test_every_fault_is_tried_here() -> None:
    """The tables of this file cover the emulator's catalogue of faults."""
    text = Path(__file__).read_text()
    assert [] == [name for name in CATALOGUE if f'"{name}' not in text and f" {name} " not in text]


@pytest.mark.parametrize(
    "line", ["", "fire", "silent count", "silent what=1", "silent count=x", "load watts=much"]
)
def test_a_line_that_is_no_fault(line: str) -> None:
    """The refusal of an unknown fault lists the known ones."""
    with pytest.raises(BadFault):
        parse_fault(line)


def test_a_schedule() -> None:
    """A schedule may have comments and empty lines, and an error names its line."""
    entries = parse_schedule("# a\n\n2.5 silent # b\nstart+3 panel key=STOP\n")
    assert [(2.5, False, "silent"), (3.0, True, "panel")] == [
        (entry.at_s, entry.after_start, entry.fault.name) for entry in entries
    ]
    with pytest.raises(BadFault, match="line 2: 'fire' is not a fault"):
        parse_schedule("1 silent\n2 fire\n")


def test_the_same_seed_spoils_the_same_bytes(make_bench: MakeBench) -> None:
    """The same seed spoils the same bytes."""
    replies = []
    for _ in range(2):
        bench = make_bench(None, Options(seed=7))
        bench.fault("garbage count=1")
        bench.tell("*IDN?")
        replies.append(bench.interpreter.fetch(1000))
    assert replies[0] == replies[1]
