# SPDX-License-Identifier: Apache-2.0
"""The line that says how far a season is."""

from __future__ import annotations

from referee.extras.season.rescoring import SeasonProgress
from referee.extras.season.workers.status import Status


def test_the_line_has_counts_rate_and_time_left():
    """A third of the bytes after ten seconds leaves twenty; the rate counts bundles."""
    shown, times = [], iter([100.0, 110.0])
    status = Status(shown.append, lambda: next(times))
    status.tell("scoring", SeasonProgress(20, 300))
    status.tell("scoring", SeasonProgress(20, 300, bundles_done=5, bytes_done=100.0, broken=1))
    assert shown[0].startswith("scoring: 0 of 20 bundles, 0.0 a second")
    assert shown[1].startswith("scoring: 5 of 20 bundles, 1 broken, 0.5 a second  33%|")
    assert shown[1].endswith("| 00:10, 00:20 left")


def test_each_kind_of_work_has_its_own_time():
    """The time of the look for what is done does not count for the scores."""
    shown, times = [], iter([0.0, 50.0, 51.0])
    status = Status(shown.append, lambda: next(times))
    status.tell("looking for what is done", SeasonProgress(2, 10))
    status.tell("scoring", SeasonProgress(2, 10))
    status.tell("scoring", SeasonProgress(2, 10, bundles_done=1, bytes_done=5.0))
    assert shown[2].startswith("scoring: 1 of 2 bundles, 1.0 a second  50%")
