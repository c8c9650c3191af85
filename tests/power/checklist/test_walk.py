# SPDX-License-Identifier: Apache-2.0
"""The walk through the checklist, on the emulated meter in fake time.

It walks the steps of all modules of the checklist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from power.checklist.report import ChecklistReport, load, save
from power.checklist.steps import STEPS, chosen, table
from power.checklist.tools import PersonAnswer, StepSkipped, StepTools, WalkEnded
from power.checklist.walk import walk
from power.emulator.instrument import Options
from power.meter import Identity
from power.wipe_guard import Guard
from power.wipe_rule import OwnRuns

MakeBench = Callable[..., Any]
PAGE = Path(__file__).parents[3] / "docs/first-meter.md"
ME = Identity("YOKOGAWA", "WT310", "1", "F1")


class Helper:
    """A person who does the tasks at an emulated meter, and answers by a script."""

    def __init__(self, tasks: Mapping[str, Callable[[], object]], answers: Sequence[str]) -> None:
        self._tasks = tasks
        self._answers: Iterator[str] = iter(answers)
        self.shown: list[str] = []

    def show(self, text: str) -> None:
        """Keep what is shown; some tasks come with a line that waits for nothing."""
        self.shown.append(text)
        self._do(text)

    def wait(self, task: str) -> None:
        """Do the task that has one of the known words."""
        self._do(task)

    def _do(self, text: str) -> None:
        for words, do in self._tasks.items():
            if words in text:
                do()

    def choose(self, question: str, choices: Mapping[str, str]) -> PersonAnswer:
        """Give the next answer; `skip` and `end` are those of the keys."""
        answer = next(self._answers, "y")
        if answer in ("skip", "end"):
            raise StepSkipped if answer == "skip" else WalkEnded
        assert answer in choices
        return PersonAnswer(answer, "seen")


def walked(
    bench: Any, names: list[str], *answers: str, report: ChecklistReport | None = None, **tasks: Any
) -> tuple[ChecklistReport, list[str], list[ChecklistReport]]:
    """Walk steps; return the report, the names left open, and the states of the report saved."""
    bench.meter.identify()
    person = Helper({name.replace("_", " "): task for name, task in tasks.items()}, answers)
    tools = StepTools(
        link=bench.meter.conversation,
        ask=Guard(bench.meter, OwnRuns(), "R", utc=bench.time.utc).leave,
        clock=bench.time.clock,
        sleep=bench.time.sleep,
        person=person,
        second=lambda: "refused",
        voltage_ranges_v=bench.meter.model.voltage_ranges(3),
        current_ranges_a=bench.meter.model.current_ranges(3),
    )
    report = report or ChecklistReport(ME, "R", "then")
    saved: list[ChecklistReport] = []
    left = walk(
        *(chosen(names), tools, report, saved.append, lambda: datetime(2026, 1, 1, tzinfo=UTC)),
        lambda event, text: None,
    )
    return report, left, saved


def seen(bench: Any, name: str, *answers: str, **tasks: Any) -> dict[str, Any]:
    """Return what one step observed."""
    report, left, _ = walked(bench, [name], *answers, **tasks)
    assert [] == left, report.text()
    return report.entries[name].observed


def test_the_whole_walk_leaves_the_meter_as_found(make_bench: MakeBench) -> None:
    """Every step ends, is saved, and the settings can be put back; the integrator is RESET."""
    bench = make_bench()
    bench.meter.identify()
    found = bench.meter.take_snapshot()
    report, left, saved = walked(bench, [])
    assert [] == left, report.text()
    assert len(STEPS) == len(saved)
    assert [] == bench.meter.put_back(found)
    assert "RESET" == bench.meter.state().value
    assert "0" == bench.ask(":COMMunicate:LOCKout?").split()[-1]
    assert "0" == bench.ask(":STATus:EESE?").split()[-1]


def test_refusals_tells_the_codes(make_bench: MakeBench) -> None:
    """What a state forbids is told with its error code, and what it allows as accepted."""
    observed = seen(make_bench(), "refusals")
    assert observed["START: :INPut:MODE DC"].startswith("813")
    assert "accepted" == observed["START: :HOLD ON"]
    assert observed["TIMEUP: :INTEGrate:STOP"].endswith("then TIMEUP")
    late = seen(make_bench(None, Options(ranges_while_running=True)), "refusals")
    assert "accepted" == late["START: :INPut:VOLTage:RANGe 300"]


@pytest.mark.parametrize(("window", "lost"), [("commands", 5), ("all", 5), ("off", 0)])
def test_busy_tells_what_is_lost_and_when(make_bench: MakeBench, window: str, lost: int) -> None:
    """Each command that the meter loses after START is told with its time."""
    observed = seen(make_bench(None, Options(busy_window=window)), "busy")
    assert lost == sum("was lost" in text for text in observed.values())
    silent = sum("no reply" in text for text in observed.values())
    assert (5 if window == "all" else 0) == silent


def test_phase_tells_that_start_begins_a_new_one(make_bench: MakeBench) -> None:
    """The emulated meter begins a phase at START: its updates come whole intervals after it."""
    observed = seen(make_bench(), "phase")
    assert abs(observed["away from a phase that begins at START, intervals"]) < 0.05
    assert abs(observed["away from the old phase, intervals"]) > 0.2


def test_events_counts_the_updates_at_10_hz(make_bench: MakeBench) -> None:
    """At updates of 100 ms a poll at 10 Hz sees one update each."""
    observed = seen(make_bench(), "events")
    assert (100, 0) == (observed["polls"], observed["polls without a reply"])
    assert 99 <= observed["updates seen"] <= 100


@pytest.mark.parametrize(("late", "changes"), [(False, 1), (True, 2)])
def test_final_tells_a_late_energy(make_bench: MakeBench, late: bool, changes: int) -> None:
    """An energy that comes an update after TIMEUP shows as a second value."""
    observed = seen(make_bench(None, Options(late_final=late)), "final")
    assert changes == len(observed["energy and time, each change once"])


def test_illegal_tells_both_behaviours(make_bench: MakeBench) -> None:
    """A value that moves is told with what it became, a refused one with its code."""
    name = ":INPut:VOLTage:RANGe 9000"
    assert "accepted: 600.0E+00" == seen(make_bench(), "illegal")[name]
    refused = seen(make_bench(None, Options(refuse_illegal=True)), "illegal")
    assert refused[name].startswith("222")


def test_keys_tells_what_the_panel_did(make_bench: MakeBench) -> None:
    """STOP and RESET that work in a locked run show in the state."""
    bench = make_bench()
    press = bench.instrument.press
    observed = seen(
        bench, "keys", Press_STOP=lambda: press("STOP"), Press_RESET=lambda: press("RESET")
    )
    assert {"state after STOP": "STOP", "state after RESET": "RESET"} == observed


def test_cable_and_power_tell_what_came_back(make_bench: MakeBench) -> None:
    """A pulled cable and a power cut are told with the time until the link was back."""
    bench = make_bench()
    cable = seen(bench, "cable", Pull_the_cable=lambda: bench.fault("unplug seconds=30"))
    assert cable["a question while it is out"].startswith("MeterUnreachable")
    assert 25 < cable["the link is back after, s"] <= 31
    power = seen(bench, "power", Switch_the_meter_off=lambda: bench.fault("power seconds=20"))
    assert "ERROR" == power["state then"]
    assert power["energy and time then"].endswith(",3")


def test_hyphen_tells_a_range_that_switched(make_bench: MakeBench) -> None:
    """A load that grows in the integration changes the range, and the reply is told."""
    bench = make_bench()
    observed = seen(bench, "hyphen", Switch_the_load_now=lambda: bench.fault("load watts=500"))
    replies = observed["range and auto-range, each change once"]
    assert len(replies) > 1
    assert "-" in replies[-1].split(";")[0].replace("E-", "E")


def test_a_walk_goes_on_where_it_ended(make_bench: MakeBench, tmp_path: Path) -> None:
    """A skipped step and what comes after the end stay open; what is done is not done again."""
    bench, path = make_bench(), tmp_path / "c.json"
    names = ["identity", "ranges", "clear", "second"]
    report, left, saved = walked(bench, names, "skip", "end")
    assert ["identity", "clear", "second"] == left
    assert ["skipped", "done"] == [it.outcome for it in report.entries.values()]
    assert 2 == len(saved), "the ended step is not saved"
    save(path, report)
    again = load(path)
    assert report == again
    report, left, saved = walked(bench, names, "n", "y", report=again)
    assert ([], 3) == (left, len(saved))
    assert ("n", "seen") == (report.entries["identity"].answer, report.entries["identity"].remark)


def test_a_step_that_fails_is_told_and_the_walk_goes_on(make_bench: MakeBench) -> None:
    """A meter that does not answer fails its step with the error, and the next one is walked."""
    bench = make_bench()
    wait = {"Pull_the_cable": lambda: bench.fault("unplug seconds=600")}
    report, left, _ = walked(bench, ["second", "cable", "power"], **wait)
    assert ["cable", "power"] == left
    assert "MeterUnreachable" in report.entries["cable"].observed["error"]
    assert "failed" == report.entries["power"].outcome


def test_a_worse_try_does_not_replace_what_is_done() -> None:
    """A step that was done stays done when somebody skips it the second time."""
    from power.checklist.report import StepOutcome

    report = ChecklistReport(ME, "R", "then")
    done = StepOutcome("busy", "?", "done", "now", 1.0, {"a": 1})
    report.add(done)
    report.add(StepOutcome("busy", "?", "skipped", "later", 1.0, {}))
    assert {"busy": done} == report.entries


def test_the_report_is_text_too(make_bench: MakeBench, tmp_path: Path) -> None:
    """Beside the JSON lies a text with each question, what was observed, and the answer."""
    report, _, _ = walked(make_bench(), ["clear"], "n")
    save(tmp_path / "c.json", report)
    text = (tmp_path / "c.txt").read_text()
    for words in (
        *("YOKOGAWA WT310 1", STEPS[8].question, "time-out 3: no reply"),
        "person: n seen",
    ):
        assert words in text
    assert ["c.json", "c.txt"] == sorted(path.name for path in tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": "other"}', '{"form": 5, "entries": 1}'])
def test_another_file_is_no_report(tmp_path: Path, text: str) -> None:
    """A file that is no report is refused by its name."""
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="c.json is no report"):
        load(path)


def test_unknown_steps_are_named() -> None:
    """A step that does not exist is refused with those that do."""
    with pytest.raises(ValueError, match="no step 'lock'; the steps are identity, ranges"):
        chosen(["busy", "lock"])


def test_each_step_is_in_the_table_and_on_the_page_of_the_first_meter() -> None:
    """`--checklist` prints each step, and docs/first-meter.md says what to expect in it."""
    page = PAGE.read_text(encoding="utf-8")
    for step in STEPS:
        assert f"| `{step.name}` | {step.question} |" in table()
        assert f"| `{step.name}` |" in page


def test_a_step_wipes_nothing_that_somebody_measured_before_it(make_bench: MakeBench) -> None:
    """A result that came while the person was away fails the step, and stays."""
    bench = make_bench()
    bench.tell(":INTEGrate:STARt")
    bench.time.sleep(3.0)
    bench.tell(":INTEGrate:STOP")
    report, left, _ = walked(bench, ["phase"])
    assert ["phase"] == left
    assert "power rescue R" in report.text()
    assert "STOP" in bench.ask(":INTEGrate:STATe?")
