# SPDX-License-Identifier: Apache-2.0
"""Try to read a frame whose markers may be these squares."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Iterator, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.certainty import expected_error_px
from client_sample.camera.edges import edges_of, refit
from client_sample.camera.frame import FrameLayout, Label, pack, unpack
from client_sample.camera.mapping import Mapping
from client_sample.camera.reading import GLARE, LENS, MIRRORED, MIXED, OUTSIDE, FrameReading, Unread
from client_sample.camera.samples import Samples, expected_differences, pairs_of_cells
from client_sample.camera.sightings import Sighting
from client_sample.camera.wholeness import Witnesses

Gray = NDArray[np.uint8]
Strips = Tuple[bool, bool]

# Lenses are tried in these steps, then at half a step. Half a step moves a row by less than a
# quarter of its height.
_BENDS = np.arange(-0.24, 0.25, 0.04)
_STRONG = 0.06
_CENTRES = (0.24, 0.12)  # of half the diagonal
_SAME_SHAPE = 0.06  # the width by the height, as a logarithm
LEAST_ORIENTATION = 0.3
# The least of 192 hard photographs that were read had 1.54. Of the guesses about pictures without a
# screen few have more than 1.2.
_LEAST_ALTERNATION = 1.3
_MOST_GUESSES = 6
_ROUGH_ALTERNATION = 0.9  # with a lens that is only roughly right
_ROUGH_BENDS = (-0.08, 0.0, 0.08)
_UNSURE_PX, _BENT = 1.0, 0.1  # a map so unsure, of a lens that bends so much, proves no change
_FEWEST_IDS = 8  # of the ten id cells of at least one side


@dataclass(frozen=True, eq=False)
class ScreenGuess:
    """A guess about the squares, with the lens that shows most contrast in the code.

    `alternation` is that contrast as a share of the spread of the code's cells.
    """

    sighting: Sighting
    mapping: Mapping
    sharpness: float
    alternation: float

    @classmethod
    def of(cls, gray: Gray, sighting: Sighting) -> ScreenGuess:
        """Try lenses from barrel to pincushion, and a strong one with its centre elsewhere."""
        best = cls(sighting, sighting.mapping(_size(gray), 0.0), -1.0, 0.0)
        half = (_BENDS[1] - _BENDS[0]) / 2
        for bends in (_BENDS, (-half, half)):
            middle = best.mapping.bends[0]
            best = best.better(gray, [(middle + float(bend), (0.0, 0.0)) for bend in bends])
        if abs(best.mapping.bends[0]) < _STRONG:
            return best
        for step in _CENTRES:
            bend, (x, y) = best.mapping.bends[0], best.mapping.centre
            around = [(x + step * dx, y + step * dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
            best = best.better(gray, [(bend, centre) for centre in around])
            centre = best.mapping.centre
            best = best.better(gray, [(bend + half, centre), (bend - half, centre)])
        return best

    def better(
        self, gray: Gray, lenses: Sequence[Tuple[float, Tuple[float, float]]]
    ) -> ScreenGuess:
        """Return the guess with the lens (bend, centre) that shows most contrast, or this one."""
        best = self
        for bend, centre in lenses:
            mapping = self.sighting.mapping(_size(gray), bend, centre)
            match = pairs_of_cells(gray, self.sighting.frame, mapping, self.sighting.strips)
            if match[0] > best.sharpness:
                best = ScreenGuess(self.sighting, mapping, *match)
        return best

    @property
    def alternates(self) -> bool:
        """Tell whether the cells stand in pairs of a bright and a dark one, as a code's do."""
        return self.alternation >= _LEAST_ALTERNATION

    def read(self, gray: Gray) -> Optional[FrameReading]:
        """Return what the frame says, or None if this is no frame or cannot be made out.

        Raises `Unread` for a frame that must not be read: mirrored, mixed of two, or not whole.
        """
        if not self.alternates:
            return None
        for view in self.views(gray)[:2]:
            reading = view.read(gray) or view.nearer(gray).read(gray)
            if reading is not None:
                return reading
        return None

    def views(self, gray: Gray) -> List[OrientedGuess]:
        """Return the four ways to turn and mirror the frame, the likeliest first."""
        frame, strips = self.sighting.frame, self.sighting.strips
        straight = Samples.of(gray, frame, self.mapping)
        views = []
        for turned in (False, True):
            samples = straight.turned() if turned else straight
            mapping = self.mapping.turned(frame.width, frame.height) if turned else self.mapping
            seen = strips[::-1] if turned else strips
            views.append(OrientedGuess(samples, mapping, frame, seen, False))
            views.append(OrientedGuess(samples.mirrored(), mapping, frame, seen, True))
        return sorted(views, key=lambda view: -view.orientation)


