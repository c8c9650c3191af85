# SPDX-License-Identifier: Apache-2.0
"""A meter behind the protocol, played in fake time against the emulated instrument."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from power.emulator.instrument import Options
from power.errors import MeterUnreachable
from power.meter import InputMode, MeterSettings
from power.ptd.answers import range_for
from power.ptd.device import device_type
from power.ptd.events import Events
from power.ptd.session import PtdSession, Workplace

FIXED = MeterSettings(timer_s=0, voltage_range_v=150.0, current_range_a=0.1)

ROOT = Path(__file__).parents[3]


class Played:
    """A session in fake time, what its console said, and its log."""

    def __init__(
        self, bench: Any, log: Path | None, settings: MeterSettings, number: int = 49
    ) -> None:
        self.bench = bench
        self.said: list[str] = []
        self.events = Events(self.said.append, bench.time.utc, log)
        found = bench.meter.prepare(settings)
        place = Workplace(
            device_type(number),
            bench.meter.model.voltage_ranges(3),
            bench.meter.model.current_ranges(3),
            self.set_up,
            "Linux",
        )
        self.around: list[str] = []
        place = replace(
            place,
            begin=lambda: self.around.append("begin"),
            finish=lambda: self.around.append("finish"),
        )
        self.session = PtdSession(
            bench.meter,
            bench.meter.identify(),
            found,
            place,
            self.events,
            clock=bench.time.clock,
            now=bench.time.utc,
        )

    def set_up(self, wanted: MeterSettings) -> MeterSettings:
        """Write settings without waiting for values, as the command does."""
        self.bench.meter.restore(wanted)
        return replace(self.bench.meter.settings())

    def ask(self, line: str) -> str:
        """Return the first line of an answer."""
        answer = self.session.answer(line)
        assert answer is not None
        return answer[0]

    def play(self, seconds: float) -> None:
        """Let time pass, and take the samples that are due."""
        end_s = self.bench.time.now + seconds
        while self.session.due_s <= end_s:
            self.bench.time.now = max(self.bench.time.now, self.session.due_s)
            self.session.step()
        self.bench.time.now = max(end_s, self.bench.time.now)


@pytest.fixture
def play(make_bench: Callable[..., Any], tmp_path: Path) -> Iterator[Callable[..., Played]]:
    """Return a function that sets up a session with a log at `tmp_path/ptd.log`."""
    made: list[Played] = []

    def make(settings: MeterSettings = FIXED, number: int = 49, **bench: Any) -> Played:
        made.append(Played(make_bench(**bench), tmp_path / "ptd.log", settings, number))
        return made[-1]

    yield make
    for played in made:
        played.events.close()


def test_the_conversation_of_power_dev(play: Callable[..., Played], tmp_path: Path) -> None:
    """Ranging and testing as the server of power-dev asks them, with the answers it checks."""
    played = play(MeterSettings(timer_s=0))
    ask = played.ask
    assert "Hello, PTDaemon here!" == ask("Hello")
    fields = ask("Identify").split(",")
    assert ("YokogawaWT310", "1000") == (fields[0], fields[1])
    said = (ROOT / "docs/ptd.md").read_text(encoding="utf-8")
    assert f"| `Identify` | {len(fields)} fields: " in said
    assert "version=1.11.1-00000000-19700101" == fields[9], "a version that no PTDaemon has"
    assert "0" == fields[8], "SPEC accepts no measurement of this program"
    assert "YOKOGAWA;WT310;EMU000000;F1.03" == fields[-1]
    assert ["Ranges", "1", "1"] == [ask("RR").split(",")[at] for at in (0, 1, 3)]
    assert "Range V changed" == ask("SR,V,Auto")
    assert "Range A changed" == ask("SR,A,Auto")
    played.play(10)
    assert (
        "Starting untimed measurement, maximum 500000 samples at 1000ms with 0 rampup samples"
        == ask("Go,1000,0,s_ranging")
    )
    played.play(3.5)
    assert "Stopping untimed measurement" == ask("Stop")
    assert ask("RL,*,*").startswith("Invalid number of parameters")
    answer = played.session.answer("RL")
    assert answer is not None
    assert "Last 3 samples" == answer[0]
    assert all(
        line.endswith(",Watts,5.000000,Volts,120.000000,Amps,0.041667,PF,1.000000")
        for line in answer[1:]
    ), answer
    assert "Range V changed" == ask("SR,V,120.000000")
    assert "Range A changed" == ask("SR,A,0.0458337")
    assert "Ranges,0,0.050000,0,150.000000" == ask("RR")
    ask("Go,1000,0,s_testing")
    played.play(3.0)
    assert "Watts,5.000000,5.000000,5.000000,3,0,3" == ask("Watts")
    # 0.1 % of reading and 0.1 % of range, 150 V times 50 mA, and a little self-heating.
    assert "Uncertainty,0.002514,0.002514,0.002514,3,0,3,0" == ask("Uncertainty")
    assert "Stopping untimed measurement" == ask("Stop")
    assert "Error: no measurement to stop" == ask("Stop")
    marks = [
        line.rpartition(",")[2]
        for line in (tmp_path / "ptd.log").read_text().splitlines()
        if ",Watts," in line
    ]
    assert ["s_ranging"] * 3 + ["s_testing"] * 3 == marks
    told = [line.split(": ", 1)[1] for line in played.said]
    assert told.index("Go with mark 's_ranging'") < told.index("Completed test")
    assert "Amp range set to 0.050000A" in told
    assert not [line for line in told if line.startswith(("ERROR", "WARNING"))]


def test_a_sample_may_be_waited_for(play: Callable[..., Played]) -> None:
    """`RL,1` waits for the next sample, and no longer than it takes."""
    played = play()
    assert "Insufficient unread samples" == played.ask("RL,1"), "nothing runs"
    played.ask("Go,0,0")
    assert played.session.answer("RL,1") is None
    assert 1.0 < played.session.patience_s < 2.0
    assert ["Insufficient unread samples"] == played.session.answer("RL,1", last=True)
    played.play(1.0)
    assert "Last 1 samples" == played.ask("RL,1")
    assert "No unread samples" == played.ask("RL,*")


def test_what_cannot_be_done_now_changes_nothing(play: Callable[..., Played]) -> None:
    """Ranges, starts, marks and samples have their time; each refusal says what to do."""
    played = play()
    assert "No data" == played.ask("R*")
    assert "Error: no measurement to mark" == played.ask("Mark,x")
    assert "the meter has a new value each 1000 ms" in played.ask("Go,999,0")
    assert "Error: no measurement to stop" == played.ask("Stop")
    assert "Error in parameter 2: 20.1 A is above the meter's largest range, 20 A" == played.ask(
        "SR,A,20.1"
    )
    assert "Ranges,0,0.100000,0,150.000000" == played.ask("RR")
    played.ask("Go,1000,0,one")
    played.play(1.0)
    assert "Meter busy: a measurement runs" in played.ask("SR,A,Auto")
    assert "Error: a measurement runs already; send Stop first" == played.ask("Go,1000,0,two")
    assert ["begin"] == played.around
    assert "Mark changed" == played.ask("Mark,two")
    played.play(1.0)
    assert "Watts,5.000000,Volts,120.000000,Amps,0.041667,PF,1.000000" == played.ask("R*")
    assert "Ranges,0,0.100000,0,150.000000" == played.ask("RR")
    assert "Reset done" == played.ask("Reset")
    assert ["begin", "finish"] == played.around
    assert "Watts,-1.000000,-1.000000,-1.000000,0,0,0" == played.ask("Watts")
    assert played.session.due_s == math.inf


def test_a_timed_measurement_ends_by_itself(play: Callable[..., Played]) -> None:
    """After its samples it is complete, so `Stop` has nothing to stop."""
    played = play()
    assert played.ask("Timed,1000,2,1,t").startswith("Starting timed measurement, 2 samples")
    played.play(10.0)
    assert "Watts,5.000000,5.000000,5.000000,2,0,2" == played.ask("Watts")
    assert "Error: no measurement to stop" == played.ask("Stop")
    assert "Last 2 samples" == played.ask("RL")


def test_a_lost_meter_costs_samples_and_is_opened_again(play: Callable[..., Played]) -> None:
    """The instants without a reading are samples of -2, with one warning and one error."""
    played = play()
    played.ask("Go,1000,0,m")
    played.play(2.0)
    played.bench.fault("unplug seconds=8")
    played.play(20.0)
    average, *_, count, errors, good = played.ask("Watts").split(",")[1:]
    assert "5.000000" == average
    assert (22, 22) == (int(count), int(errors) + int(good))
    assert 8 <= int(errors) <= 14, "eight seconds, and a pause before the next attempt"
    told = [line.split(": ", 1)[1] for line in played.said]
    assert 1 == sum(line.startswith("ERROR: the meter gives no samples") for line in told)
    assert f"WARNING: Missed {errors} samples" in told
    assert "The meter answers again" in told
    assert "Stopping untimed measurement" == played.ask("Stop")


def test_a_meter_that_stays_lost_still_lets_clients_stop(play: Callable[..., Played]) -> None:
    """All instants until `Stop` are missed; then no start is accepted until it is back."""
    played = play()
    played.ask("Go,1000,0,m")
    played.play(1.0)
    played.bench.fault("unplug seconds=10000")
    played.play(9.5)
    assert "Stopping untimed measurement" == played.ask("Stop")
    assert "Watts,5.000000,5.000000,5.000000,10,9,1" == played.ask("Watts")
    for line in ("Go,1000,0,m", "SR,V,Auto"):
        assert played.ask(line).startswith("Error: "), line
    assert played.session.due_s == math.inf
    assert "Hello, PTDaemon here!" == played.ask("Hello")


def test_a_range_that_is_too_small_is_told_with_each_sample(play: Callable[..., Played]) -> None:
    """Values above the range are -1 and errors; the checker knows the sentences."""
    played = play()
    assert "Range A changed" == played.ask("SR,A,0.01")
    played.ask("Go,1000,0,m")
    played.play(3.0)
    assert played.ask("Watts").endswith(",3,3,0")
    assert played.ask("Uncertainty").endswith(",3,0,0,3")
    told = [line.split(": ", 1)[1] for line in played.said]
    assert any(line.startswith("ERROR: Bad amps reading nan from WT310 (") for line in told)
    assert "ERROR: Can't evaluate uncertainty of this sample!" in told


def test_an_uncertain_sample_is_a_warning(play: Callable[..., Played]) -> None:
    """5 W on ranges of 600 W is uncertain by more than 1 %."""
    played = play(replace(FIXED, voltage_range_v=600.0, current_range_a=1.0))
    played.ask("Go,1000,0,m")
    played.play(1.0)
    share = float(played.ask("Uncertainty").split(",")[1])
    assert share > 0.01
    told = [line.split(": ", 1)[1] for line in played.said]
    text = f"{100 * share:.2f}%, which is above 1.00% limit for the last sample!"
    assert f"WARNING: Uncertainty {text}" in told


def test_a_measurement_on_direct_current(play: Callable[..., Played]) -> None:
    """The samples of device type 549 are read by the word that power-dev learns."""
    played = play(replace(FIXED, mode=InputMode.DC), number=549, frequency_hz=0.0)
    played.ask("Go,1000,0,m")
    played.play(2.0)
    assert played.ask("RL,*,*").startswith("Unknown command")
    assert "Last 2 samples" == played.ask("DC-RL")


def test_a_meter_without_range_items_knows_no_ranges_on_auto(play: Callable[..., Played]) -> None:
    """An unknown range is -1, and its samples have no uncertainty."""
    played = play(MeterSettings(timer_s=0), options=Options(range_items=False))
    assert "Ranges,1,-1.000000,1,-1.000000" == played.ask("RR")
    played.ask("Go,1000,0,m")
    played.play(1.0)
    assert "Uncertainty,-1.000000,-1.000000,-1.000000,1,0,0,1" == played.ask("Uncertainty")


def test_a_full_disk_keeps_the_lines_and_says_so_once(
    play: Callable[..., Played], tmp_path: Path, full_disk: Any
) -> None:
    """The measurement goes on; the lines reach the log when there is room."""
    played = play()
    played.ask("Go,1000,0,m")
    full_disk.fill(tmp_path / "ptd.log")
    played.play(3.0)
    full_disk.free()
    played.play(1.0)
    played.events.close()
    assert 1 == sum("the log cannot be written" in line for line in played.said)
    text = (tmp_path / "ptd.log").read_text()
    assert 4 == text.count(",Watts,")


def test_the_smallest_range_that_holds_a_value_is_chosen() -> None:
    """A range that was read back and written again stays itself."""
    ranges = (0.5, 0.2, 0.1)
    assert [0.1, 0.2, 0.5] == [range_for(size, ranges, "A") for size in (0.05, 0.200000, 0.2002)]


def test_a_meter_that_never_answers_refuses_the_start(
    play: Callable[..., Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start without a meter begins nothing, and the client learns why."""
    played = play()

    def mute() -> None:
        raise MeterUnreachable("the cable is out")

    monkeypatch.setattr(played.bench.meter, "read", mute)
    assert "Error: the cable is out" == played.ask("Go,1000,0,m")
    assert played.session.due_s == math.inf
