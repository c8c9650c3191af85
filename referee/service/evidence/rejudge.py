# SPDX-License-Identifier: Apache-2.0
"""The energy of a bundle judged again: from its readings, and from what the meter itself said.

The judge cannot know what happened to the laptop and to its link. The desk adds such external
findings, and a forger might add or leave out the same. So each needs a ground in the evidence, and
none may be left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from power.emulated import is_emulated
from power.energy.judge import RunFacts, facts_from_json, judge_run
from power.energy.judge_rules import RULE
from power.energy.verdict import EnergyResult, Finding, Verdict
from power.meter import Reading
from power.values import reading_from_json
from power.wt310.recorded import RecordedConversation, Started, read_conversation
from referee.core.states import SessionState, ran_s, state_of
from referee.errors import InputError
from referee.service.evidence.as_signed import read_as_signed
from referee.service.evidence.bundle_file import Mismatch, NotABundle, opened_bundle
from referee.service.evidence.differences import json_difference
from referee.service.results.finding_words import (
    DERIVED,
    JUDGE_RULE,
    JUDGED_BY,
    LATER_THAN_1_0,
    codes_of,
    has_words_of_ours,
    misplaced_words,
    rule_of,
    without_words,
)
from referee.service.results.session_energy import added_by_the_run, judge_again, judge_session
from referee.service.setup.contest import Contest
from referee.store.notices import Notice, notices_of
from referee.store.readings import (
    EnergyRecord,
    SessionMeter,
    energy_of,
    readings_of,
    session_meter_of,
)
from referee.store.sessions import SessionRecord

_METER, _VERDICT, _READINGS = "meter.jsonl", "verdict.json", "readings.jsonl"
# The log's time is taken some microseconds before the reading's, on a busy laptop more.
_APART_S = 5.0

_Rows = Sequence[tuple[float, Reading]]
"""Stored readings with their session times."""

_AT_THE_END = ("meter_used_again", "not_read_at_end")
# The wall clock may be set by this much without a person's doing.
_CLOCK_S = 2.0


def judge_bundle(path: Path) -> EnergyResult:
    """Judge the energy again from the readings and run facts in a bundle, by its own rule.

    Raises `InputError` if the bundle cannot be read or lacks facts that the judge needs. They are
    missing if the session has not ended.
    """
    try:
        with opened_bundle(path) as file:
            members = read_as_signed(file, ("run.json", _VERDICT, _READINGS)).members
        run = json.loads(members["run.json"])
        lines = members[_READINGS].decode("utf-8").splitlines()
    except NotABundle as error:
        finding = error.finding
        raise InputError(f"{path}, {finding.member or 'the file'}: {finding.what}") from None
    except (KeyError, ValueError) as error:
        raise InputError(
            f"{path}: is not a bundle with run.json and readings.jsonl in it ({error})."
        ) from None
    if not isinstance(run, dict) or run.get("facts") is None:
        raise InputError(f"{path}: run.json does not say what measured, so it cannot be judged.")
    try:
        rule = rule_of(json.loads(members[_VERDICT]))
        readings = _in_order(map(json.loads, lines))
        return judge_run(readings, facts_from_json(run["facts"]), rule=rule)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path}: the energy cannot be judged again: {error}.") from None


def _in_order(lines: Iterable[dict[str, Any]]) -> list[Reading]:
    """Return the readings in order, with session time in place of the monotonic clock."""
    readings = []
    for line in lines:
        elapsed_s = line.pop("elapsed_s")
        readings.append(replace(reading_from_json(line), monotonic_s=elapsed_s))
    return sorted(readings, key=lambda reading: reading.monotonic_s)


def energy_findings(
    contest: Contest, session: SessionRecord, members: Mapping[str, bytes]
) -> Iterator[Mismatch]:
    """Judge the energy again from the session's rows; yield what differs from the stored energy.

    The rule is that of the judge who stored it; `later_findings` tells what this version's adds.
    """
    connection = contest.database.connection
    energy = energy_of(connection, session.session_id)
    if energy is None:
        state = state_of(session.facts, contest.clock.now())
        if state is not SessionState.VOID:
            yield Mismatch(_VERDICT, f"The session is {state.value} and has no energy.")
        return
    if "facts" not in energy.detail:
        yield Mismatch("run.json", "It does not say what measured, so the energy cannot be judged.")
        return
    started = session_meter_of(connection, session.session_id)
    measured = _told(energy, started, members)
    if isinstance(measured, Mismatch):
        yield measured
        return
    rule, facts, meter, conversation = measured
    of_the_run = {reason.code for reason in added_by_the_run(contest, session, meter)}
    external = [reason for reason in facts.added if reason.code not in of_the_run]
    run = _ExternalFindings(session, meter, external, facts.suspended_s, conversation)
    rows = readings_of(connection, session.session_id)
    yield from _verify_external_findings(run, rows)
    result, detail = judge_session(
        contest,
        session,
        meter.settings,
        meter.identity,
        external,
        facts.suspended_s,
        facts.stopped_s,
        rule,
    )
    again = replace(
        energy,
        verdict=result.verdict.value,
        energy_wh=result.energy_wh,
        uncertainty_wh=result.uncertainty_wh,
        detail=json.loads(json.dumps(detail)),
    )
    notices = notices_of(connection, session.session_id)
    yield from _differences(energy, again, notices)
    if started is not None:
        yield from _of_the_conversation(contest, session, started, conversation)
    elif rows:
        yield Mismatch("readings.jsonl", "No meter was started, and here are its readings.")


class _Told(NamedTuple):
    """What a bundle tells of the run behind an energy: all that the judge needs but the rows."""

    rule: int
    facts: RunFacts
    meter: SessionMeter
    conversation: RecordedConversation


def _told(
    energy: EnergyRecord, started: SessionMeter | None, members: Mapping[str, bytes]
) -> _Told | Mismatch:
    """Return what is told of the run, or the first thing that cannot be read."""
    stored = json.loads(json.dumps(energy.detail))
    try:
        rule = rule_of(stored)
    except ValueError as error:
        return Mismatch(_VERDICT, f"{JUDGE_RULE}: {error}.")
    try:
        facts = facts_from_json(stored["facts"])
    except ValueError as error:
        return Mismatch("run.json", f"{error}.")
    meter = started or SessionMeter(  # A contest without a meter.
        bool(stored.get("emulated")), facts.identity, facts.settings
    )
    try:
        conversation = read_conversation(members[_METER].splitlines(), meter.settings.element)
    except ValueError as error:
        return Mismatch(_METER, f"{error}.")
    return _Told(rule, facts, meter, conversation)


def _differences(
    energy: EnergyRecord, again: EnergyRecord, notices: Sequence[Notice]
) -> Iterator[Mismatch]:
    """Yield what differs in a second judgement; another version may word findings otherwise."""
    stored = json.loads(json.dumps(energy.detail))
    misplaced = misplaced_words(stored)
    if misplaced is not None:
        yield Mismatch(_VERDICT, misplaced)
    detail = {**again.detail, JUDGED_BY: stored.get(JUDGED_BY)}
    # A session of 1.0 begins with a notice without a subject, if it has one.
    begun_by_1_0 = not notices or notices[0].subject is None
    if JUDGED_BY not in stored and begun_by_1_0:
        detail = {name: one for name, one in detail.items() if name not in LATER_THAN_1_0}
    if JUDGE_RULE not in stored:  # So it is with the first rule.
        del detail[JUDGE_RULE]
    # What follows from other facts of the energy says nothing new where it is absent.
    derived = {name for name in DERIVED if name not in stored}
    detail = {name: one for name, one in detail.items() if name not in derived}
    if not has_words_of_ours(stored):
        stored, detail = without_words(stored), without_words(detail)
    difference = json_difference(_whole(energy, stored), _whole(again, detail))
    if difference is not None:
        yield Mismatch(_VERDICT, f"judged again, {difference}.")


def later_findings(contest: Contest, session: SessionRecord) -> list[Finding]:
    """Return what this version's judge finds in an energy that an earlier rule has judged.

    A note says nothing against an energy, so it is left out.
    """
    energy = energy_of(contest.database.connection, session.session_id)
    if energy is None or rule_of(energy.detail) == RULE:
        return []
    result, _ = judge_again(contest, session, energy)
    known = codes_of(energy.detail)
    return [
        finding
        for finding in result.findings
        if finding.severity is not Verdict.VALID
        and (finding.code, finding.severity.value) not in known
    ]


def _whole(energy: EnergyRecord, detail: dict[str, object]) -> dict[str, object]:
    return {
        **detail,
        "verdict": energy.verdict,
        "energy_wh": energy.energy_wh,
        "uncertainty_wh": energy.uncertainty_wh,
    }


def _of_the_conversation(
    contest: Contest,
    session: SessionRecord,
    meter: SessionMeter,
    conversation: RecordedConversation,
) -> Iterator[Mismatch]:
    """Compare meter, settings and readings with what the meter said on its wire."""
    before = [one for one in conversation.starts if _until_its_end(session, one)]
    if not before:
        yield Mismatch(_METER, "The conversation has no START of this session.")
        return
    for what, found, expected in (
        ("meter's identity", meter.identity, before[-1].identity),
        ("meter's settings before the start", meter.settings, before[-1].settings),
    ):
        if found != expected:
            yield Mismatch("run.json", f"The {what}: found {found}, the meter said {expected}.")
    places = [*conversation.resources, ""]
    if not meter.emulated and any(is_emulated(place, meter.identity) for place in places):
        who = "unknown" if meter.identity is None else meter.identity.serial
        text = f"It says that a real meter measured: serial {who}, {conversation.resources}."
        yield Mismatch("run.json", f"{text} These are an emulator's.")
    yield from _readings(contest, session, conversation)


def _readings(
    contest: Contest, session: SessionRecord, conversation: RecordedConversation
) -> Iterator[Mismatch]:
    """Yield the first reading that the meter did not send."""
    sent, at = conversation.readings, 0
    stored = readings_of(contest.database.connection, session.session_id)
    # The readings of the end are stored together, after those that the schedule took meanwhile.
    in_order = sorted(enumerate(stored, 1), key=lambda numbered: numbered[1][0])
    for number, (_, row) in in_order:
        values = (row.voltage_v, row.current_a, row.power_w, row.energy_wh, row.integration_s)
        place = at
        while place < len(sent):
            reading = sent[place]
            near = math.isclose(reading.monotonic_s, row.monotonic_s, rel_tol=0, abs_tol=_APART_S)
            if near and reading.values == values and reading.state == row.state.value:
                break
            place += 1
        if place == len(sent):
            if not conversation.gaps:  # A full disk leaves a line that says how much is missing.
                yield Mismatch(
                    "readings.jsonl",
                    f"line {number}: the meter's conversation has no such reading.",
                )
                return
            continue
        at = place + 1


@dataclass(frozen=True)
class _ExternalFindings:
    """What was added to a session's judgement: findings, and how long the laptop slept."""

    session: SessionRecord
    meter: SessionMeter
    reasons: Sequence[Finding]
    slept_s: float
    conversation: RecordedConversation

    @property
    def codes(self) -> set[str]:
        """Return the codes of the findings."""
        return {reason.code for reason in self.reasons}

    @property
    def used_again(self) -> bool:
        """Tell whether the meter got a START after the session's end."""
        return not all(_until_its_end(self.session, start) for start in self.conversation.starts)

    @property
    def replaced(self) -> bool:
        """Tell whether another meter answered last than at the start."""
        began = self.meter.identity
        serials = [identity.serial for identity in self.conversation.identities]
        return bool(serials) and serials[-1] != (None if began is None else began.serial)


