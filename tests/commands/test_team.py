# SPDX-License-Identifier: Apache-2.0
"""`referee team` changes the list, and prints the result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cli import main
from referee.service.entry.team_list import registered_teams
from referee.service.entry.teams import EventTeams
from referee.service.setup.contest import Contest
from referee.store.sessions import create_session
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


@pytest.fixture
def event(tmp_path: Path) -> Iterator[Contest]:
    """Return an event without teams."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=600)
    yield contest
    contest.database.close()


def team(event: Contest, *arguments: str) -> int:
    """Run the command for this event."""
    return main(["team", *arguments, "--config", str(event.config.path)])


@pytest.mark.slow
def test_the_printed_password_logs_in(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """`add` prints name and password, and `password` replaces the password and prints it."""
    assert 0 == team(event, "add", " Team  Rocket")
    name, _, first = capsys.readouterr().out.strip().partition(": ")
    assert 0 == team(event, "password", "Team Rocket")
    second = capsys.readouterr().out.strip().removeprefix("Team Rocket: ")
    teams = EventTeams(event.config.teams)
    assert "Team Rocket" == name
    assert [False, True] == [teams.admits(name, password) for password in (first, second)]


@pytest.mark.slow
def test_a_team_is_renamed_and_removed(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """Each change is reported in a sentence, and the list shows the remaining teams."""
    for name in ("ants", "bees"):
        team(event, "add", name)
    capsys.readouterr()
    assert 0 == team(event, "rename", "ants", "wasps")
    assert 0 == team(event, "remove", "bees")
    assert 0 == team(event, "list")
    said = "'ants' is now 'wasps'.\n'bees' is no longer registered.\nwasps\n"
    assert said == capsys.readouterr().out


@pytest.mark.slow
def test_a_team_that_exists_is_refused(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """An existing team is refused unchanged, with advice."""
    team(event, "add", "ants")
    before = event.config.teams.read_bytes()
    assert 2 == team(event, "add", "ANTS")
    assert "'ants' is registered already" in capsys.readouterr().err
    assert before == event.config.teams.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("change", [("rename", "ants", "bees"), ("remove", "ants")])
def test_a_team_with_a_session_keeps_its_name(
    event: Contest, capsys: pytest.CaptureFixture[str], change: tuple[str, ...]
) -> None:
    """A team that has a session cannot be renamed or removed."""
    team(event, "add", "ants")
    with event.database.write() as connection:
        create_session(
            connection, team="ants", length_s=600, order_seed=None, now=event.clock.now()
        )
    assert 2 == team(event, *change)
    assert "'ants' has session 1, and its evidence contains this name" in capsys.readouterr().err
    assert ["ants"] == list(registered_teams(event.config.teams))
