# SPDX-License-Identifier: Apache-2.0
"""Read a frame in a photograph.

A label is believed only if its CRC is right, the screen in the photograph has the shape that it
names, the orientation mark fits, and the cells of the id agree, which the CRC does not use. Few
guesses are tried, so chance passes in less than one of a million photographs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import List, Optional, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera import sightings
from client_sample.camera.attempt import ScreenGuess
from client_sample.camera.reading import FrameReading, Unread
from client_sample.camera.reasons import why_unread
from client_sample.camera.samples import pairs_of_cells
from client_sample.camera.sightings import Sighting
from client_sample.camera.squares import find_squares

Pixels = NDArray[np.uint8]

_MOST_GUESSES = 6
_LEAST_ALTERNATION = 0.9  # with a lens that is only roughly right
_ROUGH_BENDS = (-0.08, 0.0, 0.08)
_LONGEST_PX = 1920  # A larger photograph is reduced: finer pixels do not help, and cost time.


def read(photo: Pixels, tag: Optional[int] = None) -> FrameReading:
    """Read a photograph, in BGR or grey; raise `Unread` if it shows no frame of this session.

    Without a tag the frame of any session is read.
    """
    gray = photo if photo.ndim == 2 else cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)
    whole = (gray.shape[1], gray.shape[0])
    if max(whole) > _LONGEST_PX:
        factor = _LONGEST_PX / max(whole)
        reduced = (round(factor * whole[0]), round(factor * whole[1]))
        gray = cv2.resize(gray, reduced, interpolation=cv2.INTER_AREA)
    reading = _read(np.asarray(gray, dtype=np.uint8))
    if tag is not None and reading.label.tag != tag:
        raise Unread("stale: another session's frame")
    return replace(reading, mapping=replace(reading.mapping, size=whole))


def _read(gray: Pixels) -> FrameReading:
    squares = find_squares(gray)
    smooth = np.asarray(cv2.GaussianBlur(gray, (3, 3), 0), dtype=np.uint8)
    best: Optional[ScreenGuess] = None
    for finder in (sightings.four_markers, sightings.three_markers, sightings.two_markers):
        for sighting in _sharpest(smooth, finder(squares)):
            attempt = ScreenGuess.of(smooth, sighting)
            reading = attempt.read(smooth)
            if reading is not None:
                return reading
            best = best or attempt
    raise Unread(why_unread(smooth, best))


def _sharpest(gray: Pixels, guesses: Sequence[Sighting]) -> List[Sighting]:
    """Return the few guesses that show most contrast between the cells of the code's pairs.

    Four cells of an id can stand like markers of another screen. There the code is not.
    """
    size = (gray.shape[1], gray.shape[0])
    likely = []
    for guess in guesses:
        maps = [guess.mapping(size, bend) for bend in _ROUGH_BENDS]
        pairs = [pairs_of_cells(gray, guess.frame, mapping, guess.strips) for mapping in maps]
        sharpness, alternation = max(pairs)
        if alternation >= _LEAST_ALTERNATION:
            likely.append((sharpness, guess))
    likely.sort(key=lambda pair: -pair[0])
    return [guess for _, guess in likely[:_MOST_GUESSES]]
