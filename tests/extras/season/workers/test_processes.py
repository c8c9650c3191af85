# SPDX-License-Identifier: Apache-2.0
"""Real worker processes: they die, are replaced, and leave nobody behind."""

from __future__ import annotations

import os

import pytest

from referee.errors import InputError
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
