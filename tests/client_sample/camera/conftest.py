# SPDX-License-Identifier: Apache-2.0
"""A frame, and a plain photograph of it in front of a dark wall."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from referee.tracks.camera.code import FrameLabel
from tests.support.frames import chance_frame

LABEL = FrameLabel(0b1011001110_0111101011, 800, 600, 0xBEEF)


@pytest.fixture(scope="session")
def label() -> FrameLabel:
    """Return the label of the frame."""
    return LABEL


@pytest.fixture(scope="session")
def frame() -> NDArray[np.uint8]:
    """Return a frame of 1920x1080 (RGB)."""
    return chance_frame(LABEL, np.random.default_rng(3))


def plain(screen: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Photograph a screen (RGB) from the front, at 0.55 of its size, in BGR."""
    photo = np.full((960, 1280, 3), 12, dtype=np.uint8)
    size = (round(0.55 * screen.shape[1]), round(0.55 * screen.shape[0]))
    small = cv2.resize(screen[..., ::-1], size, interpolation=cv2.INTER_AREA)
    top, left = (960 - size[1]) // 2, (1280 - size[0]) // 2
    photo[top : top + size[1], left : left + size[0]] = small
    return np.asarray(cv2.GaussianBlur(photo, (0, 0), 0.8), dtype=np.uint8)


@pytest.fixture(scope="session")
def photo(frame) -> NDArray[np.uint8]:
    """Return a photograph of the frame."""
    return plain(frame)
