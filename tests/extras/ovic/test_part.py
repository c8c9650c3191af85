# SPDX-License-Identifier: Apache-2.0
"""What the contest asks OVIC: its word counts at the end, for a team's record, for the audience."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from referee.errors import InputError, Refusal
from referee.extras.ovic.part import console_box
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.entries import NewEvent, record_entry_event
from referee.extras.ovic.submission.rounds import begin_round
from referee.service.event.finalizing import finalize
from referee.service.event.results import read_results
from referee.service.event.results_latex import results_latex
from referee.service.event.results_page import results_page
from referee.service.event.results_table import (
    prize_lines,
    results_csv,
    results_json,
    results_text,
)
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.publisher import Publisher
from referee.service.setup.extra import ConsoleBox
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import remove, withdraw
from referee.store.teams import Registration
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.ovic_contests import SCORED, make_ovic_contest, put_entry


@pytest.fixture
def clock():
    """Return a clock that stands still."""
    return FakeClock()


@pytest.fixture
def event(tmp_path, clock):
    """Return an event of eight images without teams."""
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        yield Event(contest, desk, meter)
    contest.database.close()


def test_the_console_has_the_line_in_words(event):
    """The box says which model runs and how many wait, and leads to the leaderboard."""
    database = event.contest.database
    none = "No model runs now. 0 to validate, 0 to measure."
    assert ConsoleBox("OVIC", none, "ovic", "Leaderboard and entries") == console_box(
        database.connection
    )
    put_entry(database, "validating", "waiting", "measuring")
    put_entry(database, number=2)
    told = "Entry 1 of ants is measuring. 1 to validate, 0 to measure."
    assert told == console_box(database.connection).text


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ([], "'ants' (classification) is received. Wait until it is judged"),
        (["validating", "waiting", "measuring"], "is measuring. Wait until it is judged"),
        ([*SCORED, "again"], "is measured again. Wait until that is over"),
        (["validating", "failed"], "failed through the referee. Try it again: 'referee ovic again"),
        (["validating", "refused"], None),
        (["voided"], None),
    ],
)
def test_a_model_that_is_not_judged_keeps_the_results_open(event, kinds, told):
    """An entry must be scored, refused or taken out; the point says what to do."""
    event.register("ants", "bees")
    event.play("ants", found=4)
    event.play("bees", found=2)
    put_entry(event.contest.database, *kinds)
    if told is None:
        finalize(event.contest, ["Ada"])
        return
    with pytest.raises(Refusal) as refused:
        finalize(event.contest, ["Ada"])
    (point,) = refused.value.faults
    assert told in point and "or take it out: 'referee ovic void 1'" in point
    withdraw(event.contest, "ants", "went home", "Kim")
    finalize(event.contest, ["Ada"])


@pytest.fixture
def closing(tmp_path, clock):
    """Return an event that takes models for another hour, with its teams on record."""
    closes = (clock.now().utc + timedelta(hours=1)).isoformat()
    contest = make_ovic_contest(tmp_path, clock, mode="event", closes=closes)
    for team, prizes in (("ants", True), ("bees", True), ("wasps", False)):
        add_team(contest, team, Registration(prizes=prizes, sessions=False), "Kim")
    yield contest
    contest.database.close()


def open_of_ovic(contest):
    """Return what is open of OVIC before final results."""
    return [point for point in read_results(contest).open if "OVIC" in point]


def test_results_wait_for_the_close_and_a_round_after_it(closing, clock):
    """Neither a round before the close nor the close alone is enough."""
    database = closing.database
    put_entry(database, *SCORED)
    with database.write() as connection:
        begin_round(connection, ["classification"], "Kim", clock.now().utc.isoformat())
        for kind in ("remeasuring", "kept"):
            record_entry_event(connection, 1, NewEvent(kind, "", actor="x"))
    (point,) = open_of_ovic(closing)
    assert "OVIC takes models until" in point
    clock.advance(3600)
    (point,) = open_of_ovic(closing)
    assert "no round has measured all entries since then: 'referee ovic round'" in point
    with database.write() as connection:
        begin_round(connection, ["classification"], "Kim", clock.now().utc.isoformat())
    assert [] == open_of_ovic(closing)
    assert any("Entry 1 of 'ants'" in point for point in read_results(closing).open)


def test_standings_and_winners_are_among_the_results(closing):
    """Each form has them; who declines prizes is ranked and wins nothing; equals win together."""
    figures = {"wasps": 99.0, "ants": 60.0, "bees": 60.0}
    for number, (team, accuracy) in enumerate(figures.items(), 1):
        put_entry(closing.database, *SCORED, team=team, number=number, figures=(accuracy, 9.0))
    results = read_results(closing)
    told = results_json(results)
    assert "guests" not in told
    assert {"classification": ["ants", "bees"]} == told["ovic"]["winners"]
    (task,) = told["ovic"]["standings"]
    assert [(1, "wasps"), (2, "ants"), (2, "bees")] == [
        (row["rank"], row["team"]) for row in task["rows"]
    ]
    won = "OVIC classification, highest metric: ants and bees"
    assert won in results_text(results) and won in results_latex(results)
    assert f"<p>{won}</p>" in results_page(results)
    table = results_csv(results, "ovic classification")
    assert table.startswith("rank,metric,accuracy,latency_ms,entry,entries,task,team\n1,")
    assert won in prize_lines(results)


def test_approved_standings_stay_as_they_were_approved(closing, clock):
    """What becomes of an entry after the approval changes no result."""
    closed = {"ovic": replace(ovic_of(closing.config), closes=None)}
    contest = replace(closing, config=replace(closing.config, extras=closed))
    put_entry(contest.database, *SCORED)
    finalize(contest, ["Ada"])
    with contest.database.write() as connection:
        record_entry_event(connection, 1, NewEvent("voided", "", actor="x", text="too late"))
    told = results_json(read_results(contest))
    assert (True, {"classification": ["ants"]}) == (told["final"], told["ovic"]["winners"])


@pytest.mark.parametrize("text", ["tomorrow", "2026-06-10T18:00:00", "2026-06-10"])
def test_a_close_is_a_moment_with_an_offset(tmp_path, text):
    """Local times without an offset are refused, because teams live in many zones."""
    with pytest.raises(InputError, match="is no moment with an offset"):
        make_ovic_contest(tmp_path, closes=text)


def test_a_team_with_an_entry_of_ovic_is_not_removed(event):
    """A team that handed in a model stays on record."""
    add_team(event.contest, "ants", Registration(), "Kim")
    put_entry(event.contest.database, team="ants")
    with pytest.raises(InputError, match="has entry 1 of OVIC, so the team stays on record"):
        remove(event.contest, "ants", "Kim")


def test_the_leaderboards_of_models_stand_beside_the_ranking(tmp_path, clock):
    """They have what the teams see of them, a freeze holds them, and a closed one is not public."""
    contest = make_ovic_contest(tmp_path, clock, mode="event")
    put_entry(contest.database, *SCORED, figures=(50.0, 9.0))
    published = Publisher(contest)

    def boards():
        # At once: nobody waits for a look at everything.
        return json.loads(published.refresh().view)["boards"]

    (board,) = boards()
    (found,) = board["cells"]
    assert "OVIC classification" == board["title"]
    assert ["1", "ants", "50.00", "9.000"] == [*found[:2], *found[3:]]
    assert re.fullmatch(r"[+−]\d+\.\d{3}|too slow", found[2])
    assert len(board["columns"]) == len(found)
    freeze(contest, "Kim")
    put_entry(contest.database, *SCORED, team="bees", number=2, figures=(60.0, 9.0))
    assert [board] == boards()
    thaw(contest, "Kim")
    assert ["bees", "ants"] == [cells[1] for cells in boards()[0]["cells"]]
    with contest.database.write() as connection:
        record_entry_event(
            connection, 2, NewEvent("voided", "", actor="Kim", text="trained on the images")
        )
    assert ["ants"] == [cells[1] for cells in boards()[0]["cells"]]
    closed = {"ovic": replace(ovic_of(contest.config), leaderboard_for_teams=False)}
    published = Publisher(replace(contest, config=replace(contest.config, extras=closed)))
    assert [] == boards()
    contest.database.close()
