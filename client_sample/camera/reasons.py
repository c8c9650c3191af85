# SPDX-License-Identifier: Apache-2.0
"""Why nothing was read, in words for whoever holds the camera."""

from __future__ import annotations

from typing import Optional, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.attempt import Attempt
from client_sample.camera.samples import Samples

NO_SCREEN = "no screen: four white markers on black were not found"
BLURRED = "blurred: focus on the screen, and hold still"
GLARE = "glare over the code: something shines on the screen"
MIXED = "mixed frame: the screen changed during the exposure"
TOO_SMALL = "too small: go nearer"
OUTSIDE = "partly outside the picture: go back, or turn the camera"

_LEAST_COLUMN_PX = 3.0
_LEAST_ORIENTATION = 0.45
_GLARE_SHARE = 0.12
_SHARP = 0.5  # of the contrast between white and black remains between the cells of a pair
_STEEP = 0.1  # the steepest edge of a sharp picture, as a share of its range a pixel


def why_unread(gray: NDArray[np.uint8], best: Optional[Attempt]) -> str:
    """Return the likeliest reason, for the attempt that came nearest."""
    if best is None:
        return BLURRED if _is_blurred(gray) else NO_SCREEN
    frame, strips = best.sighting.frame, best.sighting.strips
    view = best.views(gray)[0]
    if view.orientation < _LEAST_ORIENTATION:
        return BLURRED if _is_blurred(gray) else NO_SCREEN
    outline = best.mapping(frame.outline())
    if (outline < 0).any() or (outline > (gray.shape[1], gray.shape[0])).any():
        return OUTSIDE
    left, right = frame.column_edges()
    middle = (frame.row_edges(False)[2], frame.row_edges(True)[2])[not strips[0]]
    ends = best.mapping(np.array([[left[0], middle], [right[-1], middle]]))
    if np.linalg.norm(ends[1] - ends[0]) / (right[-1] - left[0]) * (right - left).mean() < (
        _LEAST_COLUMN_PX
    ):
        return TOO_SMALL
    return _why_unclear(view.samples, view.strips)


def _why_unclear(samples: Samples, strips: Tuple[bool, bool]) -> str:
    contrast = max(1.0, samples.white - samples.black)
    differences = abs(samples.differences()) / contrast
    brighter = np.maximum(samples.cells[:, 0::2], samples.cells[:, 1::2])
    darker = np.minimum(samples.cells[:, 0::2], samples.cells[:, 1::2])
    lost = (darker > samples.black + 0.5 * contrast) & (differences < 0.3)
    if lost.mean() > _GLARE_SHARE:
        return GLARE
    if samples.is_mixed(strips) or (abs(samples.parities()) < 0.2).all():
        return MIXED
    if (brighter - darker).mean() < _SHARP * contrast:
        return BLURRED
    return GLARE


def _is_blurred(gray: NDArray[np.uint8]) -> bool:
    """Tell whether no edge is steep, compared with the range of the brightness."""
    smooth = cv2.GaussianBlur(gray, (0, 0), 1.5)
    slope = np.hypot(cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)) / 8
    low, high = np.percentile(smooth, (2, 99.5))
    return bool(high - low > 20 and np.percentile(slope, 99.8) < _STEEP * (high - low))
