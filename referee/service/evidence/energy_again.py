# SPDX-License-Identifier: Apache-2.0
"""The energy of a bundle judged again: from its readings, and from what the meter itself said."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from power.emulated import is_emulated
from power.energy.judge import facts_from_json
from power.wt310.recorded import Conversation, read_conversation
from referee.core.states import SessionState, state_of
from referee.service.desk.settling import added_by_the_run, judge_session
from referee.service.evidence.bundle_file import Finding
from referee.service.evidence.differences import json_difference
from referee.service.evidence.outside_again import Outside, concealed, unfounded, until_its_end
from referee.service.setup.contest import Contest
from referee.store.readings import (
    Energy,
    SessionMeter,
    energy_of,
    readings_of,
    session_meter_of,
)
from referee.store.sessions import SessionRecord

_METER, _VERDICT = "meter.jsonl", "verdict.json"
# The log's time is taken some microseconds before the reading's, on a busy laptop more.
_APART_S = 5.0


def energy_findings(
    contest: Contest, session: SessionRecord, members: Mapping[str, bytes]
) -> Iterator[Finding]:
    """Judge the energy again from the session's rows; yield what differs from the stored energy."""
    connection = contest.database.connection
    energy = energy_of(connection, session.session_id)
    if energy is None:
        state = state_of(session.facts, contest.clock.now())
        if state is not SessionState.VOID:
            yield Finding(_VERDICT, f"The session is {state.value} and has no energy.")
        return
    if "facts" not in energy.detail:
        yield Finding("run.json", "It does not say what measured, so the energy cannot be judged.")
        return
    stored = json.loads(json.dumps(energy.detail))
    try:
        facts = facts_from_json(stored["facts"])
        started = session_meter_of(connection, session.session_id)
        meter = started or SessionMeter(  # A contest without a meter.
            bool(stored.get("emulated")), facts.identity, facts.settings
        )
        conversation = read_conversation(members[_METER].splitlines(), meter.settings.element)
    except ValueError as error:
        yield Finding("run.json" if "facts" in str(error) else _METER, f"{error}.")
        return
    of_the_run = added_by_the_run(contest, session, meter)
    from_outside = [reason for reason in facts.added if reason not in of_the_run]
    run = Outside(session, meter, from_outside, facts.suspended_s, conversation)
    rows = readings_of(connection, session.session_id)
    yield from unfounded(run, rows)
    yield from concealed(run, rows)
    result, detail = judge_session(
        contest, session, meter.settings, meter.identity, from_outside, facts.suspended_s
    )
    again = {
        **json.loads(json.dumps(detail)),
        "verdict": result.verdict.value,
        "energy_wh": result.energy_wh,
        "uncertainty_wh": result.uncertainty_wh,
    }
    told = json_difference(_whole(energy, stored), again)
    if told is not None:
        yield Finding(_VERDICT, f"judged again, {told}.")
    if started is not None:
        yield from _of_the_conversation(contest, session, started, conversation)
    elif rows:
        yield Finding("readings.jsonl", "No meter was started, and here are its readings.")


def _whole(energy: Energy, stored: dict[str, Any]) -> dict[str, Any]:
    return {
        **stored,
        "verdict": energy.verdict,
        "energy_wh": energy.energy_wh,
        "uncertainty_wh": energy.uncertainty_wh,
    }


def _of_the_conversation(
    contest: Contest, session: SessionRecord, meter: SessionMeter, conversation: Conversation
) -> Iterator[Finding]:
    """Compare meter, settings and readings with what the meter said on its wire."""
    before = [one for one in conversation.starts if until_its_end(session, one)]
    if not before:
        yield Finding(_METER, "The conversation has no START of this session.")
        return
    for what, found, expected in (
        ("meter's identity", meter.identity, before[-1].identity),
        ("meter's settings before the start", meter.settings, before[-1].settings),
    ):
        if found != expected:
            yield Finding("run.json", f"The {what}: found {found}, the meter said {expected}.")
    places = [*conversation.resources, ""]
    if not meter.emulated and any(is_emulated(place, meter.identity) for place in places):
        who = "unknown" if meter.identity is None else meter.identity.serial
        text = f"It says that a real meter measured: serial {who}, {conversation.resources}."
        yield Finding("run.json", f"{text} These are an emulator's.")
    yield from _readings(contest, session, conversation)


def _readings(
    contest: Contest, session: SessionRecord, conversation: Conversation
) -> Iterator[Finding]:
    """Yield the first reading that the meter did not send."""
    sent, at = conversation.readings, 0
    stored = readings_of(contest.database.connection, session.session_id)
    # The readings of the end are stored together, after those that the schedule took meanwhile.
    in_order = sorted(enumerate(stored, 1), key=lambda numbered: numbered[1][0])
    for number, (_, row) in in_order:
        values = (row.voltage_v, row.current_a, row.power_w, row.energy_wh, row.integration_s)
        place = at
        while place < len(sent):
            one = sent[place]
            near = math.isclose(one.monotonic_s, row.monotonic_s, rel_tol=0, abs_tol=_APART_S)
            if near and one.values == values and one.state == row.state.value:
                break
            place += 1
        if place == len(sent):
            if not conversation.gaps:  # A full disk leaves a line that says how much is missing.
                yield Finding(
                    "readings.jsonl",
                    f"line {number}: the meter's conversation has no such reading.",
                )
                return
            continue
        at = place + 1