@dataclass(frozen=True, eq=False)
class OrientedGuess:
    """An attempt with a decision about which way up the frame is, and whether it is mirrored."""

    samples: Samples
    mapping: Mapping
    frame: FrameLayout
    strips: Strips
    mirrored: bool

    @property
    def orientation(self) -> float:
        """Return how well the orientation mark fits, from -1 to 1."""
        return self.samples.fit_of_orientation(self.strips)

    def read(self, gray: Gray) -> Optional[FrameReading]:
        """Return what the frame says in this view, or raise `Unread`, as `Attempt.read` does."""
        if self.orientation < LEAST_ORIENTATION:
            return None
        labels = list(self._labels())
        if not labels:
            return None
        if self.mirrored:
            raise Unread(MIRRORED, labels)
        if len(set(labels)) > 1:
            raise Unread(MIXED, labels)
        reading = self._exact(labels[0], gray)
        # What a strong lens bends stands elsewhere before the fit, so nothing is judged by that.
        samples = Samples.of(gray, reading.frame, reading.mapping)
        reading = replace(reading, parity=samples.parity_bit())
        if (reading.corners < 0).any() or (reading.corners > gray.shape[::-1]).any():
            raise Unread(OUTSIDE, labels)
        fault = Witnesses(samples, reading).fault(gray)
        if fault is not None:
            raise Unread(_true_fault(fault, reading), labels)
        # Where the id's cells say something else, and nothing is wrong with them, it is chance.
        return reading if self._agrees(reading, samples) else None

    def nearer(self, gray: Gray) -> OrientedGuess:
        """Return the view with a map that fits the edges of the cells as they seem to be.

        A few cells that seem wrong do no harm: their edges are not where they should be, and lose
        their weight.
        """
        if self.mirrored:
            return self
        differences = self.samples.differences()
        differences[~np.array(self.strips)] = 0
        edges = edges_of(self.frame, differences, np.zeros(20, dtype=bool), self.strips)
        fit = refit(gray, edges, self.mapping)
        if fit is None:
            return self
        samples = Samples.of(gray, self.frame, fit.mapping)
        return replace(self, mapping=fit.mapping, samples=samples)

    def _labels(self) -> Iterator[Label]:
        """Yield what both copies of the code say together, and what each says alone."""
        copies = self.samples.copies() * np.array(self.strips)[:, None]
        shape = self.frame.width / self.frame.height
        for soft in (copies.sum(axis=0), copies[0], copies[1]):
            label = unpack(soft > 0) if soft.any() else None
            if label is None:
                continue
            named = label.screen_width / label.screen_height
            # One strip alone does not show how high a portrait screen is.
            if all(self.strips) and abs(math.log(named / shape)) > _SAME_SHAPE:
                continue
            yield label

    def _exact(self, label: Label, gray: Gray) -> FrameReading:
        """Return the reading with the map that fits all edges of the frame."""
        frame = FrameLayout(label.screen_width, label.screen_height)
        mapping = self.mapping.scaled(
            self.frame.width / frame.width, self.frame.height / frame.height
        )
        bits = pack(label)
        expected = expected_differences(bits)
        strips = self.samples.shows(expected)
        error_px = math.inf
        for _ in range(2):
            fit = refit(gray, edges_of(frame, expected, bits[:20], strips), mapping)
            if fit is None:
                break
            mapping, error_px = fit.mapping, expected_error_px(label, frame, fit)
            # A guess that knew one strip has found the place of the other one.
            seen = Samples.of(gray, frame, mapping).shows(expected)
            if seen == strips or not all(seen):
                break
            strips = seen
        return FrameReading(label, self.samples.parity_bit(), frame, mapping, error_px)

    def _agrees(self, reading: FrameReading, samples: Samples) -> bool:
        """Tell whether the cells of the id, which the CRC does not use, say the same."""
        lit = samples.ids > (samples.white + samples.black) / 2
        same = (lit == pack(reading.label)[:20]).reshape(2, 10).sum(axis=1)
        return bool(same.max() >= _FEWEST_IDS)


def sharpest(gray: Gray, guesses: Sequence[Sighting]) -> List[Sighting]:
    """Return the few guesses that show most contrast between the cells of the code's pairs.

    Four cells of an id can stand like markers of another screen. There the code is not.
    """
    rated = _rated(gray, guesses, (0.0,))
    # All screens in a photograph are behind one lens: where one is seen without it, the others are.
    if not any(alternation >= _LEAST_ALTERNATION for _, alternation, _ in rated):
        rated = _rated(gray, guesses, _ROUGH_BENDS)
    likely = [
        (sharp, guess) for sharp, alternation, guess in rated if alternation >= _ROUGH_ALTERNATION
    ]
    likely.sort(key=lambda pair: -pair[0])
    return [guess for _, guess in likely[:_MOST_GUESSES]]


def _rated(
    gray: Gray, guesses: Sequence[Sighting], bends: Sequence[float]
) -> List[Tuple[float, float, Sighting]]:
    """Return the contrast and the alternation of guesses, each through the best of these lenses."""
    size = _size(gray)
    return [
        (
            *max(
                pairs_of_cells(gray, guess.frame, guess.mapping(size, bend), guess.strips)
                for bend in bends
            ),
            guess,
        )
        for guess in guesses
    ]


def _true_fault(fault: str, reading: FrameReading) -> str:
    """Return why cells contradict the label: where the map is wrong, they were not looked at."""
    if fault != MIXED or reading.error_px <= _UNSURE_PX:
        return fault
    if math.isinf(reading.error_px):
        return GLARE  # too few edges were seen for a map
    return LENS if abs(reading.mapping.bends[0]) > _BENT else fault


def _size(gray: Gray) -> Tuple[int, int]:
    return gray.shape[1], gray.shape[0]
