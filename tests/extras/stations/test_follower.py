# SPDX-License-Identifier: Apache-2.0
"""A follower resumes by token, begins again with another history, and loses nothing by faults."""

from __future__ import annotations

from datetime import timedelta

import pytest

from referee.extras.stations.address import StationAddress
from referee.extras.stations.follower import StationFollower
from referee.extras.stations.link import FeedAnswer
from referee.extras.stations.notification import StationFault, TeamData
from referee.extras.stations.station_state import load
from tests.support.stations import NOW, feed, line

ADDRESS = StationAddress("Hall A", "http://a")


class Station:
    """A feed in memory: its lines have the numbers of a history, as tokens."""

    def __init__(self):
        self.lines, self.history, self.asked, self.fault = [], "aaaa", [], None

    def tell(self, kind, own, data):
        """Add a line."""
        token = f"{len(self.lines) + 1}.0.{self.history}"
        self.lines.append((token, line(kind, own, data, token)))

    def __call__(self, url, token):
        self.asked.append(token)
        if self.fault is not None:
            raise StationFault(self.fault)
        tokens = [one for one, _ in self.lines]
        if token is not None and token not in tokens:
            return FeedAnswer(400, b"unknown")
        begin = 0 if token is None else tokens.index(token) + 1
        return FeedAnswer(200, "".join(text for _, text in self.lines[begin:]).encode())


class Clock:
    """A clock that stands still."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def station():
    """Return a station that has told of its contest and of a team."""
    found = Station()
    found.tell("contest", "contest", {"name": "LPIRC", "duration": "0:10:00"})
    found.tell("teams", "1", {"name": "ants"})
    return found


def make(station, folder=None, clock=None, told=None):
    """Return a follower of the station."""
    tell = [].append if told is None else told.append
    return StationFollower(ADDRESS, station, clock or Clock(), folder, tell)


def teams(follower):
    """Return the names of the teams that a follower knows."""
    return [it.name for it in follower.followed.saved.known.of_kind("teams", TeamData).values()]


def test_a_second_look_asks_behind_the_newest_token_alone(station):
    """What is known is not asked again, and what is new is added."""
    follower = make(station)
    follower.look()
    station.tell("teams", "2", {"name": "bees"})
    station.tell("teams", "1", None)
    follower.look()
    assert ([None, "2.0.aaaa"], ["bees"]) == (station.asked, teams(follower))
    follower.look()
    assert "4.0.aaaa" == station.asked[-1]


def test_another_history_takes_the_place_of_what_was_known(station):
    """A restored database forgets what came after the copy, and so does the board."""
    told = []
    follower = make(station, told=told)
    station.tell("teams", "2", {"name": "bees"})
    follower.look()
    del station.lines[-1]
    station.history = "bbbb"
    station.tell("teams", "3", {"name": "wasps"})
    follower.look()
    assert (["ants", "wasps"], 1) == (teams(follower), follower.followed.saved.known.history)
    assert "another history" in told[-1]


def test_a_fault_changes_nothing_and_ends_with_the_next_answer(station):
    """A silent or lying station keeps its rows; the board says so once, and when it is over."""
    clock, told = Clock(), []
    follower = make(station, clock=clock, told=told)
    follower.look()
    before = follower.followed.saved
    clock.now += timedelta(seconds=60)
    station.fault = "nothing listens at its address"
    assert before == follower.look().saved == follower.look().saved
    station.fault = None
    assert NOW + timedelta(seconds=60) == follower.look().saved.heard
    assert [
        "Hall A: answers.",
        "Hall A: nothing listens at its address.",
        "Hall A: answers.",
    ] == told


def test_half_an_answer_counts_for_nothing(station):
    """A malformed line leaves all lines of its answer away, and the token where it was."""
    follower = make(station)
    follower.look()
    station.tell("teams", "2", {"name": "bees"})
    station.tell("teams", "3", {"name": 7})
    assert "line 2" in follower.look().fault
    assert (["ants"], "2.0.aaaa") == (teams(follower), follower.followed.saved.known.token)


def test_a_station_that_refuses_every_question_keeps_its_rows(station):
    """Only a whole feed takes the place of what is known."""
    follower = make(station)
    follower.look()
    station.__class__.__call__, kept = (
        (lambda self, url, token: FeedAnswer(400, b"")),
        Station.__call__,
    )
    try:
        assert "refuses" in follower.look().fault
    finally:
        Station.__call__ = kept
    assert ["ants"] == teams(follower)


def test_after_a_while_all_is_read_again(station):
    """What the station does not number, such as its contest's name, comes with a whole feed."""
    clock = Clock()
    follower = make(station, clock=clock)
    follower.look()
    token = "1.0.aaaa"
    renamed = {"name": "LPIRC 2026", "duration": "0:10:00"}
    station.lines[0] = (token, line("contest", "contest", renamed, token))
    follower.look()
    assert "LPIRC" == follower.followed.saved.known.contest.name
    clock.now += timedelta(minutes=11)
    follower.look()
    assert "LPIRC 2026" == follower.followed.saved.known.contest.name
    assert 0 == follower.followed.saved.known.history


def test_a_new_board_goes_on_where_the_old_one_was(station, tmp_path):
    """Token, rows and the time of the last answer are on the disk."""
    make(station, tmp_path).look()
    second = make(station, tmp_path)
    assert (["ants"], NOW) == (teams(second), second.followed.saved.heard)
    second.look()
    assert [None, "2.0.aaaa"] == station.asked


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff", b'{"url":"","history":0}\n{\n'])
def test_a_broken_file_is_read_anew(station, tmp_path, content):
    """A file that somebody has harmed costs one whole look."""
    make(station, tmp_path).look()
    (path,) = tmp_path.glob("station-*.jsonl")
    path.write_bytes(content)
    assert load(tmp_path, ADDRESS.url).known.token is None
    follower = make(station, tmp_path)
    follower.look()
    assert ["ants"] == teams(follower)


def test_a_full_feed_of_the_house_can_be_followed():
    """The lines that other tests use are those of a feed."""
    follower = make(lambda url, token: FeedAnswer(200, feed([("ants", [])]).encode()))
    assert "" == follower.look().fault
