# SPDX-License-Identifier: Apache-2.0
"""The joint ranking follows from what is known of the stations, and from nothing else."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from referee.extras.stations.bundles import BundleSession
from referee.extras.stations.joint_board import (
    StationStanding,
    is_live,
    joint_view,
    silence_text,
    standing_of,
    view_text,
)
from referee.extras.stations.joint_rows import joint_stations
from referee.extras.stations.joint_text import board_text
from referee.extras.stations.notification import JudgementData
from referee.tracks.loading import load_track
from tests.support.stations import NOW, feed, followed, judged, line

TRACK = load_track("network")
THAWED = {"frozen": "2026-06-07T10:00:00Z", "thawed": "2026-06-07T11:00:00Z"}


def view(*stations, bundles=()):
    """Return the view of these stations."""
    return json.loads(view_text("Both halls", TRACK, stations, bundles))


def ranks(found):
    """Return rank, team, station, session and word of each entry."""
    names = ("rank", "team", "station", "session", "word")
    return [tuple(entry[name] for name in names) for entry in found["entries"]]


def bundle(station, session, team="ants", score=9.0, void=False, place="", facts=1):
    """Return a session as a bundle tells it."""
    judgement = JudgementData(judgement_type_id="VALID", score=score, mean_ap=0.9, energy_wh=0.1)
    return BundleSession(station, place, session, "", team, 600.0, void, judgement, facts, "")


def test_teams_of_all_stations_share_one_ranking():
    """Equal scores share a rank; teams without a result follow, with the reason."""
    a = followed("A", feed([("ants", [judged(2.0)]), ("bees", [judged(None, "INVALID")])], "ka"))
    b = followed("B", feed([("ants", [judged(2.0)]), ("wasps", [judged(3.0)])], "kb"))
    c = followed("C", feed([("moths", []), ("flies", [None])], "kc"))
    assert [
        (1, "wasps", "B", 2, ""),
        (2, "ants", "A", 1, ""),
        (2, "ants", "B", 1, ""),
        (None, "bees", "A", 2, "no valid energy"),
        (None, "moths", "C", None, "has not run yet"),
        (None, "flies", "C", 1, "on now"),
    ] == ranks(view(a, b, c))


def test_the_newest_session_that_is_not_void_counts():
    """A better one before it does not, and a void one after it does not either."""
    found = view(followed("A", feed([("ants", [judged(5.0), judged(2.0), "void"])])))
    assert [(1, "ants", "A", 2, "")] == ranks(found)
    assert 2 == found["entries"][0]["attempts"]


@pytest.mark.parametrize("name", ["بچه\u200cها", "Bees \U0001f469\u200d\U0001f680"])
def test_a_name_with_a_joiner_is_a_name(name):
    """The words of some scripts and some pictures need one, so a station that tells it counts."""
    assert [(1, name, "A", 1, "")] == ranks(view(followed("A", feed([(name, [judged()])]))))


def test_a_team_that_has_withdrawn_has_no_rank():
    """It stays in the table, with the word."""
    text = feed([("ants", [judged()])]) + line("teams", "1", {"name": "ants", "withdrawn": True})
    assert [(None, "ants", "A", 1, "withdrawn")] == ranks(view(followed("A", text)))


@pytest.mark.parametrize(
    ("states", "state"),
    [
        ([{}, {}], "PROVISIONAL"),
        ([{}, {"frozen": "2026-06-07T11:00:00Z"}], "FROZEN"),
        ([{}, THAWED], "PROVISIONAL"),
        ([THAWED | {"finalized": "2026-06-07T12:00:00Z"}] * 2, "FINAL"),
        ([{}, {"finalized": "2026-06-07T12:00:00Z"}], "PROVISIONAL"),
    ],
)
def test_the_board_is_as_certain_as_its_least_certain_station(states, state):
    """One freeze freezes it, and it is final when all are."""
    stations = [followed(f"S{n}", feed(**one)) for n, one in enumerate(states)]
    assert state == view(*stations)["state"]


def test_a_board_is_not_final_before_it_has_heard_of_every_station():
    """A station that has never answered may hold the best score."""
    final = THAWED | {"finalized": "2026-06-07T12:00:00Z"}
    stations = [followed("A", feed(station="ka", **final)), followed("B", "")]
    assert "PROVISIONAL" == view(*stations)["state"]


def test_a_station_of_another_track_takes_no_part():
    """The board says so, and ranks the others."""
    a = followed("A", feed([("ants", [judged()])], "ka"))
    b = followed("B", feed([("bees", [judged()])], "kb", track="camera"))
    found = view(a, b)
    assert ["ants"] == [one["team"] for one in found["entries"]]
    assert "camera" in found["stations"][1]["fault"]


def test_a_copy_of_a_station_counts_once():
    """Two addresses with one key are one event."""
    text = feed([("ants", [judged()])], "ka")
    found = view(followed("A", text), followed("B", text))
    assert 1 == len(found["entries"])
    assert "same key as 'A'" in found["stations"][1]["fault"]


def test_sessions_of_another_length_are_remarked():
    """Ten minutes and five minutes are no equal work."""
    stations = [followed(f"S{n}", feed(station=str(n))) for n in (1, 2)]
    odd = followed("C", feed(duration="0:05:00", station="c"))
    assert "last 300 s" in view(*stations, odd)["stations"][2]["remark"]


def test_a_bundle_fills_what_the_feed_lacks_and_no_more():
    """A session that the feed has judged or removed is the feed's."""
    a = followed("A", feed([("ants", [judged(1.0), "void"]), ("bees", [None])], "ka"))
    mine = [bundle("ka", 1), bundle("ka", 2), bundle("ka", 3, "bees"), bundle("ka", 4, "wasps")]
    assert [
        (1, "bees", "A", 3, ""),
        (1, "wasps", "A", 4, ""),
        (3, "ants", "A", 1, ""),
    ] == ranks(view(a, bundles=mine))


