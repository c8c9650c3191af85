# SPDX-License-Identifier: Apache-2.0
"""How well a real monitor and camera show a frame: what the sample's reader says of a photograph.

It needs the extra `camera`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from client_sample.camera.source import read_picture
from power.bounded_file import require_file
from referee.core.bounds import MOST_IMAGE_BYTES
from referee.errors import InputError

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class PhotographCheck:
    """What a photograph says, or in `reason` why it says nothing.

    `scale` is the number of the camera's pixels for one of the image, along its sides; `column_px`
    the width of a column of the code in the photograph. `likeness` compares the image with the
    file that was shown: the correlation of their grey values, from -1 to 1, None without a file.
    """

    reason: str | None = None
    image_id: int | None = None
    size: tuple[int, int] | None = None
    scale: float | None = None
    column_px: float | None = None
    likeness: float | None = None


def read_pixels(path: Path) -> Pixels:
    """Return a picture's pixels in BGR, as they are stored; raise `InputError` without any."""
    try:
        require_file(path, MOST_IMAGE_BYTES)
        return read_picture(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def check_photograph(photo: Pixels, shown: Pixels | None = None) -> PhotographCheck:
    """Read a photograph, and compare it with the image that was shown; both in BGR."""
    try:
        reading = read(photo)
    except Unread as error:
        return PhotographCheck(str(error))
    label, corners = reading.label, reading.corners
    sides_px = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    return PhotographCheck(
        image_id=label.image_id,
        size=(label.width, label.height),
        scale=float(sides_px.sum()) / (2 * (label.width + label.height)),
        column_px=reading.column_px,
        likeness=None if shown is None else _likeness(reading.cut_out(photo), shown),
    )


def _likeness(cut: Pixels, shown: Pixels) -> float | None:
    """Return the correlation of the grey values; None for other sizes, and for plain images."""
    if cut.shape != shown.shape:
        return None
    cut_grey, shown_grey = (
        cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).ravel() for picture in (cut, shown)
    )
    if not cut_grey.std() or not shown_grey.std():
        return None
    return float(np.corrcoef(cut_grey, shown_grey)[0, 1])
