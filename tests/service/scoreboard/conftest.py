# SPDX-License-Identifier: Apache-2.0
"""An event whose sessions run on a real desk, and its publisher."""

from __future__ import annotations

import pytest

from referee.service.scoreboard.publisher import Publisher
from tests.support.events import desk_event


@pytest.fixture
def event(tmp_path, clock):
    """Return an event of eight images without teams; its `publisher` makes snapshots."""
    with desk_event(tmp_path, clock) as found:
        found.publisher = Publisher(found.contest)
        yield found
