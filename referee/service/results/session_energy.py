# SPDX-License-Identifier: Apache-2.0
"""The energy of an ended session: what the judge says of its stored readings and facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from power.emulated import is_emulated
from power.energy.conditions import conditions_from_json
from power.energy.judge import RunFacts, facts_from_json, facts_to_json, judge_run
from power.energy.judge_rules import RULE
from power.energy.verdict import (
    EnergyResult,
    Finding,
    finding_to_json,
    note,
    result_to_json,
    suspect,
)
from power.meter import Identity, MeterSettings, Reading
from referee import __version__
from referee.core.states import ran_s
from referee.errors import Unavailable
from referee.service.results.finding_words import (
    IMAGES_MISSING,
    JUDGE_RULE,
    JUDGED_BY,
    NOTICES_OF_1_0,
    judged_again_by,
)
from referee.service.results.unmeasured import unmeasured_times
from referee.service.setup.contest import Contest
from referee.service.setup.image_files import missing_images
from referee.store.notices import notices_of
from referee.store.readings import (
    EnergyRecord,
    SessionMeter,
    boots_of,
    readings_of,
    session_meter_of,
)
from referee.store.sessions import SessionRecord

# What the detail of an energy takes over from the judgement as it is.
_ADDED = ("budget_wh", "over_one_percent", "conditions", "element", "elements")


def judge_session(
    contest: Contest,
    session: SessionRecord,
    settings: MeterSettings,
    identity: Identity | None,
    findings: Sequence[Finding],
    slept_s: float = 0.0,
    between_s: tuple[float, float] | None = None,
    rule: int = RULE,
) -> tuple[EnergyResult, dict[str, object]]:
    """Return a session's energy, and the detail for the database.

    `findings` holds the findings from reading the final energy. The laptop slept for `slept_s`. Our
    STOP ended the integration `between_s` after its START, at least and at most. The
    detail's `facts` hold everything that a second judgement needs beside the readings (see
    `RunFacts`). The detail's `emulated` says whether an emulator measured. A session without a
    meter has stored neither settings nor identity; `settings` and `identity` replace them.
    Conditions are those at the start, whatever the configuration says by now. `rule` is that of the
    judge.
    """
    connection, number = contest.database.connection, session.session_id
    configured = contest.config.lane(session.lane).meter
    meter = session_meter_of(connection, number)
    if meter is None:
        stand_in = replace(settings, timer_s=int(session.facts.length_s))
        emulated = is_emulated(configured.resource, identity)
        meter = SessionMeter(emulated, identity, stand_in)
    added = [*findings, *added_by_the_run(contest, session, meter)]
    facts = RunFacts(
        meter.identity,
        meter.settings,
        added=tuple(added),
        suspended_s=slept_s,
        conditions=(
            configured.conditions
            if meter.conditions is None
            else conditions_from_json(meter.conditions)
        ),
        stopped_s=between_s,
    )
    readings = _in_session_seconds(readings_of(connection, number))
    session_s = seconds_run(session)
    facts = (
        facts.ended(session_s, readings[-1]) if readings else replace(facts, session_s=session_s)
    )
    result = judge_run(readings, facts, rule=rule)
    typed = _typed(contest, session, __version__, rule)
    return result, typed | _detail(result, facts, meter.emulated)


def judge_again(
    contest: Contest, session: SessionRecord, energy: EnergyRecord
) -> tuple[EnergyResult, dict[str, object]]:
    """Return a session's energy as the present judge sees it, and the detail for the database.

    The judge gets the stored readings, and the facts of the first judgement. Raises ValueError if
    the stored energy lacks these facts.
    """
    facts = facts_from_json(energy.detail.get("facts", {}))
    stored = readings_of(contest.database.connection, session.session_id)
    result = judge_run(_in_session_seconds(stored), facts)
    typed = _typed(contest, session, judged_again_by(energy.detail), RULE)
    return result, typed | _detail(result, facts, energy.emulated)


def seconds_run(session: SessionRecord) -> float:
    """Return the time that an ended session has run, in seconds."""
    seconds = ran_s(session.facts)
    if seconds is None:
        raise Unavailable(f"Session {session.session_id} has no start or no end.")
    return seconds


def added_by_the_run(
    contest: Contest, session: SessionRecord, meter: SessionMeter
) -> list[Finding]:
    """Return the findings that follow from a session's rows, and that the judge cannot know."""
    findings = []
    if boots_of(contest.database.connection, session.session_id) > 1:
        text = "The referee's laptop was started anew during the session."
        findings.append(suspect("rebooted", text))
    findings += [
        idle.finding()
        for idle in unmeasured_times(contest.database.connection, session.session_id, meter)
    ]
    lost = missing_images(notices_of(contest.database.connection, session.session_id))
    if lost:
        listed = ", ".join(map(str, lost))
        text = (
            f"The team could not get these images, by their ids: {listed}. They were gone or "
            "changed on the referee's disk. Leave them out or run again, by your rules."
        )
        findings.append(suspect("images_missing", text))
    if meter.emulated and contest.config.contest.mode == "event":
        text = "The meter was an emulator: this energy is not official."
        findings.append(note("emulated", text))
    return findings


def _in_session_seconds(stored: Sequence[tuple[float, Reading]]) -> list[Reading]:
    """Return the readings in order, with session time in place of the monotonic clock.

    Session time continues across a reboot. The monotonic clock does not.
    """
    in_order = sorted(stored, key=lambda pair: pair[0])
    return [replace(reading, monotonic_s=second) for second, reading in in_order]


def _typed(
    contest: Contest, session: SessionRecord, judged_by: str, rule: int
) -> dict[str, object]:
    """Return what an energy's detail tells beside the judgement, so that no text need tell it."""
    notices = notices_of(contest.database.connection, session.session_id)
    return {
        JUDGED_BY: judged_by,
        JUDGE_RULE: rule,
        IMAGES_MISSING: missing_images(notices),
        NOTICES_OF_1_0: sum(notice.subject is None for notice in notices),
    }


def _detail(result: EnergyResult, facts: RunFacts, emulated: bool) -> dict[str, object]:
    judged = result_to_json(result)
    return {
        **{name: judged[name] for name in _ADDED},
        "reasons": [finding.text for finding in result.findings],
        "findings": [finding_to_json(finding) for finding in result.findings],
        "integrator_wh": result.integrator_wh,
        "cross_check_wh": result.cross_check_wh,
        "integration_s": result.integration_s,
        "session_s": result.session_s,
        "duration_s": result.duration_s,
        "duration_uncertainty_s": result.duration_uncertainty_s,
        "emulated": emulated,
        "facts": facts_to_json(facts),
    }
