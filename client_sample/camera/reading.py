# SPDX-License-Identifier: Apache-2.0
"""What a photograph shows: the frame's label, and the image in its own pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import FrameLayout, Label
from client_sample.camera.mapping import Mapping

_COARSE = 16  # a map for every 16th pixel is exact to a hundredth of one, and made quickly


MIRRORED = "mirrored: the camera or its driver flips the picture"
MIXED = "mixed frame: the image is not whole, because the screen changed during the exposure"
DARK = (
    "dark band: the image is not whole, because a part of the screen was dark; "
    "expose for whole periods of its backlight"
)
COVERED = "covered: a window, a banner or a thing lies over the frame, and may hide the image"
GLARE = "glare over the code: something shines on the screen"
STALE = "stale: another session's frame"
NESTED = "nested: the frame that was seen stands inside the shown image"
LENS = (
    "fisheye: the lens bends straight lines too much; take another lens, or straighten the picture"
)
BLURRED = "blurred: focus on the screen, and hold still"
INVERTED = "inverted colours: switch off the screen's or the camera's negative or dark mode"
OUTSIDE = "partly outside the picture: go back, or turn the camera"


class Unread(Exception):
    """A photograph that was not read; its text says why, for whoever holds the camera.

    `labels` are what the frame that was refused says, and `others` are those of other frames that
    the photograph shows.
    """

    def __init__(self, reason: str, labels: Sequence[Label] = (), others: Sequence[Label] = ()):
        super().__init__(reason)
        self.labels = tuple(labels)
        self.others = tuple(others)


@dataclass(frozen=True, eq=False)
class FrameReading:
    """A label that was read, and where the screen's points are in the photograph.

    `parity` is the bit that alternates from frame to frame, or None if it was not seen. `error_px`
    is by how many source pixels a place in the image is expected to miss at most. `others` are the
    labels of other frames in the photograph.
    """

    label: Label
    parity: Optional[bool]
    frame: FrameLayout
    mapping: Mapping
    error_px: float
    others: Tuple[Label, ...] = ()

    @property
    def corners(self) -> NDArray[np.float64]:
        """Return the image's corners in the photograph (4, 2), clockwise from its upper left.

        0, 0 is the upper left corner of the photograph's first pixel.
        """
        return self.mapping(self.frame.image(self.label))

    @property
    def column_px(self) -> float:
        """Return the width of a column of the code, in pixels of the photograph.

        It is that of the strip in which the columns are narrower.
        """
        return min(column_px(self.frame, self.mapping, lower) for lower in (False, True))

    def cut_out(self, photo: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the image in its own pixels (height, width, channels of the photograph)."""
        width, height = self.label.width, self.label.height
        (left, top), _, (right, bottom), _ = self.frame.image(self.label)
        # One more step on each side, so that the finer map is interpolated everywhere.
        steps_x = np.arange(-1, -(-width // _COARSE) + 1)
        steps_y = np.arange(-1, -(-height // _COARSE) + 1)
        x = left + (steps_x + 0.5) * _COARSE * (right - left) / width
        y = top + (steps_y + 0.5) * _COARSE * (bottom - top) / height
        coarse = self.mapping(np.stack(np.meshgrid(x, y), axis=-1)).astype(np.float32) - 0.5
        size = (_COARSE * len(steps_x), _COARSE * len(steps_y))
        fine = cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR)
        places = np.ascontiguousarray(
            fine[_COARSE : _COARSE + height, _COARSE : _COARSE + width], dtype=np.float32
        )
        cut = cv2.remap(photo, places[..., 0], places[..., 1], cv2.INTER_LINEAR)
        return np.asarray(cut, dtype=np.uint8)


def column_px(frame: FrameLayout, mapping: Mapping, at_bottom: bool) -> float:
    """Return the mean width of a strip's columns, in pixels of the photograph."""
    left, right = frame.column_edges()
    middle = frame.row_edges(at_bottom)[2]
    ends = mapping(np.array([[left[0], middle], [right[-1], middle]]))
    share = (right - left).mean() / (right[-1] - left[0])
    return float(np.linalg.norm(ends[1] - ends[0]) * share)
