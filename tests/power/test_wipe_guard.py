# SPDX-License-Identifier: Apache-2.0
"""Nothing is wiped that nobody has fetched, in fake time on the emulated meter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.bench.run_notes import RunNotes, RunPlace
from power.emulator.profile import constant
from power.energy.judge import RunFacts
from power.errors import MeterHolds, MeterUnreachable
from power.logs.journal import RunJournal
from power.meter import IntegrationState, MeterSettings
from power.wipe_guard import Guard, look
from power.wipe_rule import RunEvent
from tests.support.leave import LEAVE

MakeBench = Callable[..., Any]
SETTINGS = MeterSettings(
    timer_s=4, update_interval_s=0.25, voltage_range_v=150.0, current_range_a=0.1
)


def guard(bench: Any, journal: RunJournal, *, discard: bool = False) -> None:
    """Ask whether the bench's meter may be reset."""
    Guard(bench.meter, journal, "X", utc=bench.time.utc, discard=discard).leave()


def foreign_run(bench: Any, seconds: float = 5.0) -> None:
    """Let another program integrate for this long and leave its result behind."""
    bench.meter.prepare(SETTINGS, LEAVE)
    bench.meter.start()
    bench.time.sleep(seconds)


def test_a_meter_that_holds_nothing_may_be_reset(make_bench: MakeBench) -> None:
    """A reset integrator, and one that was stopped at 0 s, hold nothing."""
    bench = make_bench()
    guard(bench, RunJournal(None))
    bench.tell(":INTEGrate:STARt")
    bench.time.sleep(0.5)
    bench.tell(":INTEGrate:STOP")
    bench.meter.arrange()
    assert look(bench.meter) is None


@pytest.mark.parametrize(("seconds", "state"), [(2.0, "integrates"), (5.0, "TIMEUP")])
def test_a_result_of_a_foreign_program_is_refused(
    make_bench: MakeBench, seconds: float, state: str
) -> None:
    """An integration or a result that the journal does not know is left alone, with advice."""
    bench = make_bench()
    foreign_run(bench, seconds)
    before = bench.ask(":NUMeric:NORMal:VALue? 4")
    with pytest.raises(MeterHolds, match=f"{state}.*python -m power rescue X") as caught:
        guard(bench, RunJournal(None))
    assert state in str(caught.value)
    assert "nobody needs" in caught.value.remedy
    assert "nobody needs" not in str(caught.value)
    if state == "TIMEUP":
        assert before == bench.ask(":NUMeric:NORMal:VALue? 4")


def test_a_result_can_be_given_up_by_will(make_bench: MakeBench, tmp_path: Path) -> None:
    """`discard` gives a finished result up and says so in the journal, but no running one."""
    bench, journal = make_bench(), RunJournal(tmp_path / "runs.jsonl")
    foreign_run(bench, 2.0)
    with pytest.raises(MeterHolds):
        guard(bench, journal, discard=True)
    bench.time.sleep(3.0)
    guard(bench, journal, discard=True)
    (entry,) = journal.entries()
    assert (RunEvent.GIVEN_UP, 4.0) == (entry.event, entry.integration_s)
    guard(bench, journal)


def test_only_the_first_result_is_given_up(make_bench: MakeBench, tmp_path: Path) -> None:
    """Who gives up what the meter holds now does not give up what it will hold."""
    bench, journal = make_bench(), RunJournal(tmp_path / "runs.jsonl")
    asked = Guard(bench.meter, journal, "X", utc=bench.time.utc, discard=True)
    foreign_run(bench, 5.0)
    asked.leave()
    bench.meter.prepare(replace(SETTINGS, timer_s=6), LEAVE)
    bench.meter.start()
    bench.time.sleep(7.0)
    with pytest.raises(MeterHolds):
        asked.leave()
    assert [RunEvent.GIVEN_UP] == [entry.event for entry in journal.entries()]


def test_the_will_to_give_up_lasts_until_it_is_needed(
    make_bench: MakeBench, tmp_path: Path
) -> None:
    """A meter that held nothing at first has used nothing up."""
    bench, journal = make_bench(), RunJournal(tmp_path / "runs.jsonl")
    asked = Guard(bench.meter, journal, "X", utc=bench.time.utc, discard=True)
    asked.leave()
    foreign_run(bench, 5.0)
    asked.leave()
    assert [RunEvent.GIVEN_UP] == [entry.event for entry in journal.entries()]


@pytest.mark.parametrize("held_after_s", [0.2, 2.0])
def test_a_held_display_hides_nothing(make_bench: MakeBench, held_after_s: float) -> None:
    """With HOLD on the meter shows the past, even 0 s; the look ends the hold and finds out."""
    bench = make_bench()
    foreign_run(bench, held_after_s)
    bench.fault("hold")
    bench.time.sleep(5.0)
    with pytest.raises(MeterHolds, match="of 4 s"):
        guard(bench, RunJournal(None))


