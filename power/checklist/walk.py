# SPDX-License-Identifier: Apache-2.0
"""Walk through the steps with a person, and save the report after each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from power.checklist.report import Report, StepOutcome, observed_lines
from power.checklist.steps import Step
from power.checklist.tools import PersonAnswer, StepSkipped, StepTools, WalkEnded
from power.errors import MeterError

_JUDGED = {"y": "yes", "n": "no", "?": "not sure"}


def walk(
    steps: Sequence[Step],
    tools: StepTools,
    report: Report,
    save: Callable[[Report], None],
    utc: Callable[[], datetime],
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
            outcome, observed, answer = _outcome(step, tools)
        except WalkEnded:
            ended = True
            break
        at_utc = utc().isoformat(timespec="seconds")
        took_s = round(tools.clock() - begun_s, 1)
        report.add(
            StepOutcome(
                *(step.name, step.question, outcome, at_utc, took_s, observed),
                answer=answer.choice,
                remark=answer.remark,
            )
        )
        save(report)
        tools.person.show(f"  {outcome}")
    if ended:
        tools.person.show("\nThe walk ends here. The same command goes on with what is left.")
    return [step.name for step in steps if not report.is_done(step.name)]


def _outcome(step: Step, tools: StepTools) -> tuple[str, dict[str, object], PersonAnswer]:
    """Do a step; return its outcome, what was observed, and the person's answer."""
    observed: dict[str, object] = {}
    try:
        if step.at_meter:
            tools.person.wait(f"In this step a person {step.at_meter}. Ready?")
        tools.ask()  # somebody may have measured while the person was away
        observed = step.work(tools)
        for line in observed_lines(observed):
            tools.person.show(line)
        answer = tools.person.choose(step.judged, _JUDGED) if step.judged else PersonAnswer("")
    except StepSkipped:
        return "skipped", observed, PersonAnswer("")
    except MeterError as error:
        tools.person.show(f"  {error.whole_text()}")
        return "failed", {**observed, "error": f"{type(error).__name__}: {error}"}, PersonAnswer("")
    return "done", observed, answer
