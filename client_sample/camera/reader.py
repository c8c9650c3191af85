# SPDX-License-Identifier: Apache-2.0
"""Read a frame in a photograph, or say why none was read, in words for who holds the camera.

A label is believed only if its CRC is right, the screen in the photograph has the shape that it
names, the orientation mark fits, and the cells of the id agree, which the CRC does not use. Few
guesses are tried, so chance passes in less than one of a million photographs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import List, Optional, Sequence, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera import sightings
from client_sample.camera.attempt import ScreenGuess
from client_sample.camera.mapping import Mapping, sample
from client_sample.camera.reading import GLARE, MIXED, OUTSIDE, FrameReading, Unread, column_px
from client_sample.camera.samples import Samples, pairs_of_cells
from client_sample.camera.sightings import Sighting, one_side
from client_sample.camera.squares import find_squares

Pixels = NDArray[np.uint8]

_MOST_GUESSES = 6
_LEAST_ALTERNATION = 0.9  # with a lens that is only roughly right
_ROUGH_BENDS = (-0.08, 0.0, 0.08)
_LONGEST_PX = 1920  # A larger photograph is reduced: finer pixels do not help, and cost time.

NO_SCREEN = "no screen: four white markers on black were not found; a far one needs you nearer"
BLURRED = "blurred: focus on the screen, and hold still"
TOO_SMALL = "too small: go nearer"
OVER_EXPOSED = "over-exposed: expose shorter, or turn the screen down"

_LEAST_COLUMN_PX = 3.0
_SURE_ORIENTATION = 0.9
_GLARE_SHARE = 0.12
_SHARP = 0.5  # of the contrast between white and black remains between the cells of a pair
# Frames that are well exposed had 5 % of white at most; those that three stops too many hid had
# 10 % and more.
_SATURATED, _MOST_SATURATED = 252, 0.08
_STEEP = 0.1  # the steepest edge of a sharp picture, as a share of its range a pixel


_MOST_SCREENS = 8
_LEAST_CONTRAST = 12  # grey levels between a marker and black
_PAIRS = 0.35  # of that contrast, between the cells of a usual pair
_BEGINNING = 5  # columns at the end of a strip: their places hardly depend on the screen's width


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


def why_unread(gray: NDArray[np.uint8], best: Optional[ScreenGuess]) -> str:
    """Return the likeliest reason, for the attempt that came nearest."""
    coded = best if best is not None and best.alternates else None
    misplaced = None if coded is None else _misplaced(gray, coded)
    if misplaced:
        # A false guess in half a screen finds small cells.
        return OUTSIDE if is_cut_off(gray) else misplaced
    if coded is None and is_cut_off(gray):
        return OUTSIDE
    if coded is None and _is_over_exposed(gray):
        # Markers that bloom run into what is around them: nothing is steep, or like a screen.
        return GLARE if _shines(gray, best) else OVER_EXPOSED
    if _is_blurred(gray):
        return BLURRED
    if best is None:
        return NO_SCREEN
    if not best.alternates:
        # Most likely no screen.
        return GLARE if _shines(gray, best) else NO_SCREEN
    view = best.views(gray)[0]
    return _unclear(view.samples, view.strips)


def _shines(gray: NDArray[np.uint8], best: Optional[ScreenGuess]) -> bool:
    """Tell whether glare hides the pairs; it hardly hides the marks beside the markers."""
    if best is None:
        return False
    view = best.views(gray)[0]
    return view.orientation >= _SURE_ORIENTATION and _has_glare(view.samples)


def _misplaced(gray: NDArray[np.uint8], best: ScreenGuess) -> Optional[str]:
    """Return what is wrong with the screen's place in the photograph, if anything is."""
    frame, strips = best.sighting.frame, best.sighting.strips
    outline = best.mapping(frame.outline())
    if (outline < 0).any() or (outline > (gray.shape[1], gray.shape[0])).any():
        return OUTSIDE
    narrow = column_px(frame, best.mapping, not strips[0]) < _LEAST_COLUMN_PX
    return TOO_SMALL if narrow else None


def _unclear(samples: Samples, strips: Tuple[bool, bool]) -> str:
    if samples.looks_mixed():
        return MIXED
    if _has_glare(samples):
        return GLARE
    if samples.is_mixed(strips) or (abs(samples.parities()) < 0.2).all():
        return MIXED
    brighter, darker = _pairs(samples)
    if (brighter - darker).mean() < _SHARP * _contrast(samples):
        return BLURRED
    return GLARE


def _has_glare(samples: Samples) -> bool:
    """Tell whether many pairs have no dark cell."""
    contrast = _contrast(samples)
    _, darker = _pairs(samples)
    lost = (darker > samples.black + 0.5 * contrast) & (abs(samples.differences()) < 0.3 * contrast)
    return bool(lost.mean() > _GLARE_SHARE)


def _pairs(samples: Samples) -> Tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the brighter and the darker cell of each pair."""
    upper, lower = samples.cells[:, 0::2], samples.cells[:, 1::2]
    return np.maximum(upper, lower), np.minimum(upper, lower)


def _contrast(samples: Samples) -> float:
    return max(1.0, samples.white - samples.black)


def _is_over_exposed(gray: NDArray[np.uint8]) -> bool:
    """Tell whether more of the photograph is white than a well exposed frame has."""
    return bool((gray >= _SATURATED).mean() > _MOST_SATURATED)


def _is_blurred(gray: NDArray[np.uint8]) -> bool:
    """Tell whether no edge is steep, compared with the range of the brightness."""
    smooth = cv2.GaussianBlur(gray, (0, 0), 1.5)
    slope = np.hypot(cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)) / 8
    low, high = np.percentile(smooth, (2, 99.5))
    return bool(high - low > 20 and np.percentile(slope, 99.8) < _STEEP * (high - low))


def is_cut_off(gray: Pixels) -> bool:
    """Tell whether the code begins beside two markers of one side, and a screen has no room."""
    size = (gray.shape[1], gray.shape[0])
    for sighting in one_side(find_squares(gray))[:_MOST_SCREENS]:
        mapping = sighting.mapping(size, 0.0)
        outline = mapping(sighting.frame.outline())
        leaves = (outline < 0).any() or (outline > size).any()
        if leaves and _code_begins(gray, sighting, mapping):
            return True
    return False


def _code_begins(gray: Pixels, sighting: Sighting, mapping: Mapping) -> bool:
    """Tell whether both strips begin beside these markers: in pairs of a bright and a dark cell."""
    places = mapping(sighting.frame.code_cells()[:, :, :_BEGINNING])
    # A comparison with a place that is nowhere is false.
    if not ((places > 0) & (places < (gray.shape[1], gray.shape[0]))).all():
        return False
    cells = sample(gray, places)
    markers = mapping(sighting.frame.markers()[list(sighting.numbers)].mean(axis=1))
    contrast = sample(gray, markers).min() - cells.min()
    usual = np.median(abs(cells[:, 0::2] - cells[:, 1::2]), axis=(1, 2))
    return bool(contrast >= _LEAST_CONTRAST and (usual > _PAIRS * contrast).all())
