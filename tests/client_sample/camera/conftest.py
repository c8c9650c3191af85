# SPDX-License-Identifier: Apache-2.0
"""A frame, and a plain photograph of it in front of a dark wall."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from referee.tracks.camera.code import FrameLabel

LABEL = FrameLabel(0b1011001110_0111101011, 800, 600, 0xBEEF)


@pytest.fixture(scope="session")
def label() -> FrameLabel:
    """Return the label of the frame."""
    return LABEL


@pytest.fixture(scope="session")
def frame() -> NDArray[np.uint8]:
    """Return a frame of 1920x1080 (RGB)."""
    from tests.support.frames import chance_frame  # It needs OpenCV.

    return chance_frame(LABEL, np.random.default_rng(3))


@pytest.fixture(scope="session")
def photo(frame) -> NDArray[np.uint8]:
    """Return a photograph of the frame."""
    from tests.support.frames import plain

    return plain(frame)
