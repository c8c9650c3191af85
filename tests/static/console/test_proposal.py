# SPDX-License-Identifier: Apache-2.0
"""Whom the console proposes for the next session, and where."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "console/proposal.js"


def board(next_teams: dict[int, str], busy: tuple[int, ...] = (), lanes: int = 2) -> dict[str, Any]:
    """Return a board with the teams ants and bees, whose lanes are named A, B, …"""
    return {
        "teams": ["ants", "bees"],
        "choices": {"ants": {"lane": None}, "bees": {"lane": "B"}},
        "next_teams": next_teams,
        "lanes": [
            {
                "number": number,
                "name": "ABCD"[number - 1],
                "next": None,
                "current": {"state": "RUNNING"} if number in busy else None,
            }
            for number in range(1, lanes + 1)
        ],
    }


@pytest.mark.parametrize(
    ("next_teams", "busy", "chosen", "lane", "team"),
    [
        ({1: "ants", 2: "bees"}, (), 1, 1, "ants"),
        ({1: "ants", 2: "bees"}, (), 2, 2, "bees"),
        ({1: "ants", 2: "bees"}, (1,), 1, 2, "bees"),
        ({1: "ants", 2: "bees"}, (1, 2), 1, 1, "ants"),
        ({2: "bees"}, (), 1, 2, "bees"),
        ({2: "bees"}, (2,), 2, 1, ""),
        ({}, (), 2, 2, ""),
        ({1: "gone"}, (), 1, 1, ""),
    ],
)
def test_the_first_free_lane_with_somebody_next(
    scripts: Scripts,
    next_teams: dict[int, str],
    busy: tuple[int, ...],
    chosen: int,
    lane: int,
    team: str,
) -> None:
    """The chosen lane stays where somebody is next in it; nobody is proposed in place of nobody."""
    proposal = scripts.call(MODULE, "proposalOf", board(next_teams, busy), chosen)
    assert (lane, team) == (proposal["lane"], proposal["team"])


def test_a_proposal_is_made_of_facts(scripts: Scripts) -> None:
    """The facts differ where the running order or a free lane does, and nowhere else."""
    boards = [board({1: "ants"}), board({1: "ants"}), board({1: "bees"}), board({1: "ants"}, (2,))]
    facts = [scripts.call(MODULE, "proposalOf", one, 1)["facts"] for one in boards]
    assert (3, True) == (len(set(facts)), facts[0] == facts[1])


@pytest.mark.parametrize(
    ("next_teams", "lanes", "text"),
    [
        ({}, 2, ""),
        ({1: "ants"}, 1, "Next: ants"),
        ({1: "ants", 2: "bees"}, 2, "Next in lane A: ants · B: bees"),
        ({2: "bees"}, 2, "Next in lane B: bees"),
    ],
)
def test_who_is_next_is_said(
    scripts: Scripts, next_teams: dict[int, str], lanes: int, text: str
) -> None:
    """Each lane with somebody next is named, where there are several."""
    assert text == scripts.call(MODULE, "nextText", board(next_teams, lanes=lanes))


@pytest.mark.parametrize(
    ("team", "lane", "text"),
    [
        ("ants", 1, ""),
        ("bees", 2, ""),
        ("bees", 1, "'bees' runs only in lane B."),
        ("", 1, ""),
    ],
)
def test_a_team_of_another_lane_is_named(scripts: Scripts, team: str, lane: int, text: str) -> None:
    """A team that is bound to a lane may not run elsewhere."""
    assert text == scripts.call(MODULE, "wrongLane", board({}), {"team": team, "lane": lane})
