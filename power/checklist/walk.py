# SPDX-License-Identifier: Apache-2.0
"""Walk through the steps with a person, and save the report after each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from power.checklist.report import ChecklistReport, StepOutcome, observed_lines
from power.checklist.steps import Step
from power.checklist.tools import Person, PersonAnswer, StepSkipped, StepTools, WalkEnded
from power.errors import MeterError

Note = Callable[[str, str], None]
"""A function that notes an event and its text in the wire log, as `WireLog.note` does."""

WALK, STEP, OBSERVED, PERSON, SECOND = "walk", "step", "observed", "person", "second"
"""The events of a walk in the wire log, between those of the conversation: with them a step can be
replayed. `walk` has the meter, its crest factor and the software as JSON, `step` its name,
`observed` its end as JSON, the others what a test must answer. A skipped step has no end."""

_JUDGED = {"y": "yes", "n": "no", "?": "not sure"}


def walk(
    steps: Sequence[Step],
    tools: StepTools,
    report: ChecklistReport,
    save: Callable[[ChecklistReport], None],
    utc: Callable[[], datetime],
    note: Note,
    *,
    again: bool = False,
) -> list[str]:
    """Walk the steps that the report does not have as done; return the names of those left open.

    A failed step does not end the walk. With `again` steps that were done are walked, too.
    """
    ended = False
    for number, step in enumerate(steps, start=1):
        if report.is_done(step.name) and not again:
            tools.person.show(f"{step.name}: done before")
            continue
        tools.person.show(f"\n{number} of {len(steps)}  {step.name}: {step.question}")
        begun_s = tools.clock()
        try:
            outcome, observed, answer = _outcome(step, tools, note)
        except WalkEnded:
            ended = True
            break
        at_utc = utc().isoformat(timespec="seconds")
        took_s = round(tools.clock() - begun_s, 1)
        report.add(
            StepOutcome(
                step.name,
                step.question,
                outcome,
                at_utc,
                took_s,
                observed,
                answer=answer.choice,
                remark=answer.remark,
            )
        )
        save(report)
        tools.person.show(f"  {outcome}")
    if ended:
        tools.person.show("\nThe walk ends here. The same command continues with what is left.")
    return [step.name for step in steps if not report.is_done(step.name)]


def _outcome(
    step: Step, tools: StepTools, note: Note
) -> tuple[str, dict[str, object], PersonAnswer]:
    """Do a step; return its outcome, what was observed, and the person's answer."""
    observed: dict[str, object] = {}
    try:
        if step.at_meter:
            tools.person.wait(f"In this step a person {step.at_meter}. Ready?")
        tools.ask()  # somebody may have measured while the person was away
        note(STEP, step.name)
        observed = step.work(tools)
        note(OBSERVED, json.dumps(observed))
        for line in observed_lines(observed):
            tools.person.show(line)
        answer = tools.person.choose(step.judged, _JUDGED) if step.judged else PersonAnswer("")
    except StepSkipped:
        return "skipped", observed, PersonAnswer("")
    except MeterError as error:
        tools.person.show(f"  {error.whole_text()}")
        observed = {**observed, "error": f"{type(error).__name__}: {error}"}
        note(OBSERVED, json.dumps(observed))
        return "failed", observed, PersonAnswer("")
    return "done", observed, answer


class NotedPerson:
    """A person whose answers are noted, each as the choice and the remark."""

    def __init__(self, person: Person, note: Note) -> None:
        self._person = person
        self._note = note

    def show(self, text: str) -> None:
        """Show a line."""
        self._person.show(text)

    def wait(self, task: str) -> None:
        """Name a task at the meter, and note that it is done."""
        self._person.wait(task)
        self._note(PERSON, "")

    def choose(self, question: str, choices: Mapping[str, str]) -> PersonAnswer:
        """Return and note the answer to a question."""
        answer = self._person.choose(question, choices)
        self._note(PERSON, f"{answer.choice} {answer.remark}")
        return answer
