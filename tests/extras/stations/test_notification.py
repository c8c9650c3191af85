# SPDX-License-Identifier: Apache-2.0
"""A feed is taken whole and typed, or refused with the number of the line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.extras.stations.notification import (
    LINES_MOST,
    JudgementData,
    StationFault,
    read_notifications,
    seconds_of,
)
from referee.extras.stations.station_state import (
    StationState,
    after,
    state_from_lines,
    state_to_lines,
)
from tests.support.stations import feed, judged, line

GOOD = line("judgements", "1", judged())


def test_a_type_and_a_field_of_a_newer_station_are_left_out():
    """What this version does not know does not harm what it knows."""
    newer = json.loads(GOOD)
    newer["data"]["charm"] = {"x": [1]}
    text = line("clarifications", "1", {"x": 1}) + json.dumps(newer) + "\n\n"
    (found,) = read_notifications(text.encode())
    assert JudgementData(judgement_type_id="VALID", score=1.0, mean_ap=0.1, energy_wh=0.1) == (
        found.data
    )


@pytest.mark.parametrize(
    "broken",
    [
        "{",
        "[]\n",
        GOOD[: len(GOOD) // 2],
        GOOD.replace("1.0,", "1e999,", 1),
        GOOD.replace("1.0,", '"NaN",', 1),
        GOOD.replace("VALID", "V\\u001b[2J"),
        GOOD.replace('"1"', '"\\u001b"'),
        GOOD.replace('"1.0.00000000"', '"a b\\u0000"'),
        line("teams", "1", {"name": "x" * 201}),
        line("teams", "1", {}),
        line("state", None, {"frozen": "yesterday"}),
        line("state", None, {"frozen": "2026-06-07T12:00:00"}),
        line("contest", "contest", {"name": "x", "duration": "long"}),
        GOOD.replace('"data": {', '"data": {"images": ' + "9" * 400 + ", "),
        # Python 3.14 follows as many levels as its stack holds, 100,000 or more.
        GOOD.replace('"data": {', '"data": {"charm": ' + "[" * 1_000_000 + "]" * 1_000_000 + ", "),
        '{"type": "x", "charm": ' + "[" * 1_000_000,
    ],
)
def test_a_malformed_line_is_named(broken):
    """A fault has the number of its line, and nothing before it counts."""
    with pytest.raises(StationFault, match="line 2"):
        read_notifications((GOOD + broken).encode())


def test_a_feed_has_no_more_lines_than_any_event():
    """A feed that never ends is no feed."""
    with pytest.raises(StationFault, match=str(LINES_MOST)):
        read_notifications(b"\n" * (LINES_MOST + 1))


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(content):
    """Whatever a station sends, it is a list of notifications or a fault."""
    try:
        assert isinstance(read_notifications(content), list)
    except StationFault:
        pass


@given(st.lists(st.sampled_from(["void", None, "judged"]), max_size=6), st.integers(0, 9))
def test_what_is_held_survives_the_disk(results, history):
    """Lines written for the next board give the same objects, removed ones too."""
    played = [judged() if one == "judged" else one for one in results]
    told = read_notifications(feed([("ants", played)]).encode())
    known = after(StationState(history=history), told)
    assert known == state_from_lines(state_to_lines(known), history)


@pytest.mark.parametrize(
    ("text", "seconds"), [("0:10:00.000", 600.0), ("1:00:01.5", 3601.5), ("0:00:20", 20.0)]
)
def test_a_duration_is_seconds(text, seconds):
    """Thousandths may be fewer than three digits."""
    assert seconds == seconds_of(text)
