# SPDX-License-Identifier: Apache-2.0
"""The judgement of an ended session's energy, with the facts behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from power.energy.judge import RunFacts, facts_to_json, judge_run
from power.energy.verdict import EnergyResult, Finding, finding_to_json, note, suspect
from power.meter import Identity, MeterSettings, Reading
from referee.core.instant import seconds_between
from referee.errors import Unavailable
from referee.service.setup.contest import Contest
from referee.store.readings import SessionMeter, boots_of, readings_of, session_meter_of
from referee.store.sessions import SessionRecord


def judge_session(
    contest: Contest,
    session: SessionRecord,
    settings: MeterSettings,
    identity: Identity | None,
    found: Sequence[Finding],
) -> tuple[EnergyResult, dict[str, Any]]:
    """Return a session's energy, and the detail for the database.

    `found` holds the findings from reading the final energy. The detail's `facts` hold everything
    that a second judgement needs beside the readings (see `RunFacts`). The detail's
    `emulated` says whether an emulator measured. A session of schema 1 stored neither settings nor
    identity; `settings` and `identity` replace them.
    """
    connection, number = contest.database.connection, session.session_id
    meter = session_meter_of(connection, number)
    if meter is None:
        stand_in = replace(settings, timer_s=int(session.facts.length_s))
        meter = SessionMeter(contest.config.meter.emulated, identity, stand_in)
    added = [*found, *_of_the_run(contest, meter, boots_of(connection, number))]
    facts = RunFacts(meter.identity, meter.settings, added=tuple(added))
    readings = _in_session_seconds(readings_of(connection, number))
    session_s = seconds_run(session)
    facts = (
        facts.ended(session_s, readings[-1]) if readings else replace(facts, session_s=session_s)
    )
    result = judge_run(readings, facts)
    return result, _detail(result, facts, meter.emulated)


def seconds_run(session: SessionRecord) -> float:
    """Return the length of an ended session in seconds, from its start to its end."""
    facts = session.facts
    if facts.started is None or facts.ended is None:
        raise Unavailable(f"Session {session.session_id} has no start or no end.")
    return seconds_between(facts.started, facts.ended)


def _of_the_run(contest: Contest, meter: SessionMeter, boots: int) -> list[Finding]:
    found = []
    if boots > 1:
        text = "The referee's laptop was started anew during the session."
        found.append(suspect("rebooted", text))
    if meter.emulated and contest.config.contest.mode == "event":
        text = "The meter was an emulator: this energy is not official."
        found.append(note("emulated", text))
    return found


def _in_session_seconds(stored: Sequence[tuple[float, Reading]]) -> list[Reading]:
    """Return the readings in order, with session time in place of the monotonic clock.

    Session time continues across a reboot. The monotonic clock does not.
    """
    in_order = sorted(stored, key=lambda pair: pair[0])
    return [replace(reading, monotonic_s=second) for second, reading in in_order]


def _detail(result: EnergyResult, facts: RunFacts, emulated: bool) -> dict[str, Any]:
    return {
        "reasons": [finding.text for finding in result.findings],
        "findings": [finding_to_json(finding) for finding in result.findings],
        "integrator_wh": result.integrator_wh,
        "cross_check_wh": result.cross_check_wh,
        "integration_s": result.integration_s,
        "session_s": result.session_s,
        "emulated": emulated,
        "facts": facts_to_json(facts),
    }
