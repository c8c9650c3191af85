# SPDX-License-Identifier: Apache-2.0
"""Sessions of several stations that were not run alike are marked, and the remark names them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from referee.core.conditions import Conditions
from referee.extras.stations.bundles import BundleFolder
from referee.extras.stations.joint_board import joint_view, view_text
from referee.extras.stations.joint_rows import joint_stations
from referee.extras.stations.joint_text import board_text
from referee.service.evidence.bundle import write_bundle
from referee.service.scoreboard.feed import START, lines_after
from referee.service.scoreboard.publisher import Publisher
from referee.tracks.loading import load_track
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.stations import feed, followed, judged

TRACK = load_track("network")
USUAL = Conditions("network", 600.0, 0.0, "WT300 series", "RMS", True, None, "aa", None, None)


def told(**other):
    """Return a judgement of a station that tells its conditions."""
    return judged(2.0, conditions=asdict(replace(USUAL, **other)))


def shown(*stations, bundles=()):
    """Return what differs by team, and the remark of each station."""
    found = json.loads(view_text("Both", TRACK, stations, bundles))
    differs = {one["team"]: [it["condition"] for it in one["differs"]] for one in found["entries"]}
    return differs, [one["remark"] for one in found["stations"]]


def test_a_session_of_another_station_is_marked():
    """The rule is over all stations, and the other one is named beside its own."""
    a = followed("A", feed([("ants", [told()]), ("bees", [told()])], "ka"))
    b = followed("B", feed([("wasps", [told(meter="emulated", extra_s=60.0)])], "kb"))
    differs, remarks = shown(a, b)
    assert {"ants": [], "bees": [], "wasps": ["extra_s", "meter"]} == differs
    mark = "60 s more time; meter emulated, others WT300 series"
    assert ["", f"not alike: session 1 ({mark})"] == remarks
    text = board_text(joint_view("Both", TRACK, joint_stations([a, b], (), "network")), [])
    assert f"SUSPECT  {mark}" in text or f"VALID    {mark}" in text
    assert "not alike" in text.splitlines()[2]


def test_who_takes_no_part_in_the_ranking_is_not_compared():
    """A team that has withdrawn, or whose newest session runs, is no rule for others."""
    other = told(length_s=60.0)
    a = followed("A", feed([("ants", [told()]), ("bees", [other, None]), ("crabs", [None])], "ka"))
    assert {"ants": [], "bees": [], "crabs": []} == shown(a)[0]


def test_a_station_of_1_0_is_told_and_not_accused():
    """Its feed has no conditions: nobody knows, and nobody is marked."""
    a = followed("A", feed([("ants", [told()])], "ka"))
    b = followed("B", feed([("wasps", [judged(2.0)])], "kb"))
    differs, remarks = shown(a, b)
    assert {"ants": [], "wasps": []} == differs
    assert ["", "not told by session 1: how it was run and scored"] == remarks


@pytest.mark.parametrize("value", [[1, 2], {"a": {}}, "x\n", 7])
def test_a_value_that_is_none_is_unknown(value):
    """A strange station harms no other one, and its value stands nowhere."""
    a = followed("A", feed([("ants", [told(meter=value)])], "ka"))
    assert ({"ants": []}, ["not told by session 1: meter"]) == shown(a)


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """Return a folder with the bundles of two events of different length, and their feeds."""
    folder = tmp_path_factory.mktemp("halls")
    feeds = []
    for hall, seconds, teams in (("tokyo", 600, ("ants", "bees")), ("paris", 300, ("wasps",))):
        place, clock = folder / "events" / hall, FakeClock()
        place.mkdir(parents=True)
        contest = make_contest(place, clock, images=8, mode="event", seconds=seconds)
        meter = FakeMeter(clock)
        with running_desk(contest, meter) as desk:
            event = Event(contest, desk, meter)
            event.register(*teams)
            (folder / "copied" / hall).mkdir(parents=True)
            for team in teams:
                number = event.play(team)
                path = folder / "copied" / hall / f"session{number}.zip"
                write_bundle(contest, number, path)
            lines, _ = lines_after(Publisher(contest).refresh(), START)
            feeds.append(followed(hall, "".join(lines)))
        contest.database.close()
    return folder / "copied", feeds


def test_bundles_of_two_events_are_compared(copied):
    """The remark names the bundle, and the feeds of the two stations say the same."""
    folder, feeds = copied
    sessions = BundleFolder(folder, TRACK).read(lambda text: None)
    differs, remarks = shown(bundles=sessions)
    assert {"ants": [], "bees": [], "wasps": ["length_s"]} == differs
    named = "not alike: paris/session1.zip (300 s, others 600 s)"
    assert ["", named] == sorted(remarks)
    assert differs == shown(*feeds)[0]
