# SPDX-License-Identifier: Apache-2.0
"""The pages of teams and results act by name, with the page's key, and refuse in words."""

from __future__ import annotations

import pytest

from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.event.rescoring import Filter, make_proposal
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.events import desk_event
from tests.support.fakes import FakeClock

ACTIONS = tuple(
    "/teams/add /teams/lottery /teams/order /teams/defer /teams/rename /teams/withdraw "
    "/teams/return /results/finalize /results/reopen /sessions/1/review /sessions/review "
    "/proposals/1/apply /proposals/1/cancel /scoreboard/freeze /scoreboard/unfreeze "
    "/break/begin /break/end".split()
)


class Pages:
    """An event with its console's application."""

    def __init__(self, event, client):
        self.event, self.client = event, client
        self.key = client.get("/form-key").get_json()["key"]

    def do(self, path, operator="Kim", **arguments):
        """Post an action; return the status and the answer."""
        arguments |= {"operator": operator} if operator is not None else {}
        done = self.client.post(path, json=arguments, headers={"X-Form-Key": self.key})
        return done.status_code, done.get_json()

    def names(self):
        """Return the teams as the page lists them."""
        return [team["team"] for team in self.client.get("/teams/now").get_json()["teams"]]

    def results(self):
        """Return the results as the page gets them."""
        return self.client.get("/results/now").get_json()["results"]


@pytest.fixture
def pages(tmp_path):
    """Return the pages of an event of three teams."""
    with desk_event(tmp_path, FakeClock()) as event:
        event.register("ants", "bees", "wasps")
        desk = event.desk
        board = Board(event.contest, [ShownLane(lambda: desk.lanes[0].metering.status)])
        app = console_app(event.contest, desk, board, Broadcast(board.show, 2))
        yield Pages(event, app.test_client())


def test_a_scored_session_has_a_slip_to_print(pages):
    """The slip's page and the session's card have the same line; before the score there is none."""
    number = pages.event.play("ants")
    slip = pages.client.get(f"/sessions/{number}").get_json()["slip"]
    page = pages.client.get(f"/sessions/{number}/slip")
    assert slip.startswith(f"session {number} score ")
    assert (200, True) == (page.status_code, slip in page.get_data(as_text=True))
    assert 409 == pages.client.get("/sessions/99/slip").status_code


def test_documents_stay_the_same_while_nothing_happens(pages):
    """Time alone changes no byte, so a page has no reason to draw its buttons anew."""
    looks = []
    for _ in range(2):
        looks.append([pages.client.get(f"/{name}/now").data for name in ("teams", "results")])
        pages.event.contest.clock.advance(60)
    assert looks[0] == looks[1]


@pytest.mark.parametrize("path", ACTIONS)
def test_no_action_without_the_pages_key(pages, path):
    """Another site's page cannot act, because it cannot read the key."""
    done = pages.client.post(path, json={"operator": "Kim", "reason": "x"})
    assert (409, "form_key_wrong") == (done.status_code, done.get_json()["code"])


@pytest.mark.parametrize("path", [one for one in ACTIONS if one != "/results/finalize"])
def test_no_action_without_a_name(pages, path):
    """Whoever acts is on record."""
    for operator in (None, "", "  "):
        status, answer = pages.do(path, operator, reason="x", teams=["ants"], names=["x"])
        assert (409, "name_missing") == (status, answer["code"])


@pytest.mark.parametrize("path", ["/teams", "/results"])
def test_the_pages_are_served(pages, path):
    """Each page is HTML and may load only from here."""
    with pages.client.get(path) as page:
        assert (200, "text/html; charset=utf-8") == (page.status_code, page.content_type)
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]


def test_the_order_is_drawn_set_and_shown(pages):
    """Lottery and order by hand answer with an order; a second one needs a reason."""
    assert (200, {}) == pages.do("/teams/lottery", seed="noon")
    assert (409, "input_wrong") == (
        (answer := pages.do("/teams/order", teams=["bees"]))[0],
        answer[1]["code"],
    )
    assert 200 == pages.do("/teams/order", teams=["wasps", "bees", "ants"], reason="train")[0]
    assert ["wasps", "bees", "ants"] == pages.names()


