# SPDX-License-Identifier: Apache-2.0
"""The report of a drill: one block a fault for people, one object for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime

from referee.core.counts import counted
from referee.core.text_cells import lines_of
from referee.extras.drill.rules.faults import LEFT_OUT
from referee.extras.drill.rules.judging import CALM, SHORT, WELL, JudgedFault
from referee.extras.drill.rules.record import Record

_WIDTH = 100
_HEAD = ("fault", "session", "at", "alarm", "seen", "done", "outcome")


def report_text(record: Record, judged: Sequence[JudgedFault]) -> str:
    """Return the report for people: a table, then what was done and lost for each fault."""
    good = sum(judged_fault.outcome in (WELL, CALM) for judged_fault in judged)
    faults, sessions = counted(len(judged), "fault"), counted(len(record.sessions), "session")
    lines = [
        f"Drill of {_clock(record.begun_s)} to {_clock(record.ended_s)}: {faults} in {sessions} of "
        f"{record.length_s:g} s, {good} dealt with as the runbook says. Seed {record.seed}.",
        "",
    ]
    if judged:
        lines += [*_table(judged), ""]
        lines.append("alarm, seen and done are seconds after the fault came; – is never.")
    else:
        lines.append("No fault came. Arm a session: faults come while sessions run.")
    for number, judged_fault in enumerate(judged, 1):
        lines += ["", *_block(number, judged_fault)]
    for note in record.notes:
        lines += ["", *_wrapped("", note)]
    return "\n".join(lines) + "\n"


def report_json(record: Record, judged: Sequence[JudgedFault]) -> dict[str, object]:
    """Return the report for programs; times after a fault are seconds, and null is never."""
    return {
        "begun": _utc(record.begun_s),
        "ended": _utc(record.ended_s),
        "seed": record.seed,
        "seconds": record.length_s,
        "sessions": len(record.sessions),
        "notes": list(record.notes),
        "faults": [
            {
                "fault": judged_fault.fault.name,
                "what": judged_fault.fault.line,
                "session": judged_fault.injection.session_id,
                "team": judged_fault.team,
                "injected": _utc(judged_fault.injection.at_s),
                "over_after_s": _after(judged_fault),
                "ended_by": judged_fault.injection.ended_by,
                "alarm_after_s": _rounded(judged_fault.alarm_s),
                "seen_after_s": _rounded(judged_fault.seen_s),
                "seen_by": judged_fault.seen_by,
                "done_after_s": _rounded(judged_fault.done_s),
                "done_by": judged_fault.done_by,
                "expected_seen": judged_fault.fault.seen,
                "expected_done": judged_fault.fault.do,
                "harm": list(judged_fault.harm),
                "lost": list(judged_fault.lost),
                "outcome": judged_fault.outcome,
                "runbook": judged_fault.fault.section,
            }
            for judged_fault in judged
        ],
    }


def left_out_text() -> Iterator[str]:
    """Yield the faults of the venue table that a drill does not inject."""
    for name, why in LEFT_OUT.items():
        yield f"  {name:28}{why}"


def _table(judged: Sequence[JudgedFault]) -> list[str]:
    rows = [
        (
            f"{number} {one.fault.name}",
            "–" if one.injection.session_id is None else str(one.injection.session_id),
            _clock(one.injection.at_s),
            _seconds(one.alarm_s) if one.fault.alarm else "none",
            _seconds(one.seen_s),
            _seconds(one.done_s) if one.fault.deeds else "nothing",
            one.outcome,
        )
        for number, one in enumerate(judged, 1)
    ]
    return lines_of((_HEAD, *rows), [True] * len(_HEAD))


def _block(number: int, judged_fault: JudgedFault) -> Iterator[str]:
    where = (
        f" (session {judged_fault.injection.session_id}, {judged_fault.team})"
        if judged_fault.team
        else ""
    )
    yield f"{number}. {judged_fault.fault.name}: {judged_fault.fault.line}{where}"
    yield from _wrapped("to see", judged_fault.fault.seen)
    yield from _wrapped("to do", judged_fault.fault.do)
    yield from _wrapped(
        "seen", _deed(judged_fault.seen_s, judged_fault.seen_by, "no sign that anybody saw it")
    )
    if judged_fault.fault.deeds:
        yield from _wrapped(
            "done", _deed(judged_fault.done_s, judged_fault.done_by, "nothing of it")
        )
    if judged_fault.harm:
        yield from _wrapped("not to do", ", ".join(judged_fault.harm))
    yield from _wrapped("over", _over(judged_fault))
    yield from _wrapped("lost", "; ".join(judged_fault.lost) or "nothing")
    yield from _wrapped("outcome", judged_fault.outcome + (_advice(judged_fault)))
    yield from _wrapped("runbook", judged_fault.fault.section)


def _advice(judged_fault: JudgedFault) -> str:
    if judged_fault.outcome in (WELL, CALM, SHORT):
        return ""
    return f". Read again: {judged_fault.fault.do}"


def _deed(after_s: float | None, by: str, otherwise: str) -> str:
    return otherwise if after_s is None else f"after {after_s:.0f} s: {by}"


def _over(judged_fault: JudgedFault) -> str:
    after_s = _after(judged_fault)
    return (
        "not before the drill ended"
        if after_s is None
        else (f"after {after_s:.0f} s: {judged_fault.injection.ended_by}")
    )


def _after(judged_fault: JudgedFault) -> float | None:
    over_s = judged_fault.injection.over_s
    return None if over_s is None else _rounded(over_s - judged_fault.injection.at_s)


def _wrapped(title: str, text: str) -> list[str]:
    indent = " " * 15
    first = f"   {title:12}" if title else ""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=indent if title else ""
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _clock(at_s: float) -> str:
    return datetime.fromtimestamp(at_s).astimezone().strftime("%H:%M:%S")


def _utc(at_s: float) -> str:
    return datetime.fromtimestamp(at_s).astimezone().isoformat(timespec="seconds")