def test_changed_output_items_do_not_hide_a_result(make_bench: MakeBench) -> None:
    """A meter with other output items tells what it holds all the same."""
    bench = make_bench()
    foreign_run(bench, 5.0)
    bench.fault("items number=3")
    held = look(bench.driver())
    assert held is not None and 4.0 == held.integration_s
    foreign = make_bench()
    foreign_run(foreign, 1.0)
    foreign.fault("items number=3")
    held = look(foreign.driver())
    assert held is not None
    assert (IntegrationState.START, None) == (held.state, held.integration_s)


def recorded(bench: Any, journal: RunJournal, path: Path) -> None:
    """Record a run to its end, with its notes."""
    notes = RunNotes(RunPlace(path, "X", journal), clock=bench.time.clock, utc=bench.time.utc)
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep, notes=notes)
    recording = recorder.record(SETTINGS, path, leave=LEAVE)
    last = recording.readings[-1]
    facts = RunFacts(recording.identity, recording.settings).ended(4.0, last)
    assert recording.fetched is not None and recording.fetched.charge_ah is not None
    assert notes.finish(facts, recording.fetched)


def test_a_recorded_result_may_be_wiped(make_bench: MakeBench, tmp_path: Path) -> None:
    """After a recording has fetched its result the next one may reset the meter."""
    bench, journal = make_bench(), RunJournal(tmp_path / "runs.jsonl")
    recorded(bench, journal, tmp_path / "log.csv")
    guard(bench, journal)
    with pytest.raises(MeterHolds):
        guard(bench, RunJournal(None))


def test_a_killed_recording_is_named(make_bench: MakeBench, tmp_path: Path) -> None:
    """The refusal after a killed recording names its log, although an equal run was fetched."""
    bench, journal = make_bench(), RunJournal(tmp_path / "runs.jsonl")
    recorded(bench, journal, tmp_path / "first.csv")
    killed(bench, journal, tmp_path / "second.csv")
    bench.time.sleep(5.0)
    with pytest.raises(MeterHolds, match=r"second\.csv"):
        guard(bench, journal)


def killed(bench: Any, journal: RunJournal, path: Path, after_s: float = 2.0) -> None:
    """Record a run and die in the middle of it."""

    class Killed(BaseException):
        """The end of a program."""

    def die(reading: Any, elapsed_s: float) -> None:
        if elapsed_s > after_s:
            raise Killed

    notes = RunNotes(RunPlace(path, "X", journal), clock=bench.time.clock, utc=bench.time.utc)
    recorder = Recorder(
        bench.meter, clock=bench.time.clock, sleep=bench.time.sleep, notes=notes, progress=die
    )
    with pytest.raises(Killed):
        recorder.record(SETTINGS, path, leave=LEAVE)
    bench.meter = bench.driver()


def test_a_start_that_failed_leaves_nothing_behind(make_bench: MakeBench, tmp_path: Path) -> None:
    """When the meter refuses to start, log and facts are removed, and the next run may begin."""
    bench, journal = make_bench(), RunJournal(tmp_path / "runs.jsonl")
    start = bench.meter.start

    def fail() -> None:
        raise MeterUnreachable("the cable is out")

    bench.meter.start = fail
    with pytest.raises(MeterUnreachable):
        recorded(bench, journal, tmp_path / "log.csv")
    assert ["runs.jsonl"] == sorted(path.name for path in tmp_path.iterdir())
    assert [RunEvent.BEGUN, RunEvent.GIVEN_UP] == [entry.event for entry in journal.entries()]
    bench.meter.start = start
    guard(bench, journal)
    recorded(bench, journal, tmp_path / "log.csv")


def test_a_result_of_equal_energy_and_another_charge_is_another_one(
    make_bench: MakeBench, tmp_path: Path
) -> None:
    """Energy, time and state of two runs may be equal; the charge tells them apart."""
    bench, journal = make_bench(constant(5.0)), RunJournal(tmp_path / "runs.jsonl")
    recorded(bench, journal, tmp_path / "log.csv")
    other = make_bench(constant(5.0), volts=115.0)
    foreign_run(other)
    first, second = look(bench.meter), look(other.meter)
    assert first is not None and second is not None
    assert (first.energy_wh, first.integration_s, first.state) == (
        second.energy_wh,
        second.integration_s,
        second.state,
    )
    with pytest.raises(MeterHolds):
        guard(other, journal)
    guard(bench, journal)


def test_the_question_changes_nothing_in_the_meter(make_bench: MakeBench) -> None:
    """Who asks leaves every setting, and every output item, as it was."""
    bench = make_bench()
    foreign_run(bench)
    asked = (":NUMeric:NORMal?", ":INPut?", ":INTEGrate?", ":STATus:ERRor?")
    before = [bench.ask(question) for question in asked]
    with pytest.raises(MeterHolds):
        guard(bench, RunJournal(None))
    assert before == [bench.ask(question) for question in asked]