@pytest.mark.parametrize("teams", [None, "ants", [], [1], [None], ["a\nb"], [["ants"]]])
def test_an_order_of_no_names_is_refused(pages, teams):
    """A post that no page sends changes nothing and is no failure of the desk."""
    status, _ = pages.do("/teams/order", teams=teams)
    # A name that may be one, of no team, is a refusal of the list.
    assert (409 if teams == [None] else 400, None) == (
        status,
        pages.client.get("/teams/now").get_json()["order"],
    )


def test_a_team_is_registered_from_the_page(pages):
    """It is on the list at once with what was said of it, and a second press is told in words."""
    said = {"team": "  Busy  Ants ", "organisation": " Uni  North ", "prizes": False}
    assert (200, {}) == pages.do("/teams/add", **said)
    status, answer = pages.do("/teams/add", **said)
    assert (409, "input_wrong") == (status, answer["code"])
    assert "is registered already" in answer["text"]
    team = pages.client.get("/teams/now").get_json()["teams"][-1]
    assert ("Busy Ants", "Uni North", False, True, False) == tuple(
        team[name] for name in ("team", "organisation", "prizes", "runs_sessions", "has_password")
    )
    assert 200 == pages.do("/teams/add", team="moths", sessions=False)[0]
    assert "moths" not in pages.client.get("/board").get_json()["teams"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"team": ""}, "input_wrong"),
        ({"team": "moths", "lane": "left"}, "input_wrong"),
        ({"team": "moths", "prizes": "no"}, "choice_wrong"),
        ({"team": "moths", "organisation": "a\nb"}, "text_wrong"),
    ],
)
def test_a_registration_that_cannot_be_is_refused(pages, said, code):
    """No name, a lane that is not there, or what no page sends: nobody is registered."""
    status, answer = pages.do("/teams/add", **said)
    assert (409 if code == "input_wrong" else 400, code) == (status, answer["code"])
    assert {"ants", "bees", "wasps"} == set(pages.names())


def test_a_login_is_chosen_on_the_page_and_stays(pages):
    """The list has each team's login; a renaming keeps it, and a taken one is told in words."""
    assert 200 == pages.do("/teams/add", team="東京大学", login="Todai")[0]
    assert 200 == pages.do("/teams/rename", team="東京大学", new_name="京都大学")[0]
    team = pages.client.get("/teams/now").get_json()["teams"][-1]
    assert ("京都大学", "todai") == (team["team"], team["login"])
    for said, told in (
        (
            {"team": "x", "login": "todai"},
            "'todai' is the login of '京都大学'. Choose another login.",
        ),
        ({"team": "TODAI"}, "'todai' is the login of '京都大学': choose another name."),
        ({"team": "x", "login": "a b"}, "'a b' is no login."),
    ):
        status, answer = pages.do("/teams/add", **said)
        assert (409, True) == (status, told in answer["text"])


def test_teams_are_renamed_withdrawn_and_brought_back(pages):
    """Each change shows on the page and in the board's list, and twice is as once."""
    for _ in range(2):
        assert 200 == pages.do("/teams/rename", team="ants", new_name="hornets")[0]
        assert 200 == pages.do("/teams/withdraw", team="bees", reason="ill")[0]
    assert ["hornets", "wasps"] == pages.client.get("/board").get_json()["teams"]
    done = pages.client.post("/sessions", json={"team": "bees"}, headers={"X-Form-Key": pages.key})
    assert (409, "team_withdrawn") == (done.status_code, done.get_json()["code"])
    assert 200 == pages.do("/teams/return", team="bees", reason="well")[0]
    assert {"hornets", "bees", "wasps"} == set(pages.names())


