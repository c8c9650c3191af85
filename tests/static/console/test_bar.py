# SPDX-License-Identifier: Apache-2.0
"""The foot of the console: the red bar, or what stands in its place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

BOARD = {
    "mode": "event",
    "final": False,
    "alarms": [],
    "lanes": [{"number": 1, "name": "A"}, {"number": 2, "name": "B"}],
}
READY = {"running": False, "ready": True, "findings": []}


def foot(
    scripts: Scripts, board: Any = BOARD, checks: Any = READY, age_s: float = 0, trouble: str = ""
) -> dict[str, Any]:
    """Return what the foot shows."""
    shown: dict[str, Any] = scripts.call("console/bar.js", "footOf", board, checks, age_s, trouble)
    return shown


def failing(*lanes: int | None, override: Any = None, level: str = "FAIL") -> dict[str, Any]:
    """Return a list of checks of which one fails in each of the lanes; None is all of them."""
    findings = [{"level": level, "lane": lane, "override": override} for lane in lanes]
    return {"running": False, "ready": False, "findings": findings}


def alarm(text: str, lane: int | None = None, detail: str = "", seen: str = "") -> dict[str, Any]:
    """Return an alarm as the desk tells it."""
    return {"text": text, "lane": lane, "detail": detail, "seen": seen}


def test_nothing_is_wrong_if_sessions_can_be_armed(scripts: Scripts) -> None:
    """The calm line stands there alone, without a way to the checks."""
    shown = {"alarm": None, "calm": "Nothing is wrong.", "hindered": False, "link": False}
    assert shown == foot(scripts)


@pytest.mark.parametrize(
    ("board", "checks", "calm", "link"),
    [
        ({}, None, "The checks are not known yet.", False),
        (
            {},
            READY | {"running": True},
            "No session can be armed while the slow checks run.",
            False,
        ),
        ({"final": True}, READY, "The results are final, so no session can be armed.", False),
        ({}, failing(None), "No session can be armed: a check fails. ", True),
        ({}, failing(None, 1), "No session can be armed: 2 checks fail. ", True),
        ({}, failing(2), "No session can be armed in lane B: a check fails. ", True),
        ({}, failing(1, 2), "No session can be armed: 2 checks fail. ", True),
        ({"mode": "practice"}, failing(None), "Before a login: a check fails. ", True),
    ],
)
def test_what_hinders_arming_is_said(
    scripts: Scripts, board: dict[str, Any], checks: Any, calm: str, link: bool
) -> None:
    """“Nothing is wrong.” never stands there while no session can be armed."""
    shown = foot(scripts, BOARD | board, checks)
    assert (calm, True, link) == (shown["calm"], shown["hindered"], shown["link"])


@pytest.mark.parametrize("other", [{"override": {"reason": "known"}}, {"level": "WARN"}])
def test_a_check_that_is_overridden_is_not_counted(scripts: Scripts, other: dict[str, Any]) -> None:
    """Neither is a warning."""
    checks = failing(1)
    checks["findings"] += failing(2, **other)["findings"]
    assert (
        "No session can be armed in lane A: a check fails. " == foot(scripts, checks=checks)["calm"]
    )


def test_alarms_take_the_place_of_everything_else(scripts: Scripts) -> None:
    """What is wrong in several lanes stands there once, with who has seen it."""
    alarms = [
        alarm("the meter is lost", 1, "look at its cable", "Ada"),
        alarm("the meter is lost", 2, "look at its cable"),
        alarm("the disk is full", detail="make room"),
    ]
    assert {
        "alarm": "Lanes 1, 2: the meter is lost\nthe disk is full",
        "detail": "look at its cable · make room · Acknowledged by Ada",
        "seen": False,
        "calm": None,
    } == foot(scripts, BOARD | {"alarms": alarms})


def test_an_alarm_that_everybody_knows_needs_no_click(scripts: Scripts) -> None:
    """The button Acknowledge goes when the last alarm was seen."""
    alarms = [alarm("the disk is full", seen="Ada"), alarm("no clock", seen="Grace")]
    shown = foot(scripts, BOARD | {"alarms": alarms})
    assert (True, "Acknowledged by Ada, Grace") == (shown["seen"], shown["detail"])


@pytest.mark.parametrize("age_s", [0, 4])
def test_a_young_board_is_news(scripts: Scripts, age_s: float) -> None:
    """For four seconds the page trusts what it has."""
    assert foot(scripts, age_s=age_s)["alarm"] is None


@pytest.mark.parametrize("board", [None, BOARD, BOARD | {"alarms": [alarm("no clock")]}])
def test_silence_is_the_only_alarm_then(scripts: Scripts, board: Any) -> None:
    """Of an old board nothing is shown as if it were so now."""
    shown = foot(scripts, board, age_s=4.6)
    assert shown["alarm"].startswith("The desk does not answer, so what you see is old.")
    assert ("The connection was lost 4 s ago.", True) == (shown["detail"], shown["seen"])


def test_the_desk_says_itself_why_it_is_silent(scripts: Scripts) -> None:
    """Its last words stand in the place of the page's own."""
    assert "the disk is full" == foot(scripts, age_s=9, trouble="the disk is full")["alarm"]


def test_before_the_first_board_nothing_is_said(scripts: Scripts) -> None:
    """Neither is anything wrong nor nothing."""
    assert {"alarm": None, "calm": None} == foot(scripts, None)
