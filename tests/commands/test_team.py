# SPDX-License-Identifier: Apache-2.0
"""`referee team` changes the list, and prints the result."""

from __future__ import annotations

import json
import re
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


def test_the_printed_password_logs_in(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """`add` prints name and password, and `password` replaces the password and prints it."""
    assert 0 == team(event, "add", " Team  Rocket")
    name, _, first = capsys.readouterr().out.strip().partition(": ")
    assert 0 == team(event, "password", "Team Rocket")
    second = capsys.readouterr().out.strip().removeprefix("Team Rocket: ")
    teams = EventTeams(event.config.teams)
    assert "Team Rocket" == name
    assert [None, "Team Rocket"] == [teams.admitted(name, password) for password in (first, second)]


def test_a_name_from_right_to_left_turns_nothing_beside_it(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each sentence isolates it; the line with its password is for programs."""
    shown = "'\u2068نحل\u2069'"
    assert 0 == team(event, "add", "نحل", "--organisation", "جامعة")
    out, err = capsys.readouterr()
    assert (True, f"{shown} logs in as team1\n") == (out.startswith("نحل: "), err)
    reason = ("--reason", "asked")
    for words in (
        ("amend", "نحل", "--prizes", "no", *reason),
        ("withdraw", "نحل", *reason),
        ("return", "نحل", *reason),
        ("rename", "نحل", "ants"),
        ("rename", "ants", "نحل"),
        ("remove", "نحل"),
    ):
        assert 0 == team(event, *words)
        said = capsys.readouterr().out
        assert shown in said and said.count("نحل") == said.count("\u2068نحل\u2069")
        assert ("\u2068جامعة\u2069" in said) == (words[0] == "amend")


def test_a_team_is_renamed_and_removed(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """Each change is reported in a sentence, and the list shows the remaining teams."""
    for name in ("ants", "bees"):
        team(event, "add", name)
    capsys.readouterr()
    assert 0 == team(event, "rename", "ants", "wasps")
    assert 0 == team(event, "remove", "bees")
    assert 0 == team(event, "list")
    said = capsys.readouterr().out
    assert said.startswith(
        "'ants' is now 'wasps'. It still logs in as ants, or with any earlier name.\n"
        "'bees' is no longer registered.\n  1  wasps"
    )


def test_a_team_that_exists_is_refused(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """An existing team is refused unchanged, with advice."""
    team(event, "add", "ants")
    before = event.config.teams.read_bytes()
    assert 2 == team(event, "add", "ANTS")
    assert "'ants' is registered already" in capsys.readouterr().err
    assert before == event.config.teams.read_bytes()


def test_a_team_with_a_session_is_not_removed(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """A team that has a session stays, but may be renamed; the refusal names `withdraw`."""
    team(event, "add", "ants")
    with event.database.write() as connection:
        create_session(
            connection, team="ants", length_s=600, order_seed=None, now=event.clock.now()
        )
    assert 2 == team(event, "remove", "ants")
    assert "use 'referee team withdraw'" in capsys.readouterr().err
    assert 0 == team(event, "rename", "ants", "bees")
    assert ["bees"] == list(registered_teams(event.config.teams))


def test_from_a_table_to_slips(
    event: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table is imported; the slips have passwords that log in, and only their owner reads."""
    table, slips = tmp_path / "entries.csv", tmp_path / "slips.html"
    table.write_text("team,organisation\nants,Uni\nbees,Uni\n")
    assert 0 == team(event, "import", str(table))
    wifi = ("--wifi", "lpirc", "quiet-fan", "--address", "http://192.168.1.2:8000")
    assert 0 == team(event, "slips", "--out", str(slips), *wifi)
    said = capsys.readouterr().out
    assert "Registered 2 teams, without passwords so far" in said
    assert "NEW passwords for 2 teams" in said
    page = slips.read_text()
    found = re.findall(r"<dt>Password</dt><dd>(.*)</dd>", page)
    teams = EventTeams(event.config.teams)
    assert ["ants", "bees"] == [teams.admitted(*pair) for pair in zip(("ants", "bees"), found)]
    assert (0o600, True) == (slips.stat().st_mode & 0o777, "quiet-fan" in page)


def test_slips_that_cannot_be_written_change_no_password(
    event: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that has no place is refused before any password is replaced."""
    team(event, "add", "ants")
    before = event.config.teams.read_bytes()
    assert 2 == team(event, "slips", "--out", str(tmp_path / "nowhere" / "slips.html"))
    assert "cannot be written" in capsys.readouterr().err
    assert before == event.config.teams.read_bytes()


def test_a_table_with_a_fault_registers_nobody(
    event: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The refusal names the line, and the list stays as it was."""
    table = tmp_path / "entries.csv"
    table.write_text("team,prizes\nants,yes\nbees,perhaps\n")
    assert 2 == team(event, "import", str(table))
    assert "line 3: prizes must be yes or no" in capsys.readouterr().err
    assert 0 == team(event, "list", "--json")
    assert [] == json.loads(capsys.readouterr().out)["teams"]


def test_a_withdrawal_and_its_return(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are on record under the name of the person who did it."""
    team(event, "add", "ants")
    assert 0 == team(event, "withdraw", "ants", "--reason", "ill", "--by", "Kim")
    assert 0 == team(event, "return", "ants", "--reason", "well", "--by", "Lee")
    rows = event.database.connection.execute("select operator, action, detail, reason from audit")
    assert [
        ("Kim", "team withdrawn", "ants", "ill"),
        ("Lee", "team returned", "ants", "well"),
    ] == [tuple(row) for row in rows][-2:]


def test_an_amendment_prints_what_the_registration_says(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each change is told with the rest; an amendment without a change is an error."""
    table = event.config.path.parent / "teams.csv.in"
    table.write_text("team,sessions\nants,no\n")
    assert 0 == team(event, "import", str(table))
    assert 2 == team(event, "amend", "ants", "--reason", "none")
    why = ("--reason", "they got a board")
    assert 0 == team(event, "amend", "ants", "--sessions", "yes", "--organisation", " A  Uni", *why)
    assert 0 == team(event, "amend", "ants", "--prizes", "no", *why)
    out, err = capsys.readouterr()
    assert "Nothing to change: give --organisation, --prizes, --sessions or --lane." in err
    assert [
        "'ants': entered by A Uni, takes prizes, runs sessions.",
        "'ants': entered by A Uni, declines prizes, runs sessions.",
    ] == out.splitlines()[1:]
