# SPDX-License-Identifier: Apache-2.0
"""A track names the field by which entries are ranked, and the direction."""

from __future__ import annotations

import pytest

from referee.tracks.network import TRACK
from referee.tracks.track import Ranking


@pytest.mark.parametrize(
    ("values", "places"),
    [([0.5, 2.0, 0.5, 0.1], [2, 1, 2, 4]), ([None, 1.0], [None, 1]), ([0.0], [1]), ([], [])],
)
def test_the_highest_score_wins_the_network_track(values, places):
    """Equal scores share a place, and an entry without a score has none."""
    assert places == TRACK.ranking.places([{"score": value} for value in values])


def test_equal_quotients_share_a_place():
    """.001 / .07 Wh and .003 / .21 Wh tie, though their doubles differ; a strange score stands."""
    figures = [(0.001, 0.07), (0.003, 0.21), (0.001, 0.071)]
    reports = [{"score": a / wh, "mean_ap": a, "energy_wh": wh} for a, wh in figures]
    assert reports[0]["score"] != reports[1]["score"]
    assert [1, 1, 3] == TRACK.ranking.places(reports)
    assert [2, 2, 4, 1] == TRACK.ranking.places([*reports, {**reports[2], "score": 9.0}])


def test_the_lowest_latency_wins_where_a_track_says_so():
    """A track may rank the lowest latency first; an entry without the field has no place."""
    ranking = Ranking("latency_ms", highest_first=False)
    assert [2, None, 1] == ranking.places([{"latency_ms": 30.0}, {}, {"latency_ms": 9.5}])
