# SPDX-License-Identifier: Apache-2.0
"""The missing parts of a session's evidence, and the wait for them."""

from __future__ import annotations

import pytest

from referee.core.detections import Detections, pack
from referee.errors import Refusal, Unavailable
from referee.service.evidence.completeness import missing_from, wait_until_complete
from referee.service.results.final_score import score_session
from referee.service.setup.contest_truth import read_contest_truth
from referee.store.answers import Answer, insert_answer
from referee.store.readings import energy_of, insert_energy
from referee.store.sessions import create_session, load_session, record_event


@pytest.fixture
def session_id(contest):
    """Return a session that nobody has armed yet."""
    with contest.database.write() as connection:
        return create_session(
            connection, team="ants", length_s=600.0, order_seed=None, now=contest.clock.now()
        )


def happen(contest, session_id, *kinds):
    """Record events now."""
    cause = {"ended": "logout", "voided": "the cable was out"}
    with contest.database.write() as connection:
        for kind in kinds:
            now = contest.clock.now()
            record_event(connection, session_id, kind, now, actor="x", cause=cause.get(kind))


def judge(contest, session_id):
    """Judge an energy."""
    with contest.database.write() as connection:
        insert_energy(
            connection,
            session_id,
            utc="",
            energy_wh=0.5,
            uncertainty_wh=None,
            verdict="VALID",
            detail={"reasons": []},
        )


def score(contest, session_id):
    """Score the session with its energy."""
    connection = contest.database.connection
    session, energy = load_session(connection, session_id), energy_of(connection, session_id)
    score_session(contest, read_contest_truth(contest), session, energy)


def text_of(contest, session_id):
    """Return the missing parts in words."""
    return missing_from(contest, session_id).text


def test_each_state_says_what_is_missing(contest, session_id):
    """From READY to SCORED a session's evidence lacks less and less; a scored one lacks nothing."""
    assert "Session 1 of 'ants' is READY: it has not run yet." == text_of(contest, session_id)
    happen(contest, session_id, "armed")
    assert "Session 1 of 'ants' is ARMED: it has not run yet." == text_of(contest, session_id)
    happen(contest, session_id, "started")
    contest.clock.advance(10)
    assert "Session 1 of 'ants' runs for another 590 s." == text_of(contest, session_id)
    happen(contest, session_id, "ended")
    assert "Session 1 of 'ants' has no energy and no score yet." == text_of(contest, session_id)
    judge(contest, session_id)
    expected = "Session 1 of 'ants' has an energy, and no score of it yet."
    assert expected == text_of(contest, session_id)
    score(contest, session_id)
    assert missing_from(contest, session_id) is None
    happen(contest, session_id, "sealed")
    assert missing_from(contest, session_id) is None


def test_a_deadline_ends_a_session_that_nobody_ended(contest, session_id):
    """After the deadline only the energy is missing, even if nobody recorded the end."""
    happen(contest, session_id, "armed", "started")
    contest.clock.advance(600)
    assert "Session 1 of 'ants' has no energy and no score yet." == text_of(contest, session_id)


def test_a_score_of_older_facts_is_not_complete(contest, session_id):
    """A new energy or a new answer makes the old score incomplete."""
    happen(contest, session_id, "armed", "started", "ended")
    for newer in (judge, lambda *where: answer(*where)):
        judge(contest, session_id)
        score(contest, session_id)
        assert missing_from(contest, session_id) is None
        newer(contest, session_id)
        assert "no score of it yet" in text_of(contest, session_id)


def answer(contest, session_id):
    """Store an answer in time."""
    detections = Detections.from_rows([(1, 1, 0.5, 1, 2, 3, 4)])
    with contest.database.write() as connection:
        row = Answer(session_id, 1.0, "", False, "csv", "", 1, 0, pack(detections))
        insert_answer(connection, row)


def test_a_void_session_never_has_a_score(contest, session_id):
    """A void session says its reason, whether or not it was scored before."""
    happen(contest, session_id, "armed", "started", "ended")
    judge(contest, session_id)
    score(contest, session_id)
    happen(contest, session_id, "voided")
    missing = missing_from(contest, session_id)
    assert missing.text == (
        "Session 1 of 'ants' is VOID (the cable was out): it has no score that counts."
    )
    assert missing.to_come_s is None


