# SPDX-License-Identifier: Apache-2.0
"""What the operators did about each fault, against the runbook; pure rules over the record."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.core.counts import counted
from referee.extras.drill.rules.faults import BY_NAME, HANDS, NOTE, VOID, DrillFault
from referee.extras.drill.rules.record import SEEN, Act, Injection, Ran, Record

# A gap in what comes once a second or so is told from this length on.
_GAP_S = 3.0
# An act that ends a session is on record at most this long after the end that it brings about.
_ENDING_S = 2.0

WELL, NOT_DONE, HARM = "well done", "not done", "against the runbook"
CALM, SHORT = "rightly left alone", "the drill ended first"
"""How the operators dealt with a fault."""


@dataclass(frozen=True)
class JudgedFault:
    """A fault and what became of it; the times are seconds after the injection.

    `alarm_s` is when the red bar first told of it, `seen_s` when a person first showed attention,
    `done_s` when the runbook's deed was done. None means never. `harm` are acts that made it worse,
    `lost` sentences about what was lost.
    """

    fault: DrillFault
    injection: Injection
    team: str
    alarm_s: float | None
    seen_s: float | None
    seen_by: str
    done_s: float | None
    done_by: str
    harm: tuple[str, ...]
    lost: tuple[str, ...]
    outcome: str


def judge_all(record: Record) -> list[JudgedFault]:
    """Judge each fault that came, in the order of the drill."""
    return [judge(injection, record) for injection in record.injections]


def judge(injection: Injection, record: Record) -> JudgedFault:
    """Judge one fault by what is on record from its injection to the next one's."""
    fault = BY_NAME[injection.fault]
    until_s = _until(injection, record)
    session = next((s for s in record.sessions if s.session_id == injection.session_id), None)
    acts = [a for a in record.acts if injection.at_s <= a.at_s < until_s and not a.refused]
    shown = [s for s in record.shown if injection.at_s <= s.at_s < until_s]
    alarms = [s for s in shown if fault.alarm and re.search(fault.alarm, s.text)]
    seen = next((a for a in acts if _shows_attention(a, fault, injection, session)), None)
    done = next((a for a in acts if _is_deed(a, fault, injection, session)), None)
    harm = tuple(_act_text(a) for a in acts if _harms(a, fault, injection, session))
    return JudgedFault(
        fault=fault,
        injection=injection,
        team="" if session is None else session.team,
        alarm_s=alarms[0].at_s - injection.at_s if alarms else None,
        seen_s=None if seen is None else seen.at_s - injection.at_s,
        seen_by="" if seen is None else _act_text(seen),
        done_s=None if done is None else done.at_s - injection.at_s,
        done_by="" if done is None else _act_text(done),
        harm=harm,
        lost=tuple(_lost(fault, injection, session, record)),
        outcome=_outcome(fault, injection, done, harm),
    )


def _until(injection: Injection, record: Record) -> float:
    """Return when acts stop to belong to a fault: at the next injection."""
    later = (one.at_s for one in record.injections if one.at_s > injection.at_s)
    return min(later, default=float("inf"))


def _shows_attention(
    act: Act, fault: DrillFault, injection: Injection, session: Ran | None
) -> bool:
    """Tell whether an act shows that somebody had noticed the fault.

    That is Acknowledge at an alarm that tells of it, a note on its session, a deed of the runbook,
    or one that makes the fault worse: a wrong deed shows attention too.
    """
    if act.what == SEEN:
        return bool(fault.alarm and re.search(fault.alarm, act.detail))
    if act.what == NOTE:
        return act.session_id == injection.session_id
    if act.what in fault.signs and _concerns(act, injection):
        return True
    return act.what in (*fault.deeds, *fault.harm) and _concerns(act, injection)


def _is_deed(act: Act, fault: DrillFault, injection: Injection, session: Ran | None) -> bool:
    if act.what not in fault.deeds or not _concerns(act, injection):
        return False
    return not _too_early(act, fault, session)


def _harms(act: Act, fault: DrillFault, injection: Injection, session: Ran | None) -> bool:
    if not _concerns(act, injection):
        return False
    if act.what in fault.deeds:
        return _too_early(act, fault, session)
    lasts = injection.over_s is None or act.at_s <= injection.over_s
    # A session that is over can be judged, and voided, by the rules.
    return act.what in fault.harm and lasts and _runs(act, session)


def _too_early(act: Act, fault: DrillFault, session: Ran | None) -> bool:
    return fault.after_session and _runs(act, session)


def _runs(act: Act, session: Ran | None) -> bool:
    """Tell whether the session ran when somebody acted; the act itself may have ended it."""
    ended_s = None if session is None else session.ended_s
    return ended_s is None or act.at_s <= ended_s + _ENDING_S


