# SPDX-License-Identifier: Apache-2.0
"""What of a board is news."""

from __future__ import annotations

from typing import Any

import pytest

from referee.service.board.steady import steady


def board(**changed: Any) -> dict[str, Any]:
    """Return a board at one moment, with a session that runs."""
    current = {"id": 1, "state": "RUNNING", "answers": 3, "settling_left_s": None}
    current |= {"remaining_s": 581.4, "elapsed_s": 18.6, "request_age_s": 0.6}
    reading = {"monotonic_s": 100.0, "power_w": 5.0, "age_s": 0.2}
    current |= {name: value for name, value in changed.items() if name in current}
    reading |= {name: value for name, value in changed.items() if name in reading}
    lane = {"number": 1, "meter": {"link": "OK", "reading": reading}, "current": current}
    return {"utc": changed.get("utc", "12:00:00"), "alarms": [], "lanes": [lane]}


@pytest.mark.parametrize(
    ("changed", "news"),
    [
        ({"utc": "12:00:01"}, False),
        ({"age_s": 0.7}, False),
        ({"remaining_s": 580.9, "elapsed_s": 19.1, "request_age_s": 1.1}, False),
        ({"settling_left_s": 119.5}, False),
        # What a page cannot count by itself.
        ({"request_age_s": 0.0}, True),
        ({"request_age_s": None}, True),
        ({"monotonic_s": 101.0}, True),
        ({"answers": 4}, True),
        ({"state": "ENDED"}, True),
        # A page's clock may stand still, so the time of a session is told again now and then.
        ({"remaining_s": 576.4, "elapsed_s": 23.6, "request_age_s": 5.6}, True),
    ],
)
def test_what_is_news(changed: dict[str, Any], news: bool) -> None:
    """A page counts ages and times to go by itself; all else is news."""
    assert news == (steady(board()) != steady(board(**changed)))


def test_a_lane_without_a_meter_and_a_session() -> None:
    """There may be nothing whose age could pass."""
    lane = {"number": 1, "meter": {"link": "NONE", "reading": None}, "current": None}
    idle = {"utc": "12:00:00", "lanes": [lane]}
    assert steady(idle) == steady(idle | {"utc": "12:00:09"})
