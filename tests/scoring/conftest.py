# SPDX-License-Identifier: Apache-2.0
"""Real input for the scorer's tests, where it is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).parents[2] / "../shared/data"


@pytest.fixture
def shared_data():
    """Return the folder of real data beside the project, or skip."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"{SHARED_DATA} is absent: it holds real photographs and detections")
    return SHARED_DATA
