# SPDX-License-Identifier: Apache-2.0
"""The running order is drawn or set, on record, and tells who is next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.core.turns import Turn, draw_lots
from referee.errors import InputError
from referee.formats.team_table import TeamLine
from referee.service.teams.order import draw_order, order_text, set_order
from referee.service.teams.registration import import_teams
from referee.service.teams.registration_changes import amend, rename, withdraw
from referee.service.teams.rehearsals import read_progress
from referee.service.teams.roster import read_roster
from referee.service.teams.roster_view import roster_text, shown_roster
from referee.store.teams import stored_orders
from tests.service.teams.test_registration import names, session
from tests.support.shown import as_json

TEAMS = ["ants", "bees", "wasps", "flies"]


@pytest.fixture
def teams(contest):
    """Return an event of four teams."""
    import_teams(contest, [TeamLine(n, name) for n, name in enumerate(TEAMS, 2)], "t", "Kim")
    return contest


def test_without_an_order_nobody_is_next(teams):
    """Before an order is set the teams stand as they were registered."""
    assert TEAMS == names(teams)
    assert read_roster(teams).next is None
    assert "No running order has been set" in order_text(read_roster(teams))


def test_the_lottery_is_on_record(teams):
    """The drawn order follows from the recorded seed."""
    roster = draw_order(teams, "noon", "", "Kim")
    assert [lot.name for lot in draw_lots(TEAMS, "noon")] == names(teams)
    assert ("lottery", "noon", "Kim") == (
        roster.order.method,
        roster.order.seed,
        roster.order.operator,
    )
    assert names(teams)[0] == roster.next


@pytest.mark.parametrize("seed", ["", " noon", "noon ", "a\nb", "x" * 201])
def test_a_seed_is_one_that_somebody_can_type(teams, seed):
    """Seeds that look like others are refused, and no order is drawn."""
    with pytest.raises(InputError, match="A seed is 1 to 200 printable characters"):
        draw_order(teams, seed, "", "Kim")
    assert [] == stored_orders(teams.database.connection)


def test_a_second_order_needs_a_reason_and_keeps_the_first(teams):
    """No order is silently drawn again until it pleases."""
    draw_order(teams, "noon", "", "Kim")
    with pytest.raises(InputError, match="needs a reason"):
        draw_order(teams, "midnight", " ", "Kim")
    with pytest.raises(InputError, match="needs a reason"):
        set_order(teams, ["ants"], "", "Kim")
    set_order(teams, ["wasps"], "a train", "Lee")
    first, second = stored_orders(teams.database.connection)
    assert ("noon", None, "a train") == (first.seed, second.seed, second.reason)


def test_teams_are_put_in_front_by_hand(teams):
    """Named teams lead in the order given, and the others follow as before."""
    set_order(teams, ["flies", "bees"], "", "Kim")
    assert ["flies", "bees", "ants", "wasps"] == names(teams)


@pytest.mark.parametrize(
    ("first", "told"),
    [
        (["nobody"], "No team is called 'nobody'"),
        (["ants", "ants"], "'ants' is named twice"),
        (["bees"], "'bees' has withdrawn"),
    ],
)
def test_an_order_of_wrong_teams_changes_nothing(teams, first, told):
    """Unknown, doubled and withdrawn teams are refused."""
    withdraw(teams, "bees", "ill", "Kim")
    with pytest.raises(InputError, match=told):
        set_order(teams, first, "", "Kim")
    assert [] == stored_orders(teams.database.connection)


def test_an_event_without_teams_has_no_order(contest):
    """A lottery of no teams says so."""
    with pytest.raises(InputError, match="No team is registered"):
        draw_order(contest, "noon", "", "Kim")


def test_a_team_that_hands_in_models_only_has_no_place(teams):
    """No lottery draws it, no hand puts it in front, and it is never next."""
    amend(teams, "ants", lambda old: replace(old, sessions=False), "OVIC only", "Kim")
    draw_order(teams, "noon", "", "Kim")
    roster = read_roster(teams)
    assert (False, Turn.MODELS) == (roster.find("ants").ordered, roster.find("ants").turn)
    assert {"bees", "wasps", "flies"} == {team.name for team in roster.teams if team.ordered}
    for team in ("bees", "wasps", "flies"):
        session(teams, team, "armed", "started", "ended")
    assert read_roster(teams).next is None
    with pytest.raises(InputError, match="'ants' hands in models only"):
        set_order(teams, ["ants"], "a wish", "Kim")


def test_next_moves_on_and_comes_back_after_a_void(teams):
    """A team that ran is passed over; a team whose session was voided is next again."""
    set_order(teams, TEAMS, "", "Kim")
    session(teams, "ants", "armed", "started", "ended")
    assert "bees" == read_roster(teams).next
    session(teams, "bees", "armed", "started", "ended", "voided")
    roster = read_roster(teams)
    assert "bees" == roster.next
    assert (1, ("meter lost",)) == (
        roster.find("bees").attempt_count,
        roster.find("bees").void_reasons,
    )
    withdraw(teams, "bees", "ill", "Kim")
    assert "wasps" == read_roster(teams).next


def test_a_renamed_team_keeps_its_place_and_a_late_one_comes_last(teams):
    """The order knows teams, not names; a team registered later follows all others."""
    set_order(teams, ["wasps"], "", "Kim")
    rename(teams, "wasps", "hornets", "Kim")
    import_teams(teams, [TeamLine(2, "late")], "t", "Kim")
    assert ["hornets", "ants", "bees", "flies", "late"] == names(teams)
    assert [True, False] == [read_roster(teams).find(one).ordered for one in ("flies", "late")]


def test_the_roster_as_text_and_as_json(teams):
    """The table names the next team, attempts with reasons, and what is missing."""
    set_order(teams, TEAMS, "", "Kim")
    session(teams, "ants", "armed", "started", "ended", "voided")
    withdraw(teams, "flies", "ill", "Kim")
    lines = roster_text(read_roster(teams), read_progress(teams)).splitlines()
    assert "  1  ants   ....  NEXT, 1 attempt; meter lost, no password yet" == lines[0]
    assert "  4  flies  ....  withdrawn (ill), no password yet" == lines[3]
    assert lines[-1].startswith("Set by hand by Kim at ")
    found = as_json(shown_roster(read_roster(teams), read_progress(teams)))
    assert ("ants", "hand") == (found["next"], found["order"]["method"])
    assert [{"session": 1, "state": "VOID", "reason": "meter lost"}] == (
        found["teams"][0]["sessions"]
    )
