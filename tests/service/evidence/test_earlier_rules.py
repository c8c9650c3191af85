# SPDX-License-Identifier: Apache-2.0
"""A bundle of an earlier version is judged by its own rule; the new findings are remarks."""

from __future__ import annotations

import argparse
import json

import pytest

from power.energy.judge_rules import FIRST_RULE, RULE
from referee.commands import verify as command
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.rejudge import energy_findings, judge_bundle, later_findings
from referee.service.evidence.verify import Verified
from referee.service.results import session_energy
from referee.service.results.finding_words import JUDGE_RULE, JUDGED_BY
from referee.store.readings import energy_of
from referee.store.sessions import load_session
from tests.service.evidence import test_every_rule as rules
from tests.service.evidence.test_every_rule import AUTO, Run, contest, every, with_changes

__all__ = ["contest"]

CUT = {"current_peak_a": 3.33}
LATER = {
    "clipping": Run(with_changes(9, **CUT)),
    "never_settled": Run(every(power_w=None, absent={"power_w": "no data"}), AUTO),
}


def stored_by(rule, contest, run, monkeypatch):
    """Store a run as the judge of a rule did; return its session."""

    def by_then(*facts, **more):
        result, detail = session_energy.judge_session(*facts, rule=rule, **more)
        if rule == FIRST_RULE:
            del detail[JUDGE_RULE]
            detail[JUDGED_BY] = "0.9"
        return result, detail

    with monkeypatch.context() as earlier:
        earlier.setattr(rules, "judge_session", by_then)
        number, _ = rules.stored(contest, run, without="")
    return load_session(contest.database.connection, number)


def judged_again(contest, session):
    """Return what the second judgement of a session finds to differ."""
    log = {"meter.jsonl": contest.config.wire_log_of(1).read_bytes()}
    found = energy_findings(contest, session, log)
    return [one.what for one in found if "judged again" in one.what or JUDGE_RULE in one.what]


@pytest.mark.parametrize("code", LATER)
def test_what_an_earlier_rule_judged_holds_by_it(contest, monkeypatch, tmp_path, code):
    """The energy is as it was stored, and what the new rule finds is a remark of its own."""
    session = stored_by(FIRST_RULE, contest, LATER[code], monkeypatch)
    energy = energy_of(contest.database.connection, session.session_id)
    assert "SUSPECT" == energy.verdict
    assert energy.energy_wh
    assert [] == judged_again(contest, session)
    told = [(one.code, one.severity.value) for one in later_findings(contest, session)]
    assert [(code, "INVALID")] == told
    write_bundle(contest, session.session_id, tmp_path / "old.zip")
    assert energy.energy_wh == judge_bundle(tmp_path / "old.zip").energy_wh


@pytest.mark.slow
def test_every_run_is_the_same_by_the_rule_that_is_stored_with_it(contest, monkeypatch):
    """An energy of each rule, of each kind of run, is judged again to what was stored."""
    for rule in (FIRST_RULE, RULE):
        for code, run in rules.RUNS.items():
            session = stored_by(rule, contest, run, monkeypatch)
            assert [] == judged_again(contest, session), (rule, code)
            if rule == RULE:
                assert [] == later_findings(contest, session)


def test_a_rule_of_a_later_version_is_named(contest, monkeypatch):
    """Nobody here knows it, so nothing is judged by another one in its place."""
    session = stored_by(RULE, contest, Run(), monkeypatch)
    by_now = energy_of

    def later(connection, number):
        energy = by_now(connection, number)
        energy.detail[JUDGE_RULE] = RULE + 1
        return energy

    monkeypatch.setattr("referee.service.evidence.rejudge.energy_of", later)
    (told,) = judged_again(contest, session)
    assert "3 is no rule of judging that this version knows" in told


def test_verify_prints_the_remarks_of_a_bundle_that_holds(contest, monkeypatch, capsys, tmp_path):
    """They are lines and values beside what holds, and the exit code stays 0."""
    session = stored_by(FIRST_RULE, contest, LATER["clipping"], monkeypatch)
    outcome = Verified(remarks=later_findings(contest, session))
    monkeypatch.setattr("referee.service.evidence.verify.verified", lambda asked: outcome)
    path = tmp_path / "session1.zip"
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    arguments = [str(path), "--ground-truth", str(path)]
    assert 0 == command.run(parser.parse_args(arguments))
    assert "remark: by the rules of this version the energy would be INVALID" in (
        capsys.readouterr().out
    )
    assert 0 == command.run(parser.parse_args([*arguments, "--json"]))
    (remark,) = json.loads(capsys.readouterr().out)["remarks"]
    assert ("clipping", "INVALID") == (remark["code"], remark["severity"])
