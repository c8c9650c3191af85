# SPDX-License-Identifier: Apache-2.0
"""Teams of an event with several lanes: who is bound to one, and who is next in each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import InputError, Refusal
from referee.formats.team_table import parse_team_table
from referee.service.preflight.contest_checks import team_findings
from referee.service.setup.lane_config import LaneSection
from referee.service.teams.lanes import require_right_lane
from referee.service.teams.order import set_order
from referee.service.teams.registration import import_teams
from referee.service.teams.registration_changes import amend, new_passwords
from referee.service.teams.rehearsals import read_progress
from referee.service.teams.roster import read_roster
from referee.service.teams.roster_view import roster_text, shown_roster
from referee.store.sessions import create_session, record_event
from tests.support.shown import as_json

TABLE = b"team,lane\nants,\nbees, LEFT\nwasps,right\nflies,\n"


@pytest.fixture
def event(contest):
    """Return an event with the lanes left and right."""
    return with_lanes(contest, "left", "right")


def with_lanes(contest, *names):
    """Return the contest with lanes of these names."""
    lanes = [
        LaneSection(name, f"127.0.0.1:80{n}0", contest.config.meter)
        for n, name in enumerate(names, 1)
    ]
    return replace(contest, config=replace(contest.config, declared_lanes=tuple(lanes)))


@pytest.fixture
def teams(event):
    """Return the event with four teams in a running order."""
    import_teams(event, parse_team_table(TABLE, "teams.csv"), "teams.csv", "Kim")
    set_order(event, ["ants", "bees", "wasps", "flies"], "", "Kim")
    return event


def begin(contest, team, lane, *kinds):
    """Give a team a session in a lane, with these events."""
    now = contest.clock.now()
    with contest.database.write() as connection:
        number = create_session(
            connection, team=team, lane=lane, length_s=600, order_seed=None, now=now
        )
        for kind in kinds:
            record_event(connection, number, kind, now, actor="Kim")


def test_a_table_binds_teams_to_lanes(teams):
    """A team has the lane as contest.toml writes it; the others take any."""
    found = {team.name: team.registration.lane for team in read_roster(teams).teams}
    assert {"ants": "", "bees": "left", "wasps": "right", "flies": ""} == found


@pytest.mark.parametrize(
    ("lanes", "told"),
    [
        (("left", "right"), "line 3: There is no lane 'up': the lanes are left, right."),
        ((), "line 3: There is no lane 'up': this event has one lane, without a name."),
    ],
)
def test_a_lane_that_is_not_there_registers_nobody(contest, lanes, told):
    """The table is refused whole, with the line."""
    event = with_lanes(contest, *lanes)
    lines = parse_team_table(b"team,lane\nants,\nbees,up\n", "teams.csv")
    with pytest.raises(InputError, match=told):
        import_teams(event, lines, "teams.csv", "Kim")
    assert () == read_roster(event).teams


def test_each_lane_has_its_next_team(teams):
    """Command and page say who is next in which lane; a running team is passed over."""
    assert {1: "bees", 2: "ants"} == read_roster(teams).next_in_lanes
    begin(teams, "bees", 1, "armed", "started")
    roster = read_roster(teams)
    assert {2: "ants", 1: "flies"} == roster.next_in_lanes
    progress = read_progress(teams)
    shown = as_json(shown_roster(roster, progress))["lanes"]
    assert [("left", "flies"), ("right", "ants")] == [(one["name"], one["next"]) for one in shown]
    text = roster_text(roster, progress)
    assert "NEXT in lane right" in text and "runs in lane left only" in text


def test_the_team_after_the_next_is_on_deck(teams):
    """Each lane has its own, and who may run nowhere else waits for its lane."""
    roster = read_roster(teams)
    assert ({1: "bees", 2: "ants"}, {1: "flies", 2: "wasps"}) == (
        roster.next_in_lanes,
        roster.on_deck,
    )
    begin(teams, "bees", 1, "armed", "started")
    assert {2: "wasps"} == read_roster(teams).on_deck


def test_a_team_with_a_session_in_a_lane_is_next_there(teams):
    """Whoever has made its session has chosen the lane."""
    begin(teams, "ants", 1)
    assert {1: "ants", 2: "wasps"} == read_roster(teams).next_in_lanes


def test_a_team_runs_in_its_own_lane_only(teams):
    """The refusal names the lane; a change needs a reason."""
    roster = read_roster(teams)
    require_right_lane(roster, roster.find("ants"), 2)
    require_right_lane(roster, roster.find("bees"), 1)
    with pytest.raises(Refusal, match="'bees' runs in lane 'left' only"):
        require_right_lane(roster, roster.find("bees"), 2)
    amend(teams, "bees", lambda old: replace(old, lane=""), "has an adapter", "Kim")
    roster = read_roster(teams)
    require_right_lane(roster, roster.find("bees"), 2)


def test_a_lane_that_is_gone_is_told(teams):
    """The checks name a team that could run nowhere; with one lane left, all run there."""
    two = with_lanes(teams, "left", "middle")
    new_passwords(two, [], "Kim")
    found = {one.item: one.text for one in team_findings(two)}
    assert "'wasps' runs in lane 'right' only, which is not there" == found["list"]
    assert {
        "rehearsal of the next team of lane left",
        "rehearsal of the next team of lane middle",
    } <= {*found}
    assert "wasps" not in read_roster(two).next_in_lanes.values()
    assert {1: "ants"} == read_roster(with_lanes(teams)).next_in_lanes
