# SPDX-License-Identifier: Apache-2.0
"""The open questions, each with the step that answers it on a real meter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from power.checklist import alone, together
from power.checklist.alone import Observed
from power.checklist.tools import StepTools


@dataclass(frozen=True)
class Step:
    """One step: its name on the command line, the open question, and the work that answers it.

    `at_meter` tells what the person does, "" for nothing. `judged` is what the person is asked when
    the work is done, "" for nothing.
    """

    name: str
    question: str
    work: Callable[[StepTools], Observed]
    at_meter: str = ""
    judged: str = ""


STEPS = (
    Step(
        "identity",
        "Which strings does it send, and which settings has it as delivered?",
        alone.identity,
        judged="Has somebody changed a setting since the meter was delivered or initialised?",
    ),
    Step("ranges", "How many digits has the reply about each range?", alone.ranges),
    Step(
        "illegal", "Which values does it move to the nearest, which does it refuse?", alone.illegal
    ),
    Step(
        "refusals",
        "Which error codes come while it integrates and after TIMEUP; may ranges change then?",
        alone.refusals,
    ),
    Step("busy", "What does it lose in the 0.2 s after START?", alone.busy),
    Step("phase", "Does START begin a new phase of the updates?", alone.phase),
    Step("events", "Does the event register keep every update when polled at 10 Hz?", alone.events),
    Step("final", "Does the final energy come with TIMEUP, or an update later?", alone.final),
    Step(
        "clear",
        "Does a device clear bring the link back after a time-out (USBTMC above all)?",
        alone.clear,
        judged="Did the meter show an error on its display?",
    ),
    Step("second", "What does a second client get, and the first beside it?", alone.second_client),
    Step(
        "lockout",
        "Does local lockout keep SHIFT and LOCAL from unlocking the panel?",
        together.lockout,
        at_meter="presses SHIFT and LOCAL, twice",
    ),
    Step(
        "keys",
        "Do STOP and RESET at the panel work in a locked run?",
        together.keys,
        at_meter="presses STOP and RESET",
    ),
    Step(
        "hyphen",
        "Where stands the hyphen of a range that auto-range changed?",
        together.hyphen,
        at_meter="switches a load from small to large",
        judged="Did the range on the display change during those seconds?",
    ),
    Step(
        "cable",
        "How long does it keep the connection of a program that is gone?",
        together.cable,
        at_meter="pulls the cable of the interface and puts it back",
    ),
    Step(
        "power",
        "Does the energy survive a power cut, and which state does it show then?",
        together.power_cut,
        at_meter="switches the meter off and on",
        judged="Did the display show an integration error after the start?",
    ),
)


def chosen(names: list[str]) -> tuple[Step, ...]:
    """Return the steps of these names in the order of the list, all for none; else ValueError."""
    unknown = [name for name in names if name not in {step.name for step in STEPS}]
    if unknown:
        known = ", ".join(step.name for step in STEPS)
        raise ValueError(f"there is no step {unknown[0]!r}; the steps are {known}")
    return tuple(step for step in STEPS if not names or step.name in names)


def table() -> str:
    """Return the checklist as a table in Markdown."""
    rows = [
        f"| `{step.name}` | {step.question} | {step.at_meter or 'nothing'} |\n" for step in STEPS
    ]
    return "| step | open question | the person |\n| --- | --- | --- |\n" + "".join(rows)
