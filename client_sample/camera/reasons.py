# SPDX-License-Identifier: Apache-2.0
"""Say why a photograph was not read, in words for who holds the camera."""

from __future__ import annotations

from typing import Optional, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.attempt import LEAST_ORIENTATION, ScreenGuess, sharpest
from client_sample.camera.mapping import Mapping, sample
from client_sample.camera.overscan import is_overscanned
from client_sample.camera.reading import (
    BLURRED,
    GLARE,
    INVERTED,
    LENS,
    MIXED,
    OUTSIDE,
    column_px,
)
from client_sample.camera.samples import Samples
from client_sample.camera.sightings import Sighting, four_markers, one_side
from client_sample.camera.squares import find_squares

Pixels = NDArray[np.uint8]

NO_SCREEN = "no screen: four white markers on black were not found; a far one needs you nearer"
UNCLEAR = (
    "unclear: there are markers and code, but they do not fit together; see that the screen shows "
    "the whole frame without scaling or overscan, and that the lens is no fisheye"
)
OVERSCAN = (
    "overscan: the screen scales the picture up and cuts its border; switch it to 1:1 "
    '("just scan", "screen fit"), and the system to no scaling'
)
TOO_SMALL = "too small: go nearer"
OVER_EXPOSED = "over-exposed: expose shorter, or turn the screen down"

_LEAST_COLUMN_PX = 3.0
_LEAST_GROUND = 0.1  # of the photograph is bright, where a screen is inverted
_BENT = 0.022  # of the way between two markers; lenses up to which frames are read have .02
_SURE_ORIENTATION = 0.7
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


def is_clearly_a_frame(gray: Pixels, guess: ScreenGuess) -> bool:
    """Tell whether a guess that was not read is a frame all the same: it has code and marks."""
    return guess.alternates and guess.views(gray)[0].orientation >= LEAST_ORIENTATION


def why_unread(gray: Pixels, best: Optional[ScreenGuess]) -> str:
    """Return the likeliest reason, for the guess that came nearest."""
    reason = _likeliest(gray, best)
    # A change of the frame hides rows and markers too, so a border that is cut comes last.
    vague = reason in (LENS, NO_SCREEN, UNCLEAR, GLARE)
    return OVERSCAN if vague and is_overscanned(gray) else reason


def _likeliest(gray: Pixels, best: Optional[ScreenGuess]) -> str:
    coded = best if best is not None and is_clearly_a_frame(gray, best) else None
    misplaced = None if coded is None else _misplaced(gray, coded)
    if (coded is None or misplaced) and is_cut_off(gray):
        return OUTSIDE
    if misplaced:
        return misplaced
    if coded is None and _is_inverted(gray):
        return INVERTED
    if coded is None and _is_over_exposed(gray):
        # Markers that bloom run into what is around them: nothing is steep, or like a screen.
        return GLARE if _shines(gray, best) else OVER_EXPOSED
    if _is_blurred(gray):
        return BLURRED
    shines = best is not None and not best.alternates and _shines(gray, best)
    if not shines and is_bent(gray):
        return LENS
    if best is None:
        return NO_SCREEN
    if not best.alternates:
        # Most likely no screen.
        return GLARE if shines else NO_SCREEN
    # A strong lens moves the cells of a whole frame, so it is fitted before they are judged.
    view = best.views(gray)[0].nearer(gray)
    return _unclear(view.samples, view.strips)


def true_reason(gray: Pixels, refusal: str) -> str:
    """Return why a frame that was made out is refused: where the map is wrong, no cell fits."""
    return LENS if refusal == MIXED and is_bent(gray) else refusal


def _is_inverted(gray: Pixels) -> bool:
    """Tell whether the negative of the photograph has a frame."""
    low, high = np.percentile(gray[::4, ::4], (2, 98))
    if (gray > (low + high) / 2).mean() < _LEAST_GROUND:
        return False
    negative = np.asarray(255 - gray, dtype=np.uint8)
    guesses = sharpest(negative, four_markers(find_squares(negative)))[:2]
    return any(is_clearly_a_frame(negative, ScreenGuess.of(negative, guess)) for guess in guesses)


def is_bent(gray: Pixels) -> bool:
    """Tell whether both anchors lie far off the straight lines between their markers.

    This asks the squares alone: where a lens bends so much, the code is not found.
    """
    squares = find_squares(gray)
    for sighting in four_markers(squares)[:2]:
        centres = dict(zip(sighting.numbers, sighting.corners.mean(axis=1)))
        side = np.linalg.norm(sighting.corners[:, 1] - sighting.corners[:, 0], axis=1).mean()
        small = np.array([s.centre for s in squares if 0.4 < s.side / side < 0.65]).reshape(-1, 2)
        upper = _sags(centres[0], centres[1], small)
        lower = _sags(centres[3], centres[2], small)
        for sign in (-1, 1):
            # Up is negative in a photograph: a barrel lifts the upper strip and lowers the other.
            if (sign * upper > _BENT).any() and (-sign * lower > _BENT).any():
                return True
    return False


def _sags(
    start: NDArray[np.float64], end: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far points near the middle of a line are off it, by the line's length."""
    line = end - start
    length = float(np.linalg.norm(line))
    away = points - start
    along = away @ line / length**2
    off = (line[0] * away[:, 1] - line[1] * away[:, 0]) / length**2
    return np.asarray(off[(abs(along - 0.5) < 0.08) & (abs(off) < 0.2)])


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
    return UNCLEAR


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
