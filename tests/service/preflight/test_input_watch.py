# SPDX-License-Identifier: Apache-2.0
"""A file that scores rest on is an alarm as soon as it changes."""

from __future__ import annotations

import json
import shutil

import pytest

from referee.service.preflight.input_watch import InputWatch
from tests.support.contests import make_contest


@pytest.fixture
def watched(tmp_path, clock):
    """Return a prepared contest, its watch, and what the watch has told."""
    contest = make_contest(tmp_path, clock, mode="event", seconds=600)
    told: list[str] = []
    yield contest, InputWatch(contest, told.append), told
    contest.database.close()


def look(watch, times=2):
    """Look some times: a change counts when it stands still."""
    for _ in range(times):
        watch.look()


def test_a_changed_truth_is_told_once_for_each_content(watched):
    """Changed, changed again, gone, and as it was: four looks, three sentences."""
    contest, watch, told = watched
    truth = contest.config.images.ground_truth
    kept = shutil.copy(truth, truth.with_name("kept.json"))
    look(watch)
    assert [] == told
    for text in ("{}", json.dumps([1])):
        truth.write_text(text)
        look(watch, 3)
    truth.unlink()
    look(watch, 3)
    assert [True] * 3 == ["truth.json: has changed since" in one for one in told]
    assert "is not there" in told[2] and "Put the old file back." in told[0]
    shutil.copy(kept, truth)
    look(watch, 3)
    assert 3 == len(told)


def test_a_copy_of_the_same_bytes_is_no_change(watched):
    """Another time of the same file is read again, and nothing is told."""
    contest, watch, told = watched
    truth = contest.config.images.ground_truth
    look(watch)
    truth.write_bytes(truth.read_bytes())
    look(watch)
    assert [] == told


def test_a_file_that_is_being_copied_is_not_judged(watched):
    """What changes from look to look is judged when it stands still."""
    contest, watch, told = watched
    truth = contest.config.images.ground_truth
    whole = truth.read_bytes()
    look(watch)
    for end in (10, 20, 30):
        truth.write_bytes(whole[:end])
        look(watch, 1)
    truth.write_bytes(whole)
    look(watch)
    assert [] == told
