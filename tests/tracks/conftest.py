# SPDX-License-Identifier: Apache-2.0
"""A clock for contests of every track."""

from __future__ import annotations

import pytest

from tests.support.fakes import FakeClock


@pytest.fixture
def clock():
    """Return a clock that stands still."""
    return FakeClock()
