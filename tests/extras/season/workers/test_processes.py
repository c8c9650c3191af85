# SPDX-License-Identifier: Apache-2.0
"""Real worker processes: they die, are replaced, and leave nobody behind."""

from __future__ import annotations

import errno
import os

import pytest
from pebble.pool.process import TaskManager

from referee.errors import InputError, Unavailable
from referee.extras.season.executor import Lost
from referee.extras.season.workers.processes import Processes
from tests.support.running import descendants
from tests.support.season_work import kill_once, kill_or_square, refuse

pytestmark = pytest.mark.slow


def test_the_task_of_a_killed_worker_goes_on_elsewhere(tmp_path):
    """Each of two workers is killed once, and every item has its result all the same."""
    paths = [str(tmp_path / name) for name in ("a", "b")]
    assert {(it, it[-1]) for it in paths} == set(Processes(2).outcomes(kill_once, paths))
    assert [] == [line for _, line in descendants(os.getpid()) if "spawn_main" in line]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_worker_that_dies_before_it_was_heard_loses_nothing(jobs, tmp_path, monkeypatch):
    """On a busy machine a process can be dead before anybody has read that it began its item."""
    monkeypatch.setattr(TaskManager, "task_start", lambda *_: None)
    paths = [str(tmp_path / name) for name in "abc"]
    assert {(it, it[-1]) for it in paths} == set(Processes(jobs).outcomes(kill_once, paths))


def test_where_no_process_can_start_the_season_says_so(monkeypatch):
    """The reason of the system is in the sentence, and no item is called a killer."""

    def full(self, process):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.popen_spawn_posix.Popen.__init__", full)
    with pytest.raises(Unavailable, match="no worker process can be started .*temporarily"):
        list(Processes(2).outcomes(refuse, [5, 6]))


def test_an_item_that_kills_every_worker_is_given_up():
    """The item is lost after three workers; the others have their results."""
    found = dict(Processes(1).outcomes(kill_or_square, [3, -1, 4]))
    assert {3: 9, -1: Lost("It killed 3 workers, one by one."), 4: 16} == found


def test_what_a_worker_refuses_stops_the_season():
    """An error that is no bundle's fault reaches the caller, and the workers end."""
    with pytest.raises(InputError, match="no such truth for 5"):
        list(Processes(1).outcomes(refuse, [5, 6]))
    assert [] == [line for _, line in descendants(os.getpid()) if "spawn_main" in line]


def test_nothing_to_do_starts_nothing():
    """Without an item no process starts."""
    assert [] == list(Processes(2).outcomes(refuse, []))
