# SPDX-License-Identifier: Apache-2.0
"""Tell whether a photograph shows one whole frame, and nothing else, for all of the exposure.

Every part of the margins is a witness for the image beside it. A witness agrees with the label, or
speaks against it, or is dark where it should be white, or is hidden: where all of it is bright,
glare lies over it. Markers, parity, code and id stand on all sides; the cells beside the image
stand at every height, so what a frame can prove does not depend on its id.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Optional, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.covering import Ground, is_covered
from client_sample.camera.frame import PLACES, FrameLayout, pack, white_witnesses
from client_sample.camera.mapping import sample
from client_sample.camera.reading import BLURRED, COVERED, DARK, GLARE, MIXED, FrameReading
from client_sample.camera.samples import Samples, by_bit, expected_differences

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Shares of what is usual between white and black in the code. In 60 hard photographs of one whole
# frame no white witness had less than .85, and the darkest white square had .64.
_LIT, _DARK = 0.5, 0.5
_AGAINST = 0.4  # how much brighter the wrong one of two cells is
_INVERTED, _MOST_INVERTED = 0.5, 2  # bits of one copy
# No bit of those photographs was grey twice. In mixes of frames that follow each other, 20 to 40 %
# of one in the other, nine or more bits were.
_CLEAR_BIT, _MOST_GREY, _BRIGHT = 0.6, 4, 0.95
_SHARP = 0.5  # of the contrast between markers and black
_CLEAR_PARITY = 0.45
_SURE_STRIP = 0.6  # how well the orientation mark beside a strip's markers fits
_FEWEST_STEPS = 6  # between witnesses of one side: a frame of an earlier release has none
_NEAR = 3  # a white cell and a black one so near to each other are a sign that both are seen
_FARTHEST_COVERED = 0.6  # of the screen's width or height, between dark parts
_MOST_HIDDEN = 0.06  # of the screen's height or width, at an end of the image
_LIGHT, _FEWEST_LIT = 0.25, 3  # of the usual white; of the places that must be black
_MOST_UNSURE = 0.5  # units that the map may miss
_BLACK_ROW = 0.1  # of the usual white, in grey levels: an image's row as black as the ground


@dataclass(frozen=True, eq=False)
class Witnesses:
    """What the samples of a frame say about a reading of it."""

    samples: Samples
    reading: FrameReading

    def fault(self, gray: NDArray[np.uint8]) -> Optional[str]:
        """Return why the image is not whole, or None."""
        if self._speaks_against():
            return MIXED
        if self._is_grey():
            return BLURRED if self._is_blurred() else MIXED
        # The edge of another frame's image is sharp too, so this comes after what mixes show.
        if self._is_lit_where_black(gray) and self._is_covered(gray):
            return COVERED
        dark = self._fault_of_dark()
        if dark is not None:
            return BLURRED if self._is_blurred() else dark
        if not self.has_cells and self._has_black_rows(gray):
            return DARK
        return None if self._reaches_over_the_image() else GLARE

    @property
    def frame(self) -> FrameLayout:
        """Return the places of everything on this screen."""
        return self.reading.frame

    @cached_property
    def bits(self) -> Bools:
        """Return the bits of the label."""
        return pack(self.reading.label)

    @cached_property
    def copies(self) -> Floats:
        """Return how far each copy of each bit agrees, as a share of the usual contrast."""
        signed = self.samples.signed() * np.where(self.bits, 1.0, -1.0)
        return np.asarray(signed / self.usual)

    @cached_property
    def usual(self) -> float:
        """Return how much brighter than black a usual white cell is, in grey levels."""
        expected = expected_differences(self.bits)
        agrees = expected * self.samples.differences() > 0
        upper, lower = self.samples.cells[:, 0::2], self.samples.cells[:, 1::2]
        white = np.where(expected > 0, upper, lower) - self.samples.black
        black = np.where(expected > 0, lower, upper) - self.samples.black
        clear = agrees & (black < 0.5 * white)
        return max(1.0, float(np.median(white[clear] if clear.any() else white)))

    @cached_property
    def known(self) -> Tuple[bool, bool]:
        """Tell for each strip whether its place is known: its orientation mark is there."""
        upper, lower = (
            self.samples.fit_of_orientation(strip) >= _SURE_STRIP
            for strip in ((True, False), (False, True))
        )
        return upper, lower

    @cached_property
    def has_cells(self) -> bool:
        """Tell whether cells stand beside the image: frames of earlier referees have none."""
        steps = abs(np.diff(np.nan_to_num(self.samples.witnesses), axis=0))
        return bool((steps > 0.45 * self.usual).sum() >= _FEWEST_STEPS)

    @cached_property
    def cells(self) -> Floats:
        """Return the brightness of the cells beside the image over black, by the usual one."""
        return np.asarray((self.samples.witnesses - self.samples.black) / self.usual)

    @cached_property
    def white(self) -> Bools:
        """Return which of these cells should be white, for the parity that fits them better."""
        if self.reading.parity is not None:
            return white_witnesses(self.bits, self.reading.parity)
        both = [white_witnesses(self.bits, parity) for parity in (False, True)]
        return max(both, key=lambda white: float(np.nansum(np.where(white, self.cells, 0))))

    def _speaks_against(self) -> bool:
        """Tell whether a part of the frame clearly is another frame's."""
        inverted = (self.copies < -_INVERTED).sum(axis=1)
        if (inverted > _MOST_INVERTED)[list(self.known)].any():
            return True
        if self.samples.is_mixed(self.known) or (self._lit_ids() & ~self.bits[:20]).any():
            return True
        if not self.has_cells:
            return False
        wrong, right = (np.where(self.white == lit, self.cells, 0) for lit in (False, True))
        with np.errstate(invalid="ignore"):
            against = wrong.sum(axis=1) - right.sum(axis=1) > _AGAINST
        return bool(against.any())

    def _is_blurred(self) -> bool:
        """Tell whether no strip has pairs that differ as markers and black do."""
        pairs = np.median(abs(self.samples.signed()), axis=1).max()
        return bool(pairs < _SHARP * (self.samples.white - self.samples.black))

    def _is_grey(self) -> bool:
        """Tell whether bits are grey in both copies: another frame shone through.

        Glare makes the black cell of a pair brighter, and leaves the white one as it is.
        """
        usual = np.maximum(np.median(abs(self.copies), axis=1, keepdims=True), 0.05)
        brighter = np.maximum(self.samples.cells[:, 0::2], self.samples.cells[:, 1::2])
        glares = by_bit(brighter) - self.samples.black > _BRIGHT * self.usual
        grey = (self.copies < _CLEAR_BIT * usual) & ~glares
        return bool(grey.all(axis=0).sum() > _MOST_GREY)

    @cached_property
    def ground(self) -> Ground:
        """Return what is black in the frame of this label."""
        return Ground.of(self.frame, self.reading.label, self.reading.parity)

    def _is_lit_where_black(self, gray: NDArray[np.uint8]) -> bool:
        """Tell whether light lies over some of the black: a lamp's, or a thing's."""
        expected = expected_differences(self.bits)
        upper, lower = self.samples.cells[:, 0::2], self.samples.cells[:, 1::2]
        black = [
            np.where(expected > 0, lower, upper)[list(self.known)].ravel(),
            self.samples.gaps[:, 1:-1].ravel(),  # the outer ones lie at the markers' edges
            self.samples.witnesses[~self.white],
            self.samples.sides,
            sample(gray, self.reading.mapping(self.ground.places())),
        ]
        light = (np.concatenate(black) - self.samples.black) / self.usual
        return bool((light > _LIGHT).sum() >= _FEWEST_LIT)

    def _is_covered(self, gray: NDArray[np.uint8]) -> bool:
        """Tell whether what lies there has a sharp edge, as a window has and a lamp has not."""
        label = self.reading.label
        shown = float(np.ptp(self.frame.image(label)[:, 0]))
        unsure = self.reading.error_px * shown / label.width / self.ground.unit
        if unsure > _MOST_UNSURE:
            return False
        return is_covered(gray, self.ground, self.reading.mapping, self.usual, unsure)

    def _fault_of_dark(self) -> Optional[str]:
        """Return what makes white parts dark: a band across the screen, or a thing before it."""
        floor = self.samples.black + _DARK * self.usual
        with np.errstate(invalid="ignore"):
            squares = self.samples.squares < floor
            ids = (self.samples.ids < floor) & self.bits[:20]
            cells = (self.cells < _DARK) & self.white & self.has_cells
        columns = self._dark_columns()
        strips = columns.any(axis=1)
        if not (squares.any() or ids.any() or cells.any() or strips.all()):
            return None
        frame = self.frame
        places = [
            np.concatenate([frame.markers(), frame.anchors()]).mean(axis=1)[squares],
            frame.id_cells().mean(axis=1)[ids],
            frame.witnesses().mean(axis=2)[cells],
            frame.code_cells().mean(axis=1)[columns],
        ]
        extent = np.ptp(np.concatenate(places), axis=0) / (frame.width, frame.height)
        # A band lies over both ends of what it crosses; a thing in front of one square does not.
        return COVERED if squares.any() and extent.max() < _FARTHEST_COVERED else DARK

    def _dark_columns(self) -> Bools:
        """Tell which columns of the code (strip, column) are dark, with both of their neighbours.

        One strip alone may be dark in places: something lies over it, and the other has the copy.
        """
        expected = expected_differences(self.bits)
        upper, lower = self.samples.cells[:, 0::2], self.samples.cells[:, 1::2]
        white = np.where(expected > 0, upper, lower) - self.samples.black
        dark = (white < _DARK * self.usual).all(axis=1)
        dark &= np.array(self.known)[:, None]
        dark[:, 1:-1] &= dark[:, :-2] & dark[:, 2:]
        dark[:, [0, -1]] = False
        return np.asarray(dark)

    def _reaches_over_the_image(self) -> bool:
        """Tell whether what is seen to agree reaches over the image, but for a little.

        If the first and the last witness agree, no change of the frame lies outside of them.
        """
        corners = self.frame.image(self.reading.label)
        low, high = self._seen_span()
        size = np.array([self.frame.width, self.frame.height])
        spare = _MOST_HIDDEN * size
        return bool((low <= corners[0] + spare).all() and (high >= corners[2] - spare).all())

    def _seen_span(self) -> Tuple[Floats, Floats]:
        """Return the least and the greatest x and y of the witnesses that clearly agree."""
        frame, known = self.frame, np.array(self.known)
        strip, bit = np.nonzero((self.copies > _CLEAR_BIT) & known[:, None])
        parities = (
            self.samples.parities() * np.repeat(known, 2) * (-1 if self.reading.parity else 1)
        )
        places = [
            frame.code_cells().mean(axis=1)[strip, PLACES["column"][strip, bit]],
            frame.blocks(True).mean(axis=(1, 2))[parities > _CLEAR_PARITY],
            frame.id_cells().mean(axis=1)[self.bits[:20] & self._lit_ids()],
            frame.witnesses().mean(axis=2)[self._clear_cells() & self.has_cells],
        ]
        seen = np.concatenate(places)
        if not len(seen):
            return np.full(2, np.inf), np.full(2, -np.inf)
        return seen.min(axis=0), seen.max(axis=0)

    def _lit_ids(self) -> Bools:
        """Tell which cells of the id are white, with black around them."""
        ids, gaps = self.samples.ids.reshape(2, 10), self.samples.gaps
        # A slender reflection may lie between two gaps. It goes on beside the cell.
        around = np.maximum(
            np.maximum(gaps[:, :-1], gaps[:, 1:]), self.samples.sides.reshape(2, 10)
        )
        return np.asarray(np.nan_to_num(ids - around) > _LIT * self.usual).reshape(-1)

    def _clear_cells(self) -> Bools:
        """Tell which cells beside the image agree, with one of the other kind near to them."""
        with np.errstate(invalid="ignore"):
            good = np.where(self.white, self.cells > _LIT, self.cells < _LIT)
        clear = np.zeros_like(good)
        for step in range(-_NEAR, _NEAR + 1):
            other = np.roll(good, step, axis=0) & (np.roll(self.white, step, axis=0) != self.white)
            rows = np.arange(len(good)) - step
            clear |= other & ((rows >= 0) & (rows < len(good)))[:, None]
        return np.asarray(good & clear)

    def _has_black_rows(self, gray: NDArray[np.uint8]) -> bool:
        """Tell whether rows of the image are black for all of its width, where no cell is white.

        A frame of an earlier release has nothing beside the image that would be white at each
        height, so only the image itself can show that the screen was not dark there.
        """
        frame, mapping = self.frame, self.reading.mapping
        quad = self.reading.corners
        inside = np.zeros_like(gray)
        cv2.fillConvexPoly(inside, np.round(quad).astype(np.int32), 255)
        rows = np.flatnonzero(inside.any(axis=1))
        most = np.array([np.percentile(gray[y][inside[y] > 0], 98) for y in rows])
        black = most < self.samples.black + _BLACK_ROW * self.usual
        lit = mapping(frame.id_cells()[self.bits[:20] & self._lit_ids()])
        for cell in lit:
            black &= abs(rows - cell[:, 1].mean()) > 1.2 * np.ptp(cell[:, 1])
        needed = max(3, 0.03 * len(rows))
        edges = np.diff(np.pad(black.astype(int), 1))
        runs = np.stack([np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)], axis=1)
        return any(end - start >= needed for start, end in runs)
