# SPDX-License-Identifier: Apache-2.0
"""The order and the words of the page Check."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "event/findings.js"
BY = {"operator": "Ada"}


def finding(
    level: str, group: str = "disk", override: Any = None, age_s: Any = None
) -> dict[str, Any]:
    """Return what the desk says of a check."""
    return {"level": level, "group": group, "override": override, "age_s": age_s}


def test_what_fails_stands_first(scripts: Scripts) -> None:
    """Then what somebody lets pass and what warns; what is known or in order lies apart."""
    given = [
        finding("OK"),
        finding("WARN", override=BY),
        finding("WARN"),
        finding("FAIL", override=BY),
        finding("FAIL"),
        finding("OK"),
        finding("OK", group="clock"),
    ]
    found = scripts.call(MODULE, "sorted", given)
    assert ["FAIL", "PASSED", "WARN"] == [row["shown"] for row in found["urgent"]]
    assert ["KNOWN"] == [row["shown"] for row in found["known"]]
    assert [True, False, True] == [row["first"] for row in found["good"]]


@pytest.mark.parametrize(
    ("age_s", "text"),
    [
        (None, ""),
        (59, "(just now)"),
        (60, "(1 min ago)"),
        (7199, "(119 min ago)"),
        (7200, "(2 h ago)"),
    ],
)
def test_the_age_of_a_check(scripts: Scripts, age_s: float | None, text: str) -> None:
    """Two hours are told in hours."""
    assert text == scripts.call(MODULE, "sorted", [finding("OK", age_s=age_s)])["good"][0]["age"]


ONE = [{"number": 1, "name": "", "waits": ""}]
TWO = [{"number": 1, "name": "left", "waits": ""}, {"number": 2, "name": "right", "waits": ""}]


def list_of(*fails: int | None, **more: Any) -> dict[str, Any]:
    """Return the list as the desk tells it; each of `fails` is the lane of a FAIL, None for all."""
    findings = [{"level": "FAIL", "lane": lane, "override": None} for lane in fails]
    base = {"mode": "event", "final": False, "running": False, "lanes": ONE}
    return base | {"findings": findings} | more


@pytest.mark.parametrize(
    ("list_", "shown", "text"),
    [
        (list_of(), [], "Sessions can be armed."),
        (
            list_of(),
            ["WARN", "PASSED", "KNOWN"],
            "Sessions can be armed. 1 overridden, 1 to look at.",
        ),
        (list_of(None), ["FAIL"], "No session can be armed: a check fails."),
        (
            list_of(None, 1),
            ["FAIL", "FAIL", "WARN"],
            "No session can be armed: 2 checks fail. 1 to look at.",
        ),
        (list_of(2, lanes=TWO), ["FAIL"], "No session can be armed in lane right: a check fails."),
        (list_of(running=True), [], "No session can be armed while the slow checks run."),
        (
            list_of(final=True, running=True),
            ["WARN"],
            "The results are final, so no session can be armed. 1 to look at.",
        ),
        (list_of(mode="practice"), [], "Each login starts a session."),
        (list_of(None, mode="practice"), ["FAIL"], "Before a login: a check fails."),
        (
            list_of(lanes=[ONE[0] | {"waits": "Session 3 is RUNNING"}]),
            [],
            "The checks are in order. Session 3 is RUNNING; the next session can be armed after "
            "that.",
        ),
        (
            list_of(lanes=[TWO[0], TWO[1] | {"waits": "Session 3 is RUNNING"}]),
            [],
            "The checks are in order. Lane right: session 3 is RUNNING; the next session can be "
            "armed after that.",
        ),
    ],
)
def test_the_verdict_says_whether_sessions_can_be_armed(
    scripts: Scripts, list_: dict[str, Any], shown: list[str], text: str
) -> None:
    """It says why not, in the words of the page Session, and how much needs a look."""
    urgent = [{"shown": word} for word in shown]
    assert text == scripts.call(MODULE, "verdictText", list_, urgent)