def test_an_unknown_session_is_refused(contest):
    """A session number that does not exist is refused by name."""
    with pytest.raises(Refusal, match="9"):
        missing_from(contest, 9)


class Waiting:
    """A wait on the contest's fake clock; `at` maps seconds from now to actions."""

    def __init__(self, contest, session_id, at=None, hosted=True):
        self.contest = contest
        self.session_id = session_id
        self.at = dict(at or {})
        self.hosted = hosted
        self.told = []
        self.waited_s = 0.0

    def run(self, wait_s=150.0):
        """Wait until the evidence is complete or the wait is refused."""
        wait_until_complete(
            self.contest,
            self.session_id,
            wait_s=wait_s,
            is_hosted=lambda: self.hosted,
            pause=self._pause,
            tell=self.told.append,
        )

    def _pause(self, seconds):
        self.contest.clock.advance(seconds)
        self.waited_s += seconds
        for due in [due for due in self.at if due <= self.waited_s]:
            self.at.pop(due)(self.contest, self.session_id)


def test_energy_and_score_are_waited_for(contest, session_id):
    """The export right after a logout waits for energy and score, and says so."""
    happen(contest, session_id, "armed", "started", "ended")
    waiting = Waiting(contest, session_id, {2.0: judge, 3.0: score})
    waiting.run()
    assert 3.0 == waiting.waited_s
    assert waiting.told[0] == (
        "Session 1 of 'ants' has no energy and no score yet. Waiting, 0 of at most 150 s."
    )
    assert "has an energy, and no score of it yet. Waiting, 2 of" in waiting.told[-1]


def test_what_is_complete_is_not_waited_for(contest, session_id):
    """A scored session is exported at once, even where no servers run."""
    happen(contest, session_id, "armed", "started", "ended")
    judge(contest, session_id)
    score(contest, session_id)
    waiting = Waiting(contest, session_id, hosted=False)
    waiting.run(wait_s=0.0)
    assert (0.0, []) == (waiting.waited_s, waiting.told)


def test_the_wait_has_an_end(contest, session_id):
    """At the end of its time the wait names the missing parts."""
    happen(contest, session_id, "armed", "started", "ended")
    waiting = Waiting(contest, session_id)
    with pytest.raises(Unavailable, match="has no energy and no score yet. Waited 20 s."):
        waiting.run(wait_s=20.0)


def test_nobody_is_waited_for_where_no_servers_run(contest, session_id):
    """Where no servers run the wait is refused at once."""
    happen(contest, session_id, "armed", "started", "ended")
    waiting = Waiting(contest, session_id, hosted=False)
    with pytest.raises(Unavailable, match="no energy and no score yet. Nobody is scoring"):
        waiting.run()
    assert 0.0 == waiting.waited_s


def test_servers_that_end_end_the_wait(contest, session_id):
    """The wait ends when the servers stop."""
    happen(contest, session_id, "armed", "started", "ended")
    waiting = Waiting(contest, session_id)
    waiting.at = {5.0: lambda *where: setattr(waiting, "hosted", False)}
    with pytest.raises(Unavailable, match="Nobody is scoring"):
        waiting.run()
    assert 5.0 == waiting.waited_s


@pytest.mark.parametrize("kinds", [(), ("armed",), ("armed", "voided")])
def test_what_will_not_come_is_not_waited_for(contest, session_id, kinds):
    """A session that has not run or is VOID is refused at once."""
    happen(contest, session_id, *kinds)
    waiting = Waiting(contest, session_id)
    with pytest.raises(Unavailable, match="Session 1 of 'ants' is (READY|ARMED|VOID)"):
        waiting.run()
    assert 0.0 == waiting.waited_s


def test_a_session_that_runs_longer_than_the_wait_is_refused_at_once(contest, session_id):
    """The wait covers a running session that ends in time, and refuses a longer one at once."""
    happen(contest, session_id, "armed", "started")
    with pytest.raises(Unavailable, match="runs for another 600 s. Waited 0 s."):
        Waiting(contest, session_id).run()
    contest.clock.advance(590)
    events = {10.0: lambda *where: happen(*where, "ended"), 11.0: judge, 12.0: score}
    waiting = Waiting(contest, session_id, events)
    waiting.run()
    assert 12.0 == waiting.waited_s
