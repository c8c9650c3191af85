# SPDX-License-Identifier: Apache-2.0
"""What is next in a lane: one act, or what keeps it from being done."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

LANE: dict[str, Any] = {"number": 1, "current": None, "next": None, "unseen": []}
BOARD: dict[str, Any] = {
    "settings": {"mode": "event"},
    "final": False,
    "teams": ["ants", "bees"],
    "next_teams": {"1": "ants", "2": "bees"},
}
READY = {"running": False, "ready": True, "findings": []}
NOBODY = {"team": "", "lane": 1}
WAIT = (None, "", None)


def failing(*lanes: int | None, override: Any = None) -> dict[str, Any]:
    """Return a list of checks of which one fails in each of the lanes; None is all of them."""
    findings = [{"level": "FAIL", "lane": lane, "override": override} for lane in lanes]
    return READY | {"ready": False, "findings": findings}


def session(state: str, number: int = 3, verdict: str | None = None) -> dict[str, Any]:
    """Return a session of the board."""
    return {"id": number, "team": "ants", "state": state, "verdict": verdict}


def step(
    scripts: Scripts,
    board: Any = None,
    checks: Any = READY,
    shown: Any = None,
    chosen: Any = None,
    **lane: Any,
) -> tuple[str | None, str, str | None]:
    """Return the act, the words, and the page that they lead to."""
    found = scripts.call(
        *("console/next.js", "stepOf", BOARD | (board or {}), LANE | lane),
        *(checks, shown or lane.get("current"), chosen or NOBODY),
    )
    return found["act"], found["text"], found["link"] and found["link"]["href"]


@pytest.mark.parametrize(
    ("current", "act"),
    [
        (session("READY"), "arm"),
        (session("ARMED"), None),
        (session("RUNNING"), None),
        (session("ENDED"), None),
        (session("ENDED", verdict="VALID"), "new"),
        (session("SCORED", verdict="VALID"), "new"),
        (session("VOID"), "new"),
        (session("SEALED", verdict="VALID"), "new"),
    ],
)
def test_each_state_has_one_act(scripts: Scripts, current: Any, act: str | None) -> None:
    """A session is armed, waited for, and followed by the next team's."""
    assert act == step(scripts, current=current)[0]


def test_the_next_team_is_named(scripts: Scripts) -> None:
    """The order says who it is, or the operator who has chosen somebody for this lane."""
    assert ("new", "ants is next.", None) == step(scripts)
    assert ("new", "bees is next.", None) == step(scripts, chosen={"team": "bees", "lane": 1})
    assert ("new", "ants is next.", None) == step(scripts, chosen={"team": "bees", "lane": 2})


def test_somebody_chooses_where_nobody_is_next(scripts: Scripts) -> None:
    """A team that has left is not next, and without any team the page leads to the teams."""
    assert ("choose", "No team is next in this lane.", None) == step(scripts, {"next_teams": {}})
    assert "choose" == step(scripts, {"next_teams": {"1": "wasps"}})[0]
    none = (None, "No team is registered:", "teams")
    assert none == step(scripts, {"next_teams": {}, "teams": []})


def test_a_result_is_seen_before_the_next_is_armed(scripts: Scripts) -> None:
    """It is complete then: an energy that is still read is waited for, and a score keeps nobody."""
    done, reading = session("SCORED", 2, "VALID"), session("ENDED", 2)
    judged = session("ENDED", 2, "VALID")
    ready = {"id": 4, "team": "bees"}
    assert ("seen", "", None) == step(scripts, current=done, unseen=[done], next=ready)
    assert WAIT == step(scripts, current=reading, unseen=[reading], next=ready)
    assert "seen" == step(scripts, current=session("RUNNING"), unseen=[done])[0]
    assert "arm" == step(scripts, current=done, next=ready)[0]
    assert "arm" == step(scripts, current=judged, unseen=[judged], next=ready)[0]


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        (failing(None), (None, "A check fails:", "check")),
        (failing(None, 1), (None, "2 checks fail:", "check")),
        (failing(2), ("arm", "", None)),
        (failing(1, override={"reason": "known"}), ("arm", "", None)),
        (READY | {"running": True}, (None, "The slow checks are running. Wait a minute.", "check")),
        (None, ("arm", "", None)),
    ],
)
def test_what_forbids_arming_is_said(scripts: Scripts, checks: Any, words: Any) -> None:
    """The words lead to the page that removes it; another lane's fault keeps nobody from arming."""
    assert words == step(scripts, checks=checks, current=session("READY"))


def test_a_session_can_be_made_while_a_check_fails(scripts: Scripts) -> None:
    """What forbids arming it is said all the same."""
    assert ("new", "A check fails:", "check") == step(scripts, checks=failing(1))


def test_final_results_need_no_session(scripts: Scripts) -> None:
    """The page leads to them."""
    assert (None, "The results are final.", "results") == step(scripts, {"final": True})
    ready = session("READY")
    assert (None, "The results are final.", "results") == step(
        scripts, {"final": True}, current=ready
    )


def test_a_rehearsal_waits_for_logins(scripts: Scripts) -> None:
    """A check that fails is told, but not while a session runs."""
    practice = {"settings": {"mode": "practice"}, "teams": []}
    assert WAIT == step(scripts, practice)
    assert (None, "A check fails:", "check") == step(scripts, practice, failing(None))
    assert WAIT == step(scripts, practice, failing(None), current=session("RUNNING"))


@pytest.mark.parametrize(
    ("current", "following", "shown", "armed"),
    [
        (None, None, None, None),
        (session("READY", 3), {"id": 3, "team": "ants"}, None, 3),
        (session("SCORED", 2), {"id": 3, "team": "ants"}, None, 3),
        (session("READY", 3), {"id": 3, "team": "ants"}, session("READY", 5), 5),
        (session("READY", 3), {"id": 3, "team": "ants"}, session("VOID", 1), 3),
        (session("RUNNING", 2), {"id": 3, "team": "ants"}, session("READY", 3), None),
        (session("ARMED", 2), {"id": 3, "team": "ants"}, None, None),
    ],
)
def test_arm_is_for_the_session_on_the_card_then_for_the_next(
    scripts: Scripts, current: Any, following: Any, shown: Any, armed: int | None
) -> None:
    """While a session of the lane is live nothing is armed in it."""
    lane = LANE | {"current": current, "next": following}
    found = scripts.call("console/next.js", "toArm", lane, shown)
    assert armed == (found and found["id"])
