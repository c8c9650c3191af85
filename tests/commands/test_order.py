# SPDX-License-Identifier: Apache-2.0
"""`referee order` draws, sets and shows the running order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cli import main
from referee.formats.team_table import TeamLine
from referee.service.setup.contest import Contest
from referee.service.teams.registration import import_teams
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock


@pytest.fixture
def event(tmp_path: Path) -> Iterator[Contest]:
    """Return an event of three teams."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=600)
    lines = [TeamLine(n, name) for n, name in enumerate(("ants", "bees", "wasps"), 2)]
    import_teams(contest, lines, "teams", "Kim")
    yield contest
    contest.database.close()


def order(event: Contest, *arguments: str) -> int:
    """Run the command for this event."""
    return main(["order", *arguments, "--config", str(event.config.path)])


def drawn(seed: str) -> list[str]:
    """Return the order that the rule draws, computed here anew."""
    return sorted(
        ("ants", "bees", "wasps"),
        key=lambda name: hashlib.sha256(f"{seed}\n{name}".encode()).digest(),
    )


def test_a_lottery_with_a_seed_of_the_audience(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """The drawn order follows from the seed; `show` prints it again, with the seed."""
    assert 0 == order(event, "lottery", "--seed", "noon", "--json")
    found = json.loads(capsys.readouterr().out)
    assert drawn("noon") == [team["team"] for team in found["teams"]]
    assert 0 == order(event, "show")
    said = capsys.readouterr().out
    assert f"1  {drawn('noon')[0]}" in said and "NEXT" in said.splitlines()[0]
    assert "Lottery with the seed 'noon'" in said


def test_a_lottery_without_a_seed_makes_one(
    event: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    """The referee's own seed is on record too, so anybody can draw again."""
    assert 0 == order(event, "lottery", "--json")
    found = json.loads(capsys.readouterr().out)
    assert drawn(found["order"]["seed"]) == [team["team"] for team in found["teams"]]


def test_an_order_by_hand(event: Contest, capsys: pytest.CaptureFixture[str]) -> None:
    """A second order without a reason is refused and changes nothing."""
    assert 0 == order(event, "set", "wasps", "--by", "Kim")
    assert 2 == order(event, "set", "bees")
    assert "needs a reason" in capsys.readouterr().err
    assert 0 == order(event, "show", "--json")
    found = json.loads(capsys.readouterr().out)
    assert ["wasps", "ants", "bees"] == [team["team"] for team in found["teams"]]
    assert ("wasps", "Kim") == (found["next"], found["order"]["operator"])
