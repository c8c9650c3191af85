# SPDX-License-Identifier: Apache-2.0
"""A guest joins a contest through one value, which the contest finds by an entry point."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import pytest

from referee import cli
from referee.errors import ConfigError, InputError
from referee.programs.checking import run_slow_checks
from referee.programs.hosting import claimed, hosted
from referee.programs.table import all_programs, programs_of
from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.event.open_points import open_points
from referee.service.preflight.slow import expected
from referee.service.scoreboard.publisher import Publisher
from referee.service.setup.config_file import dump_config, load_config
from referee.service.setup.extra import all_extras, present_extras, rooms_of
from referee.service.setup.program import Later
from referee.service.teams.registration import add_team
from referee.service.teams.registration_changes import remove
from referee.service.teams.roster import read_roster
from referee.store.preflight import newest_findings
from referee.store.teams import Registration
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from referee.web.desk.roles import all_routes
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock, running_desk
from tests.support.installed import installed
from tests.support.shown import as_json
from tests.web.conftest import serving


@pytest.fixture
def guest(monkeypatch, tmp_path_factory):
    """Install a package with a guest beside the referee."""
    with installed(monkeypatch, tmp_path_factory.mktemp("beside"), "chess-club"):
        yield


@pytest.fixture
def contest(guest, tmp_path):
    """Return an event with two boards."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=600)
    path = contest.config.path
    path.write_text(f"{path.read_text()}\n[chess]\nboards = 2\n")
    config = load_config(path)
    contest.database.migrate(rooms_of(present_extras(config)))
    yield replace(contest, config=config)
    contest.database.close()


def without(contest):
    """Return the same contest where the guest takes no part."""
    return replace(contest, config=replace(contest.config, extras={}))


def test_every_name_that_a_guest_gives_leads_to_a_function():
    """A function that was renamed or moved fails here, not in a contest."""
    assert len(all_extras()) > 4
    for extra in all_extras():
        values = [getattr(extra, one.name) for one in dataclasses.fields(extra)]
        values += [program.run for program in extra.programs]
        for value in values:
            assert not isinstance(value, Later) or callable(value.load())


def test_a_guest_is_found_by_its_entry_point(guest):
    """Each value bears the name of its entry point; its commands are in its own package."""
    names = [extra.name for extra in all_extras()]
    assert "chess" in names and names == sorted(names)
    assert ("chess", "play chess", "chess_club.commands.chess") in cli.all_commands()


def test_its_section_is_read_and_written_as_any_other(contest):
    """A wrong key and a wrong value are told; a written file reads back; defaults take no part."""
    path = contest.config.path
    assert "[chess]\n# How many boards there are.\nboards = 2\n" in dump_config(contest.config)
    path.write_text(dump_config(contest.config))
    assert contest.config == load_config(path)
    assert ["chess"] == [extra.name for extra in present_extras(contest.config)]
    assert [] == present_extras(without(contest).config)
    path.write_text(path.read_text().replace("boards = 2", "boards = 9"))
    with pytest.raises(ConfigError, match=r"\[chess\] boards must be at most 8, not 9"):
        load_config(path)


def test_its_programs_are_started_where_it_takes_part(contest):
    """Its program is one of the table's, with its title."""
    assert "clock of chess" == all_programs()["chess"].title
    assert "chess" in [program.name for program in programs_of(contest.config)]
    assert "chess" not in [program.name for program in programs_of(without(contest).config)]


def test_teams_reach_its_routes_with_its_refusals_help_and_description(contest):
    """The contest server has its route, and knows the status of its refusal."""
    with serving(contest) as site:
        answer = site.client.get("/chess")
        assert (423, "All boards are taken.\n") == (answer.status_code, answer.text)
        assert "Chess: http://localhost/chess\n" in site.client.get("/help").text
        assert "423" in site.client.get("/openapi.json").json["paths"]["/chess"]["get"]["responses"]


def test_teams_see_nothing_of_a_guest_that_takes_no_part(contest):
    """There is no route, no line and no description."""
    with serving(without(contest)) as site:
        assert 404 == site.client.get("/chess").status_code
        assert "hess" not in site.client.get("/help").text
        assert "/chess" not in site.client.get("/openapi.json").json["paths"]


def test_operators_have_its_page_and_its_box_on_the_console(contest):
    """The page needs a role as all pages do; the box has the words that the guest gives."""
    assert all_routes()["GET /chess"].page
    with running_desk(contest, None) as desk:
        board = Board(contest, [ShownLane(lambda: desk.lanes[0].metering.status)])
        words = {"title": "Chess", "text": "0 games"}
        assert [words | {"link": "chess", "link_text": "All games"}] == as_json(board.show())[
            "guests"
        ]
        alone = Board(without(contest), [ShownLane(lambda: desk.lanes[0].metering.status)])
        assert [] == as_json(alone.show())["guests"]
        client = console_app(contest, desk, board, Broadcast(board.show, 1)).test_client()
        with client.get("/chess") as page, client.get("/static/chess/chess.js") as script:
            assert "static/chess/chess.js" in page.text and "chess/games" in script.text
        assert [] == client.get("/chess/games").get_json()


def test_the_audience_sees_its_leaderboard(contest):
    """It stands beside the ranking, with the words and the columns that the guest gives."""
    (board,) = json.loads(Publisher(contest).refresh().view)["boards"]
    assert ("Chess", "wins", [["ants"]]) == (board["title"], board["note"], board["cells"])
    assert [{"head": "team", "kind": "text"}] == board["columns"]


def test_it_can_keep_results_open_and_a_team_on_record(contest):
    """Its sentences stand with the contest's own."""
    add_team(contest, "ants", Registration(), "Kim")
    connection = contest.database.connection
    points = open_points(contest, connection, read_roster(contest), [])
    assert ("ants is still playing.", "guest") in [(one.text, one.kind) for one in points]
    with pytest.raises(InputError, match="'ants' has a game, so the team stays on record"):
        remove(contest, "ants", "Kim")


def test_its_check_is_one_of_the_slow_checks(contest):
    """It is expected where the guest takes part, and what it finds is stored."""
    key = ("chess", "clocks")
    assert key in expected(contest, "stamp", []) and key not in expected(
        without(contest), "stamp", []
    )
    run_slow_checks(contest.config, [key], lambda text: None)
    found = newest_findings(contest.database.connection)
    assert [(*key, "they tick")] == [(one.group, one.item, one.text) for one in found]


def test_nothing_starts_that_it_cannot_serve(contest):
    """What it lacks is told before the first program starts."""
    path = contest.config.path
    path.write_text(path.read_text().replace("boards = 2", "boards = 5"))
    config = load_config(path)
    with (
        claimed(config.storage.folder),
        pytest.raises(InputError, match="The room has four boards"),
        hosted(config),
    ):
        pass
