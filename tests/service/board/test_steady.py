# SPDX-License-Identifier: Apache-2.0
"""What of a board is news."""

from __future__ import annotations

from typing import Any

import pytest

from referee.service.board.shown import ShownBoard
from referee.service.board.steady import steady
from tests.support.shown import shown_board, shown_card, shown_lane, shown_meter, shown_reading


def board(**changed: Any) -> ShownBoard:
    """Return a board at one moment, with a session that runs."""
    utc = changed.pop("utc", "12:00:00")
    taken = {name: changed.pop(name) for name in ("monotonic_s", "age_s") if name in changed}
    times: dict[str, Any] = {"remaining_s": 581.4, "elapsed_s": 18.6, "request_age_s": 0.6}
    card = shown_card(**({"answers": 3} | times | changed))
    return shown_board(shown_lane(card, shown_meter(reading=shown_reading(**taken))), utc=utc)


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
    lane = shown_lane(None, shown_meter("none"))
    assert steady(shown_board(lane)) == steady(shown_board(lane, utc="12:00:09"))
