# SPDX-License-Identifier: Apache-2.0
"""What tests of every part share."""

from __future__ import annotations

from pathlib import Path

import pytest

_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real photographs, detections and models; skip where there is none."""
    if not _SHARED_DATA.is_dir():
        pytest.skip("the folder of real data is not beside the project")
    return _SHARED_DATA
