# SPDX-License-Identifier: Apache-2.0
"""The acts beside what is open before results can be final."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from referee.service.event.open_point import Kind
from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "event/open.js"
# What nobody can settle by an act on the page: there is something to look at, or to wait for.
TO_LOOK_AT = {"no team", "no energy", "no score", "guest"}


def point(kind: str, number: int = 1, reason: str = "") -> dict[str, Any]:
    """Return a point as the desk tells it."""
    return {"kind": kind, "text": "…", "team": f"team {number}", "sessions": [number],
            "proposal": None, "reason": reason, "page": "./"}  # fmt: skip


def test_each_kind_of_point_has_its_acts(scripts: Scripts) -> None:
    """Every kind that the desk knows has at least one act, or is there to be looked at."""
    without = {kind for kind in get_args(Kind) if not scripts.call(MODULE, "actsOf", point(kind))}
    assert TO_LOOK_AT == without


def test_points_of_one_reason_have_one_act(scripts: Scripts) -> None:
    """Points of another reason, and those that stand alone, are left out."""
    points = [
        point("doubt", 1, "SUSPECT gap"),
        point("doubt", 2, "SUSPECT gap"),
        point("doubt", 3, "SUSPECT clock"),
        point("waiting", 4, "waiting"),
        point("waiting", 5, "waiting"),
        point("no score", 6),
        point("no score", 7),
    ]
    points = [one | {"doubt": "SUSPECT"} for one in points]
    points += [point("conditions", number, "length") for number in (8, 9)]
    doubts, waiting, unlike = scripts.call(MODULE, "groupsOf", points)
    assert [
        "2 sessions have an energy that is SUSPECT, for the same reason: 1, 2.",
        "2 teams have no session that counts.",
        "2 sessions differ from the others in the same way: 8, 9.",
    ] == [one["text"] for one in (doubts, waiting, unlike)]
    assert ("review", "Review all 2…", [1, 2]) == (
        doubts["act"],
        doubts["words"],
        doubts["sessions"],
    )
    assert ("withdraw", ["team 4", "team 5"]) == (waiting["act"], waiting["teams"])


def test_each_session_too_many_has_an_act_of_its_own(scripts: Scripts) -> None:
    """Three sessions that are not void leave two to be voided, one after the other."""
    acts = scripts.call(MODULE, "actsOf", point("several sessions") | {"sessions": [2, 5]})
    assert ["Void session 2…", "Void session 5…"] == [one["words"] for one in acts]