def _until_its_end(session: SessionRecord, start: Started) -> bool:
    """Tell whether a START came before the session's end; the wall clock counts across a boot."""
    begun, ended = session.facts.started, session.facts.ended
    if ended is None:
        return True
    if begun is not None and begun.boot_id == ended.boot_id:
        return start.monotonic_s <= ended.monotonic_s
    return start.utc <= ended.utc


def _verify_external_findings(run: _ExternalFindings, rows: _Rows) -> Iterator[Mismatch]:
    """Compare the findings that were added with what the evidence shows."""
    yield from _unfounded(run, rows)
    yield from _concealed(run, rows)


def _unfounded(run: _ExternalFindings, rows: _Rows) -> Iterator[Mismatch]:
    """Yield what was added, and has no ground in the evidence."""
    for reason in run.reasons:
        founded = {
            "meter_used_again": run.used_again,
            "meter_replaced": run.replaced,
            # No reading of the end was stored, so the judge finds no confirmed end either.
            "not_read_at_end": True,
        }.get(reason.code, False)
        if not founded:
            yield Mismatch(
                "run.json", f"Nothing in the evidence says '{reason.code}': {reason.text}"
            )
    if run.slept_s > _CLOCK_S and not run.codes and _awake(run.slept_s, rows):
        yield Mismatch(
            "run.json", f"Nothing in the evidence says that the laptop slept {run.slept_s:.1f} s."
        )


def _concealed(run: _ExternalFindings, rows: _Rows) -> Iterator[Mismatch]:
    """Yield what the evidence shows, and was not added."""
    facts = run.session.facts
    seconds = ran_s(facts)
    if seconds is None or not rows:
        return
    if run.replaced and not run.codes & {"meter_replaced", *_AT_THE_END}:
        yield Mismatch(
            "run.json", "Another meter answered last, and nothing says 'meter_replaced'."
        )
    if max(elapsed_s for elapsed_s, _ in rows) >= seconds or run.codes & {*_AT_THE_END}:
        return
    code = "meter_used_again" if run.used_again else "not_read_at_end"
    yield Mismatch("run.json", f"The meter was not read after the end, and nothing says '{code}'.")


def _awake(slept_s: float, rows: _Rows) -> bool:
    """Tell whether the wall clock never went so much further than the laptop's own clock."""
    ahead_s = 0.0
    for (_, before), (_, after) in pairwise(rows):
        passed_s = after.monotonic_s - before.monotonic_s
        if passed_s < 0:  # The laptop was started anew, and with it its own clock.
            return False
        ahead_s += max(0.0, (after.utc - before.utc).total_seconds() - passed_s)
    return ahead_s < slept_s - _CLOCK_S
