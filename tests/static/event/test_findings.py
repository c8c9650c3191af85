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


@pytest.mark.parametrize(
    ("list_", "shown", "text"),
    [
        ({"ready": True}, [], "Sessions can be armed."),
        (
            {"ready": True},
            ["WARN", "PASSED", "KNOWN"],
            "Sessions can be armed. 1 overridden, 1 to look at.",
        ),
        ({"ready": False}, ["FAIL"], "No session can be armed: 1 check fails."),
        (
            {"ready": False},
            ["FAIL", "FAIL", "WARN"],
            "No session can be armed: 2 checks fail. 1 to look at.",
        ),
        (
            {"ready": True, "running": True},
            [],
            "No session can be armed while the slow checks run.",
        ),
    ],
)
def test_the_verdict_counts(
    scripts: Scripts, list_: dict[str, bool], shown: list[str], text: str
) -> None:
    """It says whether sessions can be armed, and how much needs a look."""
    urgent = [{"shown": word} for word in shown]
    assert text == scripts.call(MODULE, "verdictText", list_, urgent)
