# SPDX-License-Identifier: Apache-2.0
"""Steps that the program does by itself. Each returns what it observed, as values for JSON."""

from __future__ import annotations

from power.checklist.tools import StepTools
from power.errors import MeterError, MeterSilent, MeterUnreachable

Observed = dict[str, object]

_ASKED = tuple(
    "*IDN? *OPT? :SYSTem:MODel? :SYSTem:SUFFix? :SYSTem:VERsion:FIRMware? "
    ":SYSTem:COMMunicate:COMMand? :COMMunicate:STATus? :INPut? :MEASure? :INTEGrate? "
    ":RATE? :RATE:AUTO? :NUMeric:NORMal? :STATus? :MATH?".split()
)
_ILLEGAL = (
    (":INPut:VOLTage:RANGe", "100"),
    (":INPut:VOLTage:RANGe", "9000"),
    (":RATE", "0.3"),
    (":INPut:CURRent:RANGe", "0.3"),
    (":INPut:CURRent:RANGe", "900"),
    (":INPut:CFACtor", "4"),
    (":INTEGrate:TIMer", "0,0,75"),
    (":NUMeric:NORMal:NUMber", "300"),
)
# What a run might change while it lasts. The snapshot of the settings puts all of it back.
_WHILE_RUNNING = (
    ":INPut:MODE DC",
    ":INPut:CFACtor 6",
    ":INPut:FILTer:LINE ON",
    ":RATE 0.5",
    ":INTEGrate:TIMer 0,0,9",
    ":INPut:VOLTage:RANGe 300",
    ":INPut:CURRent:RANGe 1",
    ":INPut:SCALing:STATe ON",
    ":INPut:SCALing:STATe OFF",
    ":MEASure:AVERaging:STATe ON",
    ":MEASure:AVERaging:STATe OFF",
    ":MEASure:MHOLd ON",
    ":MEASure:MHOLd OFF",
    ":HOLD ON",
    ":HOLD OFF",
    ":NUMeric:NORMal:ITEM1 U,1",
    ":INTEGrate:STARt",
    ":INTEGrate:RESet",
)
_BUSY_S = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
_EVENTS_S = 10.0
_HZ = 10
_PHASE_RATE_S = 0.5


def identity(tools: StepTools) -> Observed:
    """Ask for everything that the meter says of itself."""
    return {question: tools.asked(question) for question in _ASKED}


def ranges(tools: StepTools) -> Observed:
    """Set each range and read how the meter writes it."""
    return {
        f"{head} {value:g}": f"{tools.sent(f'{head} {value:g}')}: {tools.asked(f'{head}?')}"
        for head, values in (
            (":INPut:VOLTage:RANGe", tools.voltage_ranges_v),
            (":INPut:CURRent:RANGe", tools.current_ranges_a),
        )
        for value in values
    }


def illegal(tools: StepTools) -> Observed:
    """Send values that no list has, and read what became of them."""
    return {
        f"{head} {value}": f"{tools.sent(f'{head} {value}')}: {tools.asked(f'{head}?')}"
        for head, value in _ILLEGAL
    }


def refusals(tools: StepTools) -> Observed:
    """Send what does not fit the state of the integrator; read the error codes."""
    tools.rest()
    seen: Observed = {"RESET: :INTEGrate:STOP": tools.sent(":INTEGrate:STOP")}
    with tools.integrating(60):
        tools.await_state("START", "STAR")
        tools.sleep(0.5)
        for command in _WHILE_RUNNING:
            seen[f"START: {command}"] = tools.sent(command)
    with tools.integrating(1):
        tools.await_state("TIMEUP", "TIM")
        for command in (":INTEGrate:STOP", ":INPut:MODE DC", ":INTEGrate:STARt"):
            seen[f"TIMEUP: {command}"] = f"{tools.sent(command)}, then {tools.state()}"
    return seen


def busy(tools: StepTools) -> Observed:
    """Send a command and a question at times after START, and see which the meter loses."""
    seen: Observed = {}
    as_found = tools.asked(":STATus:EESE?")
    for mask, wait_s in enumerate(_BUSY_S, start=1):
        tools.sent(":STATus:EESE 0")
        with tools.integrating(5):
            tools.sleep(wait_s)
            try:
                tools.link.tell(f":STATus:EESE {mask}")
                reply = tools.link.ask(":STATus:EESE?", timeout_s=1.0)
            except MeterSilent:
                reply = "no reply"
            tools.sleep(0.5)
            kept = tools.asked(":STATus:EESE?")
            seen[f"{wait_s:g} s after START"] = (
                f"the question got {reply!r}; the command was "
                f"{'kept' if kept.endswith(str(mask)) else 'lost'}; state {tools.state()}"
            )
    tools.sent(f":STATus:EESE {as_found}")
    return seen


