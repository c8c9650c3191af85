# SPDX-License-Identifier: Apache-2.0
"""How long a durable commit takes on a folder's disk."""

from __future__ import annotations

import itertools

import pytest

from referee.errors import Unavailable
from referee.store.commit_cost import commit_seconds


def test_each_commit_is_timed_and_nothing_stays(tmp_path):
    """The clock is read before and after each."""
    ticks = itertools.count()
    assert [1, 1, 1] == commit_seconds(tmp_path, 3, lambda: next(ticks))
    assert [] == list(tmp_path.iterdir())


def test_a_disk_that_refuses_is_named(tmp_path):
    """A folder that is not there cannot be written to."""
    with pytest.raises(Unavailable, match=r"The disk of .*nowhere refuses a test: "):
        commit_seconds(tmp_path / "nowhere", 1)
