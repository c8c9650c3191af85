# SPDX-License-Identifier: Apache-2.0
"""What of a board is news: all but the time that has passed, which a page counts by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# A page's own clock may stand still, for example while its laptop sleeps. So the time of a session
# is told again after so many seconds, and else when anything changes.
_TOLD_AGAIN_S = 5.0


def steady(board: Mapping[str, Any]) -> dict[str, Any]:
    """Return a board without the passing of time: equal ones show the same on a page.

    Ages and times to go are replaced by what they count from.
    """
    lanes = [_without_time(lane) for lane in board["lanes"]]
    return {**board, "lanes": lanes, "utc": None}


def _without_time(lane: Mapping[str, Any]) -> dict[str, Any]:
    """Return a lane."""
    meter, current = lane["meter"], lane["current"]
    return {
        **lane,
        "meter": meter and _without_age(meter),
        "current": current and _without_countdown(current),
    }


def _without_age(meter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a meter whose reading says when it was taken, and not how long ago."""
    reading = meter["reading"]
    return {**meter, "reading": reading and {**reading, "age_s": None}}


def _without_countdown(session: Mapping[str, Any]) -> dict[str, Any]:
    elapsed_s, age_s = session["elapsed_s"], session["request_age_s"]
    asked_s = None if elapsed_s is None or age_s is None else round(elapsed_s - age_s, 1)
    times = {"elapsed_s": None, "settling_left_s": None, "request_age_s": asked_s}
    return {**session, **times, "remaining_s": session["remaining_s"] // _TOLD_AGAIN_S}
