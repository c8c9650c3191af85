# SPDX-License-Identifier: Apache-2.0
"""The open questions, each with the step that answers it on a real meter.

The steps with a person at the meter, for keys, cables and switches, stand here, the others in
`alone`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from power.checklist import alone
from power.checklist.alone import Observed
from power.checklist.tools import StepTools
from power.errors import MeterUnreachable

_CABLE_S = 300.0
_POWER_S = 180.0
_HYPHEN_S = 20.0
_YES_NO = {"y": "yes", "n": "no", "?": "I could not see it"}


def lockout(tools: StepTools) -> Observed:
    """Lock the panel and let the person press SHIFT and LOCAL, without lockout and with it."""
    seen: Observed = {}
    with _lockout_as_found(tools):
        for words, value in (("without lockout", "OFF"), ("with lockout", "ON")):
            tools.sent(":COMMunicate:REMote ON")
            tools.sent(f":COMMunicate:LOCKout {value}")
            tools.person.wait(f"Press SHIFT and LOCAL at the meter ({words}).")
            seen[f"REMote?, {words}"] = tools.asked(":COMMunicate:REMote?")
            seen[f"LOCKout?, {words}"] = tools.asked(":COMMunicate:LOCKout?")
            answer = tools.person.choose("Is the REMOTE lamp off, so that keys work?", _YES_NO)
            seen[f"keys work, {words}"] = f"{answer.choice} {answer.remark}".strip()
    return seen


def keys(tools: StepTools) -> Observed:
    """Let the person press STOP and RESET in a running integration, the panel locked."""
    seen: Observed = {}
    with _lockout_as_found(tools):
        tools.sent(":COMMunicate:REMote ON")
        tools.sent(":COMMunicate:LOCKout ON")
        with tools.integrating(59):
            tools.await_state("START", "STAR")
            for key in ("STOP", "RESET"):
                tools.person.wait(f"The meter integrates. Press {key} at the meter.")
                seen[f"state after {key}"] = tools.state()
    return seen


def cable(tools: StepTools) -> Observed:
    """Let the person pull the cable; measure how soon the meter takes a new connection."""
    tools.person.wait("Pull the cable of the interface out of the meter, and wait 10 s.")
    seen: Observed = {"a question while it is out": _whether_it_answers(tools)}
    tools.person.wait("Put the cable back.")
    seen["the link is back after, s"] = tools.await_link(_CABLE_S)
    seen["state then"] = tools.state()
    return seen


def power_cut(tools: StepTools) -> Observed:
    """Let the person switch the meter off while it integrates; see what it remembers."""
    tools.rest()
    tools.sent(":NUMeric:NORMal:ITEM1 WH,1")
    tools.sent(":NUMeric:NORMal:ITEM2 TIME")
    tools.sent(":NUMeric:NORMal:NUMber 2")
    with tools.integrating(59):
        tools.sleep(3.0)
        seen: Observed = {"energy and time before": tools.asked(":NUMeric:NORMal:VALue?")}
        tools.person.wait("Switch the meter off, wait 5 s, and switch it on again.")
        seen["the link is back after, s"] = tools.await_link(_POWER_S)
        seen["state then"] = tools.state()
        seen["energy and time then"] = tools.asked(":NUMeric:NORMal:VALue?")
        for head in (":COMMunicate:HEADer", ":COMMunicate:VERBose", ":INTEGrate:TIMer"):
            seen[f"{head}? then"] = tools.asked(f"{head}?")
    return seen


def hyphen(tools: StepTools) -> Observed:
    """Let the person change the load in an integration on auto-range; read how RANGe? shows it."""
    tools.rest()
    tools.sent(":INPut:CURRent:AUTO ON")
    replies: list[str] = []
    tools.person.wait("Be ready to switch the load from small to large (ten times the current).")
    with tools.integrating(59):
        tools.person.show(f"  Switch the load now; the program looks for {_HYPHEN_S:g} s.")
        end_s = tools.clock() + _HYPHEN_S
        while tools.clock() < end_s:
            reply = tools.asked(":INPut:CURRent:RANGe?;:INPut:CURRent:AUTO?")
            if not replies or replies[-1] != reply:
                replies.append(reply)
            tools.sleep(0.25)
    return {"range and auto-range, each change once": replies}


@contextmanager
def _lockout_as_found(tools: StepTools) -> Iterator[None]:
    """Put local lockout back at every exit but Ctrl-C, and unlock the panel."""
    as_found = tools.asked(":COMMunicate:LOCKout?")

    def put_back() -> None:
        tools.sent(f":COMMunicate:LOCKout {as_found}")
        tools.sent(":COMMunicate:REMote OFF")

    try:
        yield
    except Exception:
        put_back()
        raise
    put_back()


def _whether_it_answers(tools: StepTools) -> str:
    try:
        return tools.asked("*IDN?")
    except MeterUnreachable as error:
        return f"{type(error).__name__}: {error}"


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
        lockout,
        at_meter="presses SHIFT and LOCAL, twice",
    ),
    Step(
        "keys",
        "Do STOP and RESET at the panel work in a locked run?",
        keys,
        at_meter="presses STOP and RESET",
    ),
    Step(
        "hyphen",
        "Where stands the hyphen of a range that auto-range changed?",
        hyphen,
        at_meter="switches a load from small to large",
        judged="Did the range on the display change during those seconds?",
    ),
    Step(
        "cable",
        "How long does it keep the connection of a program that is gone?",
        cable,
        at_meter="pulls the cable of the interface and puts it back",
    ),
    Step(
        "power",
        "Does the energy survive a power cut, and which state does it show then?",
        power_cut,
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
