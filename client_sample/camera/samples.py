# SPDX-License-Identifier: Apache-2.0
"""The brightness of a frame's cells in a photograph, and what it says without a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import COLUMNS, ORIENTATION, PLACES, FrameLayout
from client_sample.camera.mapping import Mapping, sample

Floats = NDArray[np.float64]

_AROUND = np.array([(0, 0), (-1, -1), (1, -1), (-1, 1), (1, 1)]) * 0.2  # of a cell
# Shares of the contrast between white and black, and of the pairs of a strip.
_CLEAR_PARITY, _CLEAR_PAIR, _MOST_PAIRS = 0.45, 0.2, 0.4
_MOST_GREY = 8  # bits in both copies
_SHARP = 0.55  # the contrast of a usual pair, below which a picture is blurred and not mixed
_WHITE = 0.93
_NEAR = 6  # columns on each side whose contrast a pair is compared with


@dataclass(frozen=True, eq=False)
class Samples:
    """The brightness of everything in the margins.

    `cells` (strip, row, column), `orientation` and `parity` (corner, half), `ids` (20,), `gaps`
    (side, 11; the black around the id's cells), `sides` (20; the black beside them), `witnesses`
    (pair, side), `squares` (the four markers and the two anchors), and the `white` and the `black`
    beside the markers. An id's cell, a witness or a square that is not whole in the photograph is
    NaN.
    """

    cells: Floats
    orientation: Floats
    parity: Floats
    ids: Floats
    gaps: Floats
    sides: Floats
    witnesses: Floats
    squares: Floats
    white: float
    black: float

    @classmethod
    def of(cls, gray: NDArray[np.uint8], frame: FrameLayout, mapping: Mapping) -> Samples:
        """Sample a photograph."""
        left, right = frame.column_edges()
        size = np.array([(right - left).mean(), np.diff(frame.row_edges(False)).mean()])
        middles = frame.code_cells()[..., None, :] + _AROUND * size
        cells = sample(gray, mapping(middles)).mean(axis=-1)
        blocks = [_inside(gray, frame.blocks(parity), mapping) for parity in (False, True)]
        ids = _inside(gray, frame.id_cells(), mapping)
        places = np.concatenate([frame.markers(), frame.anchors()])
        squares = _inside(gray, places, mapping)
        white, black = float(np.median(squares[:4])), float(cells.min())
        squares[_beyond(gray, places, mapping)] = np.nan
        ids[_beyond(gray, frame.id_cells(), mapping)] = np.nan
        gaps = sample(gray, mapping(frame.id_gaps()))
        sides = sample(gray, mapping(frame.id_sides()))
        witnesses = _inside(gray, frame.witnesses(), mapping)
        witnesses[_beyond(gray, frame.witnesses(), mapping)] = np.nan
        return cls(cells, blocks[0], blocks[1], ids, gaps, sides, witnesses, squares, white, black)

    def turned(self) -> Samples:
        """Return the samples of the frame turned by a half."""
        return replace(
            self,
            cells=self.cells[::-1, ::-1, ::-1],
            orientation=np.roll(self.orientation, 2, axis=0)[:, ::-1],
            parity=np.roll(self.parity, 2, axis=0)[:, ::-1],
            ids=self.ids[::-1],
            gaps=self.gaps[::-1, ::-1],
            sides=self.sides[::-1],
            witnesses=self.witnesses[::-1, ::-1],
            squares=self.squares[[2, 3, 0, 1, 5, 4]],
        )

    def mirrored(self) -> Samples:
        """Return the samples of the frame with left and right exchanged."""
        return replace(
            self,
            cells=self.cells[:, :, ::-1],
            orientation=self.orientation[[1, 0, 3, 2]],
            parity=self.parity[[1, 0, 3, 2]],
            ids=np.roll(self.ids, 10),
            gaps=self.gaps[::-1],
            sides=np.roll(self.sides, 10),
            witnesses=self.witnesses[:, ::-1],
            squares=self.squares[[1, 0, 3, 2, 4, 5]],
        )

    def differences(self) -> Floats:
        """Return upper minus lower cell of each pair: (strip, pair, column)."""
        return self.cells[:, 0::2] - self.cells[:, 1::2]

    def fit_of_orientation(self, strips: Tuple[bool, bool]) -> float:
        """Return how well the blocks beside the markers fit the mark, from -1 to 1."""
        seen = np.array([strips[0], strips[0], strips[1], strips[1]])
        values = self.orientation[seen]
        middle = (values.max() + values.min()) / 2
        spread = max(1.0, (values.max() - values.min()) / 2)
        expected = np.where(ORIENTATION[seen], 1.0, -1.0)
        return float((expected * np.clip((values - middle) / spread, -1, 1)).mean())

    def parities(self) -> Floats:
        """Return what the four corners say of the parity: about 1 for 0, and -1 for 1."""
        contrast = max(1.0, self.white - self.black)
        return np.asarray((self.parity[:, 0] - self.parity[:, 1]) / contrast)

    def is_mixed(self, strips: Tuple[bool, bool]) -> bool:
        """Tell whether corners of these strips contradict each other: two frames in one picture.

        One corner against one other proves nothing: glare may lie over half of it.
        """
        parities = self.parities()[np.repeat(strips, 2)]
        for_0, for_1 = (parities > _CLEAR_PARITY).sum(), (parities < -_CLEAR_PARITY).sum()
        return bool(min(for_0, for_1) >= 1 and max(for_0, for_1) >= 2)

    def looks_mixed(self) -> bool:
        """Tell whether many bits are grey in both copies, though the other ones are sharp.

        Glare makes both cells of a pair white, and blur makes all pairs grey.
        """
        contrast = max(1.0, self.white - self.black)
        copies = abs(self.signed())
        if np.median(copies) < _SHARP * contrast:
            return False
        brighter = np.maximum(self.cells[:, 0::2], self.cells[:, 1::2])
        grey = by_bit(brighter) < self.black + _WHITE * contrast
        return bool(((copies < 0.4 * contrast) & grey).all(axis=0).sum() > _MOST_GREY)

    def signed(self) -> Floats:
        """Return how much brighter the cell for 1 is, in both copies of the bits: (2, 108)."""
        return np.asarray(by_bit(self.differences()) * PLACES["sign"])

    def parity_bit(self) -> Optional[bool]:
        """Return the parity, or None if no corner shows it."""
        parities = self.parities()
        strongest = parities[abs(parities).argmax()]
        return bool(strongest < 0) if abs(strongest) > _CLEAR_PARITY else None

    def shows(self, expected: Floats) -> Tuple[bool, bool]:
        """Tell for each strip whether most of its pairs clearly are as expected (2, 2, columns)."""
        contrast = max(1.0, self.white - self.black)
        clear = expected * self.differences() > _CLEAR_PAIR * contrast
        upper, lower = clear.reshape(2, -1).mean(axis=1) > _MOST_PAIRS
        return bool(upper), bool(lower)

    def copies(self) -> Floats:
        """Return the two copies of the 108 bits, from -1 (surely 0) to 1 (surely 1): (2, 108).

        A pair is compared with the contrast around it. Glare makes both cells white, so such a pair
        says nothing.
        """
        difference = self.differences()
        size = abs(difference).mean(axis=1)
        padded = np.pad(size, ((0, 0), (_NEAR, _NEAR)), mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEAR + 1, axis=1)
        # Under glare the contrast around is small too. What is left there is mostly noise.
        scale = np.maximum(np.median(windows, axis=2), 0.25 * np.median(size))
        soft = np.clip(difference / np.maximum(scale, 2.0)[:, None, :], -1, 1)
        return np.asarray(by_bit(soft) * PLACES["sign"])


def _beyond(gray: NDArray[np.uint8], corners: Floats, mapping: Mapping) -> NDArray[np.bool_]:
    """Tell which of some rectangles (n, 4, 2) are not whole in the photograph."""
    points = mapping(corners)
    return np.asarray(((points < 0) | (points > (gray.shape[1], gray.shape[0]))).any(axis=(-2, -1)))


def by_bit(pairs: Floats) -> Floats:
    """Return the values of pairs (strip, pair, column) in the order of the bits: (2, 108)."""
    by_bit = [
        pairs[strip, PLACES["upper"][strip] // 2, PLACES["column"][strip]] for strip in (0, 1)
    ]
    return np.array(by_bit)


def pairs_of_cells(
    gray: NDArray[np.uint8], frame: FrameLayout, mapping: Mapping, strips: Tuple[bool, bool]
) -> Tuple[float, float]:
    """Return the mean difference within the pairs of some strips, in grey levels and as a share.

    The share is of the spread of all their cells. It is 2 for a perfect frame, whatever its
    contrast, some 1.1 for noise, and less where the brightness changes slowly from place to place.
    """
    cells = sample(gray, mapping(frame.code_cells()[list(strips)]))
    sharpness = float(abs(cells[:, 0::2] - cells[:, 1::2]).mean())
    return sharpness, sharpness / max(1.0, float(cells.std()))


def expected_differences(bits: NDArray[np.bool_]) -> Floats:
    """Return what `differences` of a perfect frame would be: 1 or -1."""
    differences = np.zeros((2, 2, COLUMNS))
    signs = np.where(bits, 1.0, -1.0) * PLACES["sign"]
    for strip in (0, 1):
        differences[strip, PLACES["upper"][strip] // 2, PLACES["column"][strip]] = signs
    return differences


def _inside(gray: NDArray[np.uint8], corners: Floats, mapping: Mapping) -> Floats:
    """Return the mean brightness in the middle of rectangles (..., 4, 2)."""
    middle = corners.mean(axis=-2, keepdims=True)
    points = np.concatenate([middle, middle + 0.5 * (corners - middle)], axis=-2)
    return np.asarray(sample(gray, mapping(points)).mean(axis=-1))
