# SPDX-License-Identifier: Apache-2.0
"""Guess which squares of a photograph are the markers of a frame, and the shape of the screen.

Two markers tell the room between them: it is 8 units wide for each marker's side that fits into it,
and perspective changes the sides and the room alike. The shorter side of every screen is 90 units.
So almost no other squares pass for markers.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Iterator, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.distances import (
    ANCHOR,
    MARGIN,
    MARKER,
    NEAR_SHORT,
    SHORT,
    Distances,
    cosine,
    is_convex,
    turns_left,
    units_between,
)
from client_sample.camera.frame import FrameLayout
from client_sample.camera.mapping import Mapping, misfits_of_views
from client_sample.camera.squares import Square

Points = NDArray[np.float64]

# A frame's squares by number: four markers, clockwise from the upper left, then the two anchors.
UPPER_LEFT, UPPER_RIGHT, LOWER_RIGHT, LOWER_LEFT, UPPER_ANCHOR, LOWER_ANCHOR = range(6)

_LONGEST = 4 * SHORT
_MOST_CONSIDERED = 24
_MOST_COMPARED, _MOST_GUESSES = 150, 20
_SAME = math.log(1.14)  # opposite sides of a frame
_WIDTHS = np.linspace(-0.1, 0.1, 21)


@dataclass(frozen=True, eq=False)
class Sighting:
    """Some squares of a frame: their numbers, their corners in the photograph, the screen's shape.

    A frame that is turned by a half, or mirrored, has its squares at the same places, so the
    numbers leave that open. `doubt` is 0 for squares that fit perfectly.
    """

    numbers: Tuple[int, ...]
    corners: NDArray[np.float64]
    frame: FrameLayout
    doubt: float

    def mapping(
        self, size: Tuple[int, int], bend: float, centre: Tuple[float, float] = (0.0, 0.0)
    ) -> Mapping:
        """Return the map to the photograph that these squares tell, for a lens."""
        return Mapping.fit(self.on_screen, self.corners.reshape(-1, 2), size, bend, centre)

    @cached_property
    def on_screen(self) -> Points:
        """Return the same corners on the screen, one after the other."""
        every = np.concatenate([self.frame.markers(), self.frame.anchors()])
        return np.asarray(every[list(self.numbers)].reshape(-1, 2))

    def of_many_widths(self) -> List[Sighting]:
        """Return the sighting with some widths of the screen about its own."""
        width, height = self.frame.width, self.frame.height
        shapes = [FrameLayout.of_shape(width * math.exp(step), height) for step in _WIDTHS]
        return [replace(self, frame=shape) for shape in shapes]

    @property
    def strips(self) -> Tuple[bool, bool]:
        """Tell whether the upper and the lower strip lie between known squares."""
        known = set(self.numbers)
        upper = {UPPER_LEFT, UPPER_RIGHT, UPPER_ANCHOR}
        lower = {LOWER_LEFT, LOWER_RIGHT, LOWER_ANCHOR}
        return len(known & upper) >= 2, len(known & lower) >= 2


def four_markers(squares: Sequence[Square]) -> List[Sighting]:
    """Return the guesses that see all markers, the best first."""
    return _best(_fours(_considered(squares)))


def three_markers(squares: Sequence[Square]) -> List[Sighting]:
    """Return the guesses that see three markers, the best first."""
    return _best(_threes(_considered(squares)))


def two_markers(squares: Sequence[Square]) -> List[Sighting]:
    """Return the guesses that see two markers of one side, the best first."""
    considered = _considered(squares)
    strips, sides = _strip_alone(considered), _side_and_anchors(considered, squares)
    return [*_best(strips), *_tuned(_best(sides))]


def one_side(squares: Sequence[Square]) -> List[Sighting]:
    """Return the guesses that see the markers of one shorter side, the largest first.

    How wide the screen is remains open; the frame is one of 16:9.
    """
    markers = _considered(squares)
    frame = FrameLayout.of_shape(SHORT * 16 / 9, SHORT)
    numbers = (UPPER_LEFT, LOWER_LEFT)
    pairs = sorted(Distances(markers).short_sides(), key=lambda pair: -markers[pair[0]].side)
    # The frame lies on one side of the pair or, turned by a half, on the other.
    return [
        Sighting(numbers, _aligned([markers[i] for i in ends], numbers), frame, 0.0)
        for pair in pairs
        for ends in (pair, pair[::-1])
    ]


def _considered(squares: Sequence[Square]) -> List[Square]:
    """Choose the squares that can be markers: those that stand alone on black go first."""
    ranked = sorted(squares, key=lambda square: -square.isolation * square.side)
    return ranked[:_MOST_CONSIDERED]


def _best(sightings: Iterator[Sighting]) -> List[Sighting]:
    """Return the likeliest guesses, first by their lengths alone, then by all of their corners."""
    rough = sorted(sightings, key=lambda sighting: sighting.doubt)[:_MOST_COMPARED]
    doubts = np.array([sighting.doubt for sighting in rough]) + _misfits(rough)
    return [rough[n] for n in np.argsort(doubts, kind="stable")[:_MOST_GUESSES]]


def _tuned(sightings: List[Sighting]) -> List[Sighting]:
    """Return the sightings, each with the width of the screen that fits its corners best."""
    variants = [sighting.of_many_widths() for sighting in sightings]
    misfits = _misfits(list(itertools.chain.from_iterable(variants)))
    best = misfits.reshape(-1, len(_WIDTHS)).argmin(axis=1)
    return [variants[n][chosen] for n, chosen in enumerate(best)]


def _misfits(sightings: List[Sighting]) -> NDArray[np.float64]:
    """Return how badly the corners fit any straight view of a frame, in sides of a marker.

    All sightings must have the same number of corners.
    """
    if not sightings:
        return np.empty(0)
    screen = np.array([sighting.on_screen for sighting in sightings])
    photo = np.array([sighting.corners.reshape(-1, 2) for sighting in sightings])
    sides = np.linalg.norm(photo[:, 1] - photo[:, 0], axis=1)
    return np.asarray(misfits_of_views(screen, photo) / np.maximum(1e-6, sides))


def _fours(squares: List[Square]) -> Iterator[Sighting]:
    """Yield quadruples: two short sides that face each other."""
    apart = Distances(squares)
    for (a, d), (b, c) in itertools.combinations(apart.short_sides(), 2):
        if len({a, b, c, d}) < 4 or not apart.alike((a, b, c, d)):
            continue
        if not apart.parallel((a, d), (b, c)):
            b, c = c, b
        short, long = (apart(a, d), apart(b, c)), (apart(a, b), apart(d, c))
        doubts = [abs(math.log(one / other)) for one, other in (short, long)]
        if max(doubts) > _SAME or not is_convex([squares[i].centre for i in (a, b, c, d)]):
            continue
        if turns_left([squares[i].centre for i in (a, b, c, d)]):
            a, b, c, d = d, c, b, a
        sides = [math.sqrt(one * other) for one, other in (short, long)]
        chosen = [squares[i] for i in (a, b, c, d)]
        for numbers, (high, wide) in (((0, 1, 2, 3), sides), ((3, 0, 1, 2), sides[::-1])):
            frame, doubt = _shape(wide, high)
            if frame is not None:
                yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt + sum(doubts))


def _threes(squares: List[Square]) -> Iterator[Sighting]:
    """Yield triples: a short side, and a third marker at a right angle to one of its ends."""
    apart = Distances(squares)
    for pair in apart.short_sides():
        for (a, b), c in itertools.product((pair, pair[::-1]), range(len(squares))):
            if c in pair or not apart.alike((a, b, c)):
                continue
            centres = [squares[i].centre for i in (a, b, c)]
            if abs(cosine(*centres)) > 0.6:
                continue
            short, long = apart(a, b), apart(b, c)
            ring, wide, high = (a, b, c), short, long
            if turns_left(centres):
                ring, wide, high = (c, b, a), long, short
            chosen = [squares[i] for i in ring]
            for numbers, room in (((0, 1, 2), (wide, high)), ((3, 0, 1), (high, wide))):
                frame, doubt = _shape(*room)
                if frame is not None:
                    yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt)


def _strip_alone(squares: List[Square]) -> Iterator[Sighting]:
    """Yield pairs as the ends of a strip; of the rest of the frame nothing is known."""
    apart = Distances(squares)
    for a, b in itertools.combinations(range(len(squares)), 2):
        if apart.alike((a, b)) and SHORT * 0.9 <= apart(a, b) + MARGIN <= _LONGEST * 1.1:
            width = max(SHORT, apart(a, b) + MARGIN)
            # The height of a portrait screen does not matter for its strip.
            frame = FrameLayout.of_shape(width, SHORT if width > 1.05 * SHORT else 2 * SHORT)
            chosen = [squares[a], squares[b]]
            doubt = 1 - _smallest(chosen, squares)
            # The rest of the frame may lie below the pair or above it.
            for numbers in ((UPPER_LEFT, UPPER_RIGHT), (LOWER_LEFT, LOWER_RIGHT)):
                yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt)


def _side_and_anchors(markers: List[Square], squares: Sequence[Square]) -> Iterator[Sighting]:
    """Yield pairs as the right side, with an anchor beside each: the left side is not seen."""
    apart = Distances(markers)
    for a, b in itertools.permutations(range(len(markers)), 2):
        high = apart(a, b) + MARGIN
        if not apart.alike((a, b)) or abs(math.log(high / SHORT)) > NEAR_SHORT:
            continue
        upper, lower = (
            _anchors_of(markers[i], markers[j], squares, side)
            for i, j, side in ((a, b, 1), (b, a, -1))
        )
        for (one, half), (other, other_half) in itertools.product(upper, lower):
            doubt = abs(math.log(half / other_half))
            if doubt <= _SAME and 0.95 * SHORT <= half + other_half <= _LONGEST:
                chosen = [markers[a], markers[b], one, other]
                numbers = (UPPER_RIGHT, LOWER_RIGHT, UPPER_ANCHOR, LOWER_ANCHOR)
                frame = FrameLayout.of_shape(half + other_half, SHORT)
                yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt)


def _anchors_of(
    marker: Square, other: Square, squares: Sequence[Square], side: int
) -> List[Tuple[Square, float]]:
    """Return squares that can be the anchor of a marker's strip, with half of the screen's width.

    The strip stands at a right angle to the line to the other marker, to its right for side 1.
    """
    anchors = []
    down = other.centre - marker.centre
    for square in squares:
        if not 0.3 < square.side / marker.side < 0.75:
            continue
        along = square.centre - marker.centre
        cross = side * (down[0] * along[1] - down[1] * along[0])
        if cross <= 0.8 * np.linalg.norm(down) * np.linalg.norm(along):
            continue
        units = units_between(marker, square, MARKER, ANCHOR)
        if 35 <= units <= _LONGEST / 2:
            anchors.append((square, units + MARGIN / 2))
    return sorted(anchors, key=lambda pair: -pair[0].isolation)[:4]


def _shape(wide: float, high: float) -> Tuple[Optional[FrameLayout], float]:
    """Return the frame of a screen with these distances between its markers, and the doubt."""
    width, height = wide + MARGIN, high + MARGIN
    doubt = abs(math.log(min(width, height) / SHORT))
    if doubt > NEAR_SHORT or max(width, height) > 1.1 * _LONGEST:
        return None, doubt
    return FrameLayout.of_shape(width, height), doubt


def _smallest(chosen: List[Square], squares: List[Square]) -> float:
    """Return how large the smallest of some squares is, compared with the largest of all."""
    return min(square.side for square in chosen) / max(square.side for square in squares)


def _aligned(squares: Sequence[Square], numbers: Sequence[int]) -> NDArray[np.float64]:
    """Return the squares' corners, each from its upper left on the screen.

    The directions on the screen follow from any two squares' places.
    """
    places = {0: (-1, -1), 1: (1, -1), 2: (1, 1), 3: (-1, 1), 4: (0, -1), 5: (0, 1)}
    screen = np.array([places[number] for number in numbers], dtype=float)
    photo = np.array([square.centre for square in squares])
    screen, photo = screen - screen.mean(axis=0), photo - photo.mean(axis=0)
    if len(squares) == 2:
        # The markers of a strip or of a side: down is a quarter turn from right.
        line = photo[1] - photo[0]
        across = np.array((-line[1], line[0]))
        axes = np.array([line, across] if screen[1][0] > screen[0][0] else [-across, line])
    else:
        axes = np.linalg.lstsq(screen, photo, rcond=None)[0]
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    aligned = []
    for square in squares:
        outward = (square.corners - square.centre) @ -(axes[0] + axes[1])
        first = int(outward.argmax())
        aligned.append(square.corners[[first, first - 3, first - 2, first - 1]])
    return np.array(aligned)