def phase(tools: StepTools) -> Observed:
    """Compare the phase of the updates before and after START."""
    tools.rest()
    tools.sent(f":RATE {_PHASE_RATE_S:g}")
    tools.sent(":STATus:FILTer1 FALL")
    before_s = _update_s(tools)
    # START must not fall onto an update, or a new phase would look like the old one.
    tools.sleep(0.4 * _PHASE_RATE_S)
    with tools.integrating(20):
        started_s = tools.clock()
        tools.sleep(0.3)
        after_s = _update_s(tools)
    if before_s is None or after_s is None:
        return {"updates": "none seen within 2 s"}
    return {
        "update interval, s": _PHASE_RATE_S,
        "away from the old phase, intervals": _part(after_s - before_s),
        "away from a phase that begins at START, intervals": _part(after_s - started_s),
    }


def _part(seconds: float) -> float:
    """Return how far a time is from whole update intervals, from -0.5 to 0.5 of one."""
    intervals = seconds / _PHASE_RATE_S
    return round(intervals - round(intervals), 3)


def _update_s(tools: StepTools) -> float | None:
    """Return when the next update is seen in the event register."""
    tools.asked(":STATus:EESR?")
    end_s = tools.clock() + 2.0
    while tools.clock() < end_s:
        if int(tools.link.ask(":STATus:EESR?")) & 1:
            return tools.clock()
        tools.sleep(0.005)
    return None


def events(tools: StepTools) -> Observed:
    """Poll the event register at 10 Hz, at updates of 100 ms, for ten seconds."""
    tools.rest()
    tools.sent(":RATE 0.1")
    tools.sent(":STATus:FILTer1 FALL")
    tools.sleep(0.5)
    tools.asked(":STATus:EESR?")
    begun_s, polls, updates, longest_s, silent = tools.clock(), 0, 0, 0.0, 0
    while polls < _EVENTS_S * _HZ:
        tools.sleep(max(0.0, begun_s + (polls + 1) / _HZ - tools.clock()))
        asked_s = tools.clock()
        polls += 1
        try:
            updates += int(tools.link.ask(":STATus:EESR?")) & 1
        except MeterSilent:
            silent += 1
        longest_s = max(longest_s, tools.clock() - asked_s)
    return {
        "polls": polls,
        "updates seen": updates,
        "polls without a reply": silent,
        "longest reply, s": round(longest_s, 3),
        "error queue": tools.queued(),
    }


def clear(tools: StepTools) -> Observed:
    """Ask what gets no reply, and measure how the link comes back after the time-out."""
    seen: Observed = {}
    for number in (1, 2, 3):
        try:
            reply = tools.link.ask(":NO:SUCH:QUESTION?", timeout_s=0.5)
        except MeterSilent:
            reply = "no reply"
        begun_s = tools.clock()
        try:
            after = tools.link.ask("*IDN?", timeout_s=5.0)
        except MeterError as error:
            after = f"{type(error).__name__}: {error}"
        took_s = tools.clock() - begun_s
        seen[f"time-out {number}"] = f"{reply}; then {after} after {took_s:.2f} s"
    seen["error queue"] = tools.queued()
    return seen


def final(tools: StepTools) -> Observed:
    """Let the timer end between two updates of 2 s, and watch energy and time for 5 s."""
    tools.rest()
    tools.sent(":RATE 2")
    tools.sent(":NUMeric:NORMal:ITEM1 WH,1")
    tools.sent(":NUMeric:NORMal:ITEM2 TIME")
    tools.sent(":NUMeric:NORMal:NUMber 2")
    seen: list[str] = []
    with tools.integrating(3):
        state = tools.await_state("TIMEUP", "TIM", within_s=10.0)
        for _ in range(50):
            reply = tools.asked(":NUMeric:NORMal:VALue?")
            if not seen or seen[-1] != reply:
                seen.append(reply)
            tools.sleep(0.1)
    return {"state": state, "energy and time, each change once": seen}


def second_client(tools: StepTools) -> Observed:
    """Open a second connection beside the first, and see what both get."""
    seen: Observed = {"the second": tools.second()}
    try:
        seen["the first, after it"] = tools.asked("*IDN?")
    except MeterUnreachable as error:
        seen["the first, after it"] = f"{type(error).__name__}: {error}"
        tools.link.reopen()
    return seen
