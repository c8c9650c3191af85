# SPDX-License-Identifier: Apache-2.0
"""A screen that the photograph cuts off: the markers of one side, and a code that leaves it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.mapping import Mapping, sample
from client_sample.camera.sightings import Sighting, one_side
from client_sample.camera.squares import find_squares

Gray = NDArray[np.uint8]

_MOST_GUESSES = 8
_LEAST_CONTRAST = 12  # grey levels between a marker and black
_PAIRS = 0.35  # of that contrast, between the cells of a usual pair
_BEGINNING = 5  # columns at the end of a strip: their places hardly depend on the screen's width


def is_cut_off(gray: Gray) -> bool:
    """Tell whether the code begins beside two markers of one side, and a screen has no room."""
    size = (gray.shape[1], gray.shape[0])
    for sighting in one_side(find_squares(gray))[:_MOST_GUESSES]:
        mapping = sighting.mapping(size, 0.0)
        outline = mapping(sighting.frame.outline())
        leaves = (outline < 0).any() or (outline > size).any()
        if leaves and _code_begins(gray, sighting, mapping):
            return True
    return False


def _code_begins(gray: Gray, sighting: Sighting, mapping: Mapping) -> bool:
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
