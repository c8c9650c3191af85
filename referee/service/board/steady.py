# SPDX-License-Identifier: Apache-2.0
"""What of a board is news: all but the time that has passed, which a page counts by itself."""

from __future__ import annotations

from msgspec.structs import replace

from referee.service.board.shown import LaneOfBoard, SessionCard, ShownBoard, ShownMeter

# A page's own clock may stand still, for example while its laptop sleeps. So the time of a session
# is told again after so many seconds, and else when anything changes.
_TOLD_AGAIN_S = 5.0


def steady(board: ShownBoard) -> ShownBoard:
    """Return a board without the passing of time: equal ones show the same on a page.

    Ages and times to go are replaced by what they count from.
    """
    return replace(board, lanes=[_without_time(lane) for lane in board.lanes], utc="")


def _without_time(lane: LaneOfBoard) -> LaneOfBoard:
    current = lane.current
    return replace(
        lane,
        meter=_without_age(lane.meter),
        current=None if current is None else _without_countdown(current),
    )


def _without_age(meter: ShownMeter) -> ShownMeter:
    """Return a meter whose reading says when it was taken, and not how long ago."""
    reading = meter.reading
    return replace(meter, reading=None if reading is None else {**reading, "age_s": 0.0})


def _without_countdown(session: SessionCard) -> SessionCard:
    elapsed_s, age_s = session.elapsed_s, session.request_age_s
    asked_s = None if elapsed_s is None or age_s is None else round(elapsed_s - age_s, 1)
    return replace(
        session,
        elapsed_s=None,
        settling_left_s=None,
        request_age_s=asked_s,
        remaining_s=session.remaining_s // _TOLD_AGAIN_S,
    )
