# SPDX-License-Identifier: Apache-2.0
"""A team's report: for everybody once the results are final, and before for who has the slip."""

from __future__ import annotations

import pytest
from flask import Flask
from msgspec import structs

from referee.errors import Refusal
from referee.extras.coach.pages.session import add_scoreboard_routes, session_report
from referee.service.event.result_entry import TrackFigures
from referee.service.evidence.slip import slip_of
from referee.service.results.final_score import score_session
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.scoreboard.view import PublicState, PublicView, ShownEntry
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.contest_truth import read_contest_truth
from referee.store.readings import energy_of
from referee.store.sessions import load_session
from tests.support.fakes import FakeClock


@pytest.fixture
def contest(rehearsal):
    """Return the contest of the played sessions, opened."""
    contest = open_contest(load_config(rehearsal / "contest.toml"), FakeClock())
    yield contest
    contest.database.close()


class Board:
    """A scoreboard with the coach's routes, and the view that the public has of it."""

    def __init__(self, contest):
        self.view = PublicView(
            contest="LPIRC",
            track="network",
            mode="event",
            seconds=20,
            images=3,
            figures=TrackFigures(contest.track.accuracy, contest.track.score),
            entries=[ShownEntry(team="ants, é", session=1, verdict="VALID")],
        )
        app = Flask("test")
        app.register_error_handler(Refusal, lambda refusal: (str(refusal), 404))
        add_scoreboard_routes(app, TeamSessions(contest), lambda: self.view, lambda work: work())
        self.browser = app.test_client()

    def get(self, path):
        """Return status and text of a page."""
        answer = self.browser.get(path)
        return answer.status_code, answer.get_data(as_text=True)


def test_nobody_sees_a_report_before_the_results_are_final(contest):
    """PROVISIONAL and FROZEN refuse; FINAL shows the report of a session that is public."""
    board = Board(contest)
    for state in (PublicState.PROVISIONAL, PublicState.FROZEN):
        board.view = structs.replace(board.view, state=state)
        status, text = board.get("/sessions/1/coach")
        assert (404, True) == (status, "after the results are final" in text)
    board.view = structs.replace(board.view, state=PublicState.FINAL)
    status, text = board.get("/sessions/1/coach")
    assert (200, True) == (status, "Where the energy went" in text)
    assert 404 == board.get("/sessions/2/coach")[0]


def test_the_chain_of_the_slip_opens_the_teams_own_report(contest):
    """With spaces, dashes and any capitals; another session's chain and no chain open nothing."""
    board = Board(contest)
    with contest.database.read() as connection:
        first, second = (slip_of(connection, number).split()[-1] for number in (1, 2))
    assert 200 == board.get(f"/sessions/1/coach?chain={first}")[0]
    assert 200 == board.get(f"/sessions/1/coach?chain={first.lower().replace('-', '%20')}")[0]
    for chain in (second, "", "-", first[:-1], f"{first}0", "é", "9F3A%00", f"{first}&chain=x"[:9]):
        status, text = board.get(f"/sessions/1/coach?chain={chain}")
        assert (404, True) == (status, "the chain of its slip" in text)
    assert board.get("/sessions/9/coach")[1] == board.get("/sessions/2/coach")[1].replace("2", "9")


def test_the_slip_of_an_earlier_score_opens_the_report_too(contest):
    """A team that kept the slip of its first score is still that team after a new score."""
    with contest.database.read() as connection:
        first = slip_of(connection, 1).split()[-1]
    connection = contest.database.connection
    energy = energy_of(connection, 1)
    score_session(contest, read_contest_truth(contest), load_session(connection, 1), energy)
    with contest.database.read() as connection:
        assert first != slip_of(connection, 1).split()[-1]
    assert 200 == Board(contest).get(f"/sessions/1/coach?chain={first}")[0]


def test_no_cache_keeps_the_report_and_its_address_goes_nowhere(contest):
    """The address may hold a team's chain; HEAD shows no more than GET."""
    board = Board(contest)
    with contest.database.read() as connection:
        chain = slip_of(connection, 1).split()[-1]
    for method in ("GET", "HEAD"):
        answer = board.browser.open(f"/sessions/1/coach?chain={chain}", method=method)
        named = ("Cache-Control", "Referrer-Policy")
        assert ["no-store", "no-referrer"] == [answer.headers[name] for name in named]
        refused = board.browser.open(
            "/sessions/1/coach", method=method, headers={"Range": "bytes=0-9"}
        )
        assert 404 == refused.status_code


def test_a_session_without_a_usable_energy_has_no_report(contest):
    """The explanation of such a session goes without the coach."""
    truth = read_contest_truth(contest)
    assert "Coach" == session_report(contest, 1, truth).title
    with contest.database.write() as connection:
        connection.execute(
            "insert into energies (session_id, utc, energy_wh, uncertainty_wh, verdict, detail)"
            " values (2, 'then', null, null, 'INVALID', '{\"reasons\": []}')"
        )
    assert session_report(contest, 2, truth) is None
