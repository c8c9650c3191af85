# SPDX-License-Identifier: Apache-2.0
"""An event whose sessions run on a real desk, with a meter and a clock in memory."""

from __future__ import annotations

import pytest

from tests.support.events import desk_event


@pytest.fixture
def event(tmp_path, clock):
    """Return an event of eight images without teams."""
    with desk_event(tmp_path, clock) as found:
        yield found
