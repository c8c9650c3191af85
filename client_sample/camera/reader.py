# SPDX-License-Identifier: Apache-2.0
"""Read a frame in a photograph, or say why none was read, in words for who holds the camera.

A label is believed only if its CRC is right, the screen in the photograph has the shape that it
names, the orientation mark fits, and the cells of the id agree, which the CRC does not use. Few
guesses are tried, so chance passes in less than one of a million photographs.

Other screens may be in view, and an image may be a picture of a frame. So every frame is looked at,
and the session's tag decides before anything else that is wrong with one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import List, Optional, Sequence, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera import sightings
from client_sample.camera.attempt import ScreenGuess, sharpest
from client_sample.camera.frame import Label
from client_sample.camera.nesting import image_room, is_nested, lies_within
from client_sample.camera.reading import NESTED, STALE, FrameReading, Unread
from client_sample.camera.reasons import is_clearly_a_frame, true_reason, why_unread
from client_sample.camera.squares import Square, find_squares

Pixels = NDArray[np.uint8]

_LONGEST_PX = 1920  # A larger photograph is reduced: finer pixels do not help, and cost time.
_MOST_SCREENS = 4
_GROWN = 1.02  # Squares so near to a frame that was looked at are its own.


@dataclass(frozen=True, eq=False)
class _Found:
    """A frame in the photograph: read, or refused for a reason; or the guess that came nearest."""

    guess: ScreenGuess
    outcome: FrameReading | Unread | None

    @property
    def labels(self) -> Tuple[Label, ...]:
        if isinstance(self.outcome, FrameReading):
            return (self.outcome.label,)
        return () if self.outcome is None else self.outcome.labels

    @property
    def outline(self) -> NDArray[np.float64]:
        if isinstance(self.outcome, FrameReading):
            return self.outcome.mapping(self.outcome.frame.outline())
        return self.guess.mapping(self.guess.sighting.frame.outline())

    def is_of(self, tag: Optional[int]) -> bool:
        return tag is None or any(label.tag == tag for label in self.labels)


def read(photo: Pixels, tag: Optional[int] = None) -> FrameReading:
    """Read a photograph, in BGR or grey; raise `Unread` if it shows no frame of this session.

    Without a tag the frame of any session is read, the largest one.
    """
    gray = photo if photo.ndim == 2 else cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)
    whole = (gray.shape[1], gray.shape[0])
    if max(whole) > _LONGEST_PX:
        factor = _LONGEST_PX / max(whole)
        reduced = (round(factor * whole[0]), round(factor * whole[1]))
        gray = cv2.resize(gray, reduced, interpolation=cv2.INTER_AREA)
    reading = _read(np.asarray(gray, dtype=np.uint8), tag)
    return replace(reading, mapping=replace(reading.mapping, size=whole))


def _read(gray: Pixels, tag: Optional[int] = None) -> FrameReading:
    smooth = np.asarray(cv2.GaussianBlur(gray, (3, 3), 0), dtype=np.uint8)
    squares = find_squares(gray)
    frames, nearest = _frames(smooth, squares)
    own, nested = [], False
    for found in frames:
        if _is_inside(smooth, found, frames, nearest, squares):
            nested = True
        else:
            own.append(found)
    mine = [found for found in own if found.is_of(tag)]
    others = [found.labels[0] for found in own if found.labels and found not in mine]
    for found in mine:
        if isinstance(found.outcome, FrameReading):
            rest = [other.labels[0] for other in mine if other is not found and other.labels]
            return replace(found.outcome, others=(*rest, *others))
    for found in mine:
        if isinstance(found.outcome, Unread):
            raise Unread(true_reason(smooth, str(found.outcome)), found.labels, others)
    if nearest is not None and (nested or others) and is_clearly_a_frame(smooth, nearest):
        raise Unread(why_unread(smooth, nearest), (), others)
    if others:
        raise Unread(STALE, (), others)
    raise Unread(NESTED if nested else why_unread(smooth, nearest))


def _frames(gray: Pixels, squares: Sequence[Square]) -> Tuple[List[_Found], Optional[ScreenGuess]]:
    """Return the frames that say what they are, the largest first, and the nearest other guess."""
    frames: List[_Found] = []
    nearest: Optional[ScreenGuess] = None
    rest = list(squares)
    for _ in range(_MOST_SCREENS):
        found = _next_frame(gray, rest, bool(frames))
        if found is None:
            break
        if found.outcome is None:
            nearest = found.guess
            break
        frames.append(found)
        outline = found.outline
        middle = outline.mean(axis=0)
        grown = middle + _GROWN * (outline - middle)
        rest = [square for square in rest if not lies_within(square.centre[None], grown)]
    return sorted(frames, key=lambda found: -_area(found.outline)), nearest


def _next_frame(gray: Pixels, squares: Sequence[Square], more: bool) -> Optional[_Found]:
    """Return the first frame that is read, else the first that is refused, else the best guess.

    After one frame, `more` looks for others that show all of their markers.
    """
    best: Optional[ScreenGuess] = None
    refused: Optional[_Found] = None
    finders = (sightings.four_markers, sightings.three_markers, sightings.two_markers)
    for finder in finders[: 1 if more else 3]:
        for sighting in sharpest(gray, finder(squares)):
            guess = ScreenGuess.of(gray, sighting)
            try:
                reading = guess.read(gray)
            except Unread as refusal:
                refused = refused or _Found(guess, refusal)
                continue
            if reading is not None:
                return _Found(guess, reading)
            best = best or guess
        if refused is not None:
            return refused
    return None if best is None else _Found(best, None)


def _is_inside(
    gray: Pixels,
    found: _Found,
    frames: Sequence[_Found],
    nearest: Optional[ScreenGuess],
    squares: Sequence[Square],
) -> bool:
    """Tell whether a frame stands inside the image of another one, be that read or not."""
    around = [other.guess for other in frames if other is not found]
    if nearest is not None and is_clearly_a_frame(gray, nearest):
        around.append(nearest)
    outline = found.outline
    if any(lies_within(outline, image_room(guess)) for guess in around):
        return True
    mapping, frame = found.guess.mapping, found.guess.sighting.frame
    if isinstance(found.outcome, FrameReading):
        mapping, frame = found.outcome.mapping, found.outcome.frame
    outside = [square for square in squares if not lies_within(square.centre[None], outline)]
    return is_nested(gray, frame, mapping, outside)


def _area(outline: NDArray[np.float64]) -> float:
    return float(cv2.contourArea(outline.astype(np.float32)))