def _concerns(act: Act, injection: Injection) -> bool:
    """Tell whether an act is about the fault's session; hands act in the room."""
    return act.what in HANDS or act.session_id == injection.session_id


def _outcome(fault: DrillFault, injection: Injection, done: Act | None, harm: Sequence[str]) -> str:
    if harm:
        return HARM
    if not fault.deeds:
        return CALM
    if done is None:
        return SHORT if injection.over_s is None else NOT_DONE
    return WELL


def _act_text(act: Act) -> str:
    words = HANDS.get(act.what, act.what)
    return f"{words} ({act.who})" if act.who else words


def _lost(
    fault: DrillFault, injection: Injection, session: Ran | None, record: Record
) -> Iterator[str]:
    """Say what the fault cost: requests, readings, the energy, the whole session.

    What happened after the next fault came is that one's damage.
    """
    if session is None:
        return
    until_s = _until(injection, record)
    last_s = min(_last(injection, session), until_s)
    failed = sum(injection.at_s <= at_s <= last_s for at_s in session.failed_requests_s)
    if failed:
        yield f"{counted(failed, 'request')} answered with an error of the referee"
    stops = sum(
        s.session_id == session.session_id and injection.at_s <= s.at_s < until_s
        for s in record.stops
    )
    if stops:
        yield f"the team had to start its client again, {counted(stops, 'time')}"
    between = _borders(injection, record)
    quiet_s = longest_gap((*session.requests_s, *between), injection.at_s, last_s)
    if quiet_s >= _GAP_S:
        yield f"{quiet_s:.0f} s without a request of the team"
    unread_s = longest_gap((*session.readings_s, *between), injection.at_s, last_s)
    if unread_s >= _GAP_S:
        yield f"{unread_s:.0f} s without a reading of the meter"
    if fault.unmeasured:
        yield f"{last_s - injection.at_s:.0f} s of the device's energy, which nobody measured"
    yield from _lost_session(fault, injection, session, record)


def _lost_session(
    fault: DrillFault, injection: Injection, session: Ran, record: Record
) -> Iterator[str]:
    """Say what the session lost by this fault, where it had others too."""
    faults = [
        BY_NAME[injection.fault]
        for injection in record.injections
        if injection.session_id == session.session_id
    ]
    if session.void_reason is not None:
        if _voided_by(fault, faults, injection, record):
            yield f"session {session.session_id} (void: {session.void_reason})"
    elif session.verdict is None:
        if fault.costs or not any(one.costs for one in faults):
            yield f"session {session.session_id} has no energy"
    elif session.verdict != "VALID":
        reasons = [one.text for one in session.reasons if _can_bring(fault, one.code, faults)]
        if reasons or not session.reasons:
            why = "; ".join(reason.rstrip(".") for reason in reasons)
            yield f"energy {session.verdict}: {why}"


def _voided_by(
    fault: DrillFault, faults: Sequence[DrillFault], injection: Injection, record: Record
) -> bool:
    """Tell whether a session was voided for a fault: the runbook asks for it, or it came last."""
    if any(VOID in one.deeds for one in faults):
        return VOID in fault.deeds
    voids = [a.at_s for a in record.acts if a.what == VOID and _concerns(a, injection)]
    return not voids or injection.at_s <= voids[0] < _until(injection, record)


def _can_bring(fault: DrillFault, code: str, faults: Sequence[DrillFault]) -> bool:
    """Tell whether a fault can be why a verdict has this finding, and no other is known for it."""
    known = [one for one in faults if code in one.costs]
    return fault in known or not known


def _borders(injection: Injection, record: Record) -> list[float]:
    """Return the times that cut a fault's gaps off from those of the faults around it."""
    before = [earlier for earlier in record.injections if earlier.at_s < injection.at_s]
    lasts = any(earlier.over_s is None or earlier.over_s >= injection.at_s for earlier in before)
    until_s = _until(injection, record)
    return [injection.at_s] * lasts + [until_s] * math.isfinite(until_s)


def _last(injection: Injection, session: Ran) -> float:
    """Return when a fault's effect on its session ends."""
    known = [t for t in (injection.over_s, session.ended_s) if t is not None]
    if known:
        return min(known)
    return max((*session.requests_s, *session.readings_s, injection.at_s))


def longest_gap(times_s: Sequence[float], from_s: float, to_s: float) -> float:
    """Return the longest time without an event between two times, which bound it too.

    The gap that a fault begins starts at the last event before it, and ends at the first after it.
    """
    before = max((t for t in times_s if t <= from_s), default=from_s)
    after = min((t for t in times_s if t >= to_s), default=to_s)
    inside = sorted(t for t in times_s if before < t < after)
    marks = [before, *inside, after]
    return max((b - a for a, b in zip(marks, marks[1:], strict=False)), default=0.0)