def test_bundles_of_a_frozen_station_wait_for_the_thaw():
    """What a freeze hides does not come in by a stick."""
    a = followed("A", feed([("ants", [])], "ka", frozen="2026-06-07T11:00:00Z"))
    assert [(None, "ants", "A", None, "has not run yet")] == ranks(
        view(a, bundles=[bundle("ka", 1)])
    )


def test_bundles_alone_make_a_board():
    """A station without a feed is called by its folder, else by its key; its void ones are away."""
    mine = [
        *(bundle("k1" * 32, 1, place="Tokyo"), bundle("k1" * 32, 2, score=1.0, place="Tokyo")),
        *(bundle("k2" * 32, 1, "bees", 4.0), bundle("k2" * 32, 2, "bees", void=True)),
    ]
    assert [(1, "bees", "k2k2k2k2", 1, ""), (2, "ants", "Tokyo", 2, "")] == ranks(
        view(bundles=mine)
    )


@pytest.mark.parametrize(
    ("standing", "text"),
    [
        (StationStanding("A", NOW.isoformat(), ""), "live"),
        (StationStanding("A", (NOW - timedelta(seconds=9)).isoformat(), ""), "live"),
        (
            StationStanding("A", (NOW - timedelta(seconds=312)).isoformat(), ""),
            "station silent for 312 s",
        ),
        (StationStanding("A", (NOW + timedelta(seconds=9)).isoformat(), ""), "live"),
        (StationStanding("A", None, "it is off"), "never heard: it is off"),
        (
            StationStanding("A", (NOW - timedelta(seconds=60)).isoformat(), "it is off"),
            "station silent for 60 s: it is off",
        ),
    ],
)
def test_a_station_is_silent_for_so_many_seconds(standing, text):
    """A station that was heard a moment ago is live; a clock that was set makes none silent."""
    assert text == silence_text(standing, NOW)
    assert (text == "live") == is_live(standing, NOW)


def test_the_terminal_gets_ranking_and_stations():
    """One line an entry and one a station, in columns."""
    a = followed("Hall A", feed([("ants", [judged(2.0)]), ("bees", [None])], "ka"))
    told = [{"name": "Hall A", "text": silence_text(standing_of(a), NOW)}]
    assert [
        "Both halls: PROVISIONAL",
        "",
        "rank  team           station  session      mAP      Wh  W  score  interval  verdict",
        "   1  ants           Hall A         1  0.10000  0.1000  –   2.00         –  VALID",
        "   –  bees (on now)  Hall A         2        –       –  –      –         –  –",
        "",
        "Stations:",
        "  Hall A: live; not told by session 1: how it was run and scored",
    ] == board_text(
        joint_view("Both halls", TRACK, joint_stations([a], (), "network")), told
    ).splitlines()