def test_results_from_review_to_approval(pages):
    """The page reviews, withdraws, approves and opens again, as the commands do."""
    pages.event.play("ants", verdict="SUSPECT")
    pages.event.play("bees")
    status, answer = pages.do("/results/finalize", names=["Ada"])
    assert (409, "results_open") == (status, answer["code"])
    assert 200 == pages.do("/sessions/1/review", reason="looked at it")[0]
    assert 200 == pages.do("/teams/withdraw", team="wasps", reason="did not come")[0]
    for _ in range(2):
        assert 200 == pages.do("/results/finalize", names=["Ada", "Grace"])[0]
    assert (True, ["Ada", "Grace"]) == (
        pages.results()["final"],
        pages.results()["approved_by"],
    )
    assert 409 == pages.do("/teams/withdraw", team="bees", reason="x")[0]
    assert 200 == pages.do("/results/reopen", reason="a mistake")[0]
    assert not pages.results()["final"]


def test_a_proposal_is_applied_from_the_page(pages):
    """The page decides a proposal once; the other decision is then refused."""
    pages.event.play("ants")
    number = make_proposal(pages.event.contest, Filter(), "Ada", "another look")
    for _ in range(2):
        assert 200 == pages.do(f"/proposals/{number}/apply", reason="agreed")[0]
    assert 409 == pages.do(f"/proposals/{number}/cancel", reason="no")[0]
    assert (409, "proposal_unknown") == (
        (answer := pages.do("/proposals/7/apply", reason="x"))[0],
        answer[1]["code"],
    )
    (shown,) = pages.client.get("/results/now").get_json()["proposals"]
    assert ("applied", "Kim") == (shown["state"], shown["end"]["operator"])


def test_several_doubts_of_one_reason_are_reviewed_at_once(pages):
    """One act reviews them all; if one of them cannot be reviewed, none is."""
    first = pages.event.play("ants", verdict="SUSPECT")
    second = pages.event.play("bees", verdict="SUSPECT")
    good = pages.event.play("wasps")
    points = [one for one in pages.results()["points"] if one["kind"] == "doubt"]
    assert [[first], [second]] == [one["sessions"] for one in points]
    assert 1 == len({one["reason"] for one in points})
    status, said = pages.do("/sessions/review", sessions=[first, second, good], reason="a gap")
    assert (409, "energy_valid") == (status, said["code"])
    assert 2 == len(pages.results()["open"])
    assert 200 == pages.do("/sessions/review", sessions=[first, second], reason="a gap")[0]
    assert [] == pages.results()["open"]
    for wrong in ([], "1", [True], [-1]):
        assert 400 == pages.do("/sessions/review", sessions=wrong, reason="a gap")[0]


def test_several_teams_are_withdrawn_at_once(pages):
    """One act withdraws them all; an unknown name withdraws none."""
    assert ["waiting"] * 3 == [one["kind"] for one in pages.results()["points"]]
    assert 200 != pages.do("/teams/withdraw", teams=["ants", "moths"], reason="no show")[0]
    assert 3 == len(pages.results()["points"])
    assert 200 == pages.do("/teams/withdraw", teams=["ants", "bees"], reason="no show")[0]
    assert ["wasps"] == [one["team"] for one in pages.results()["points"]]


def test_a_team_is_put_off_by_one_act(pages):
    """It moves to the end of the order at once, and a later order needs a reason."""
    first, *rest = pages.names()
    assert 200 == pages.do("/teams/defer", team=first)[0]
    assert [*rest, first] == pages.names()
    assert 200 != pages.do("/teams/defer", team=rest[0])[0]
    assert 200 == pages.do("/teams/defer", team=rest[0], reason="its train is late")[0]
    assert [*rest[1:], first, rest[0]] == pages.names()
    assert 200 != pages.do("/teams/defer", team="moths", reason="its train is late")[0]


def test_the_dialog_knows_how_many_images_become_public(pages):
    """None by default; without a scoreboard nobody can look."""
    pages.event.play("ants", found=6)
    told = pages.client.get("/results/images").get_json()
    assert {"audience": False, "published": 0, "of": 8} == told
