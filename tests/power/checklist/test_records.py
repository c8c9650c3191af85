# SPDX-License-Identifier: Apache-2.0
"""Records of `selftest --real` are replayed: each step sees again what it saw at that meter.

A record that somebody sends becomes a test when its file lies in the folder `records`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from power.checklist.report import ChecklistReport
from power.checklist.steps import STEPS, chosen
from power.checklist.tools import PersonAnswer, StepTools
from power.checklist.walk import OBSERVED, PERSON, SECOND, STEP, WALK, NotedPerson, walk
from power.transports.replay import ReplayTransport, WireEvent, read_wire_log
from power.transports.transport import LoggedTransport, WireLog
from power.wipe_guard import Guard
from power.wipe_rule import OwnRuns
from power.wt310.driver import WT310
from tests.power.checklist.test_walk import ME, Helper

RECORDS = sorted((Path(__file__).parent / "records").glob("*.jsonl"))
_BORDERS = (WALK, STEP, OBSERVED)
_NUMBER = re.compile(r"-?\d+\.\d+")
# A step reads the clock between two messages. The record has the times of the messages.
_CLOCK_S = 0.05


class RecordedPerson:
    """The person of a record, who answers again as then, and takes as long."""

    def __init__(self, events: list[WireEvent], replay: ReplayTransport) -> None:
        self._answers = (one for one in events if one.event == PERSON)
        self._replay = replay

    def show(self, text: str) -> None:
        """Show nothing."""

    def wait(self, task: str) -> None:
        """Have the task done, as then."""
        self._next()

    def choose(self, question: str, choices: Mapping[str, str]) -> PersonAnswer:
        """Give the recorded answer."""
        choice, _, remark = self._next().partition(" ")
        return PersonAnswer(choice, remark)

    def _next(self) -> str:
        answer = next(self._answers)
        self._replay.sleep(max(0.0, answer.monotonic_s - self._replay.clock()))
        return answer.content.decode()


def steps_of(events: list[WireEvent]) -> Iterator[tuple[str, list[WireEvent], dict[str, Any]]]:
    """Yield each step that has an end: its name, its events, and what it observed then."""
    for number, begin in enumerate(events, start=1):
        if begin.event == STEP:
            own = list(takewhile(lambda one: one.event not in _BORDERS, events[number:]))
            end = events[number + len(own) : number + len(own) + 1]
            if end and end[0].event == OBSERVED:
                yield begin.content.decode(), own, json.loads(end[0].content)


def replayed(
    events: list[WireEvent], own: list[WireEvent], name: str, crest_factor: int
) -> tuple[dict[str, Any], int]:
    """Do a step against its events; return what it observes, and how many events are left.

    Before the step the driver opens the link as the program did at the record's beginning.
    """
    before = list(takewhile(lambda one: one.event != WALK, events))
    opening = ReplayTransport(before)
    _opened(opening)
    introduction = before[: len(before) - opening.left]
    replay = ReplayTransport([*introduction, *own])
    meter = _opened(replay)
    (step,) = chosen([name])
    observed = step.work(
        StepTools(
            link=meter.conversation,
            ask=lambda: None,
            clock=replay.clock,
            sleep=replay.sleep,
            person=RecordedPerson(own, replay),
            second=lambda: next(one.content.decode() for one in own if one.event == SECOND),
            voltage_ranges_v=meter.model.voltage_ranges(crest_factor),
            current_ranges_a=meter.model.current_ranges(crest_factor),
        )
    )
    return json.loads(json.dumps(observed)), replay.left


def _opened(replay: ReplayTransport) -> WT310:
    meter = WT310(replay.reopen, clock=replay.clock, sleep=replay.sleep)
    meter.remember()
    meter.identify()
    return meter


def assert_as_recorded(path: Path) -> list[str]:
    """Replay each step of a record that ended in an observation; return their names."""
    events = read_wire_log(path)
    facts = json.loads(next(one.content for one in events if one.event == WALK))
    names = []
    for name, own, then in steps_of(events):
        if "error" not in then:
            now, left = replayed(events, own, name, facts["crest_factor"])
            assert 0 == left, name
            assert_alike(json.dumps(then), json.dumps(now), name)
            names.append(name)
    return names


def assert_alike(then: str, now: str, name: str) -> None:
    """Compare observations: times, which have a decimal point, may differ by a little."""
    assert _NUMBER.sub("#", then) == _NUMBER.sub("#", now), name
    for before, after in zip(_NUMBER.findall(then), _NUMBER.findall(now), strict=True):
        assert float(before) == pytest.approx(float(after), abs=_CLOCK_S), (name, then, now)


def recorded(bench: Any, path: Path, names: list[str], *answers: str) -> list[str]:
    """Walk steps on an emulated meter and record it; return the steps that are left open."""
    press, fault = bench.instrument.press, bench.fault
    record = WireLog(path, bench.time.clock, bench.time.utc)
    person = Helper(
        {
            "Press STOP": lambda: press("STOP"),
            "Press RESET": lambda: press("RESET"),
            "Switch the load now": lambda: fault("load watts=500"),
            "Pull the cable": lambda: fault("unplug seconds=30"),
            "Switch the meter off": lambda: fault("power seconds=20"),
        },
        answers,
    )
    meter = WT310(
        lambda: LoggedTransport(bench.connect(), record),
        clock=bench.time.clock,
        sleep=bench.time.sleep,
        utc=bench.time.utc,
    )
    meter.remember()
    meter.identify()
    record.note(WALK, json.dumps({"crest_factor": 3}))

    def second() -> str:
        record.note(SECOND, "refused")
        return "refused"

    tools = StepTools(
        link=meter.conversation,
        ask=Guard(meter, OwnRuns(), "R", utc=bench.time.utc).leave,
        clock=bench.time.clock,
        sleep=bench.time.sleep,
        person=NotedPerson(person, record.note),
        second=second,
        voltage_ranges_v=meter.model.voltage_ranges(3),
        current_ranges_a=meter.model.current_ranges(3),
    )
    report = ChecklistReport(ME, "R", "then")
    left = walk(chosen(names), tools, report, lambda _: None, bench.time.utc, record.note)
    meter.close()
    return left


def test_each_step_of_a_walk_is_seen_again(make_bench: Callable[..., Any], tmp_path: Path) -> None:
    """Every step, with its pulled cable and its power cut, sees the same without the meter."""
    path = tmp_path / "c.wire.jsonl"
    assert [] == recorded(make_bench(), path, [])
    assert [step.name for step in STEPS] == assert_as_recorded(path)


def test_a_step_that_was_left_in_its_middle_is_not_replayed(
    make_bench: Callable[..., Any], tmp_path: Path
) -> None:
    """It has no end, and what the next step observed is not its own."""
    path = tmp_path / "c.wire.jsonl"
    assert ["lockout"] == recorded(make_bench(), path, ["lockout", "keys"], "skip")
    assert ["keys"] == assert_as_recorded(path)


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_records_of_meters_are_seen_again(path: Path) -> None:
    """The driver says the same to each meter that somebody has walked, and understands the same."""
    assert assert_as_recorded(path)
