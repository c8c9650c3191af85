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
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.frame import Frame
from client_sample.camera.mapping import Mapping
from client_sample.camera.squares import Square

Points = NDArray[np.float64]

# A frame's squares by number: four markers, clockwise from the upper left, then the two anchors.
UPPER_LEFT, UPPER_RIGHT, LOWER_RIGHT, LOWER_LEFT, UPPER_ANCHOR, LOWER_ANCHOR = range(6)

_SHORT, _LONGEST = 90.0, 4 * 90.0
_MARKER, _ANCHOR, _MARGIN = 8.0, 4.0, 11.0  # a marker's and an anchor's side; both edges to middle
_MOST_CONSIDERED = 24
_MOST_COMPARED, _MOST_GUESSES = 300, 32
_ALIKE = math.log(1.9)  # the sides of a frame's markers differ by less, whatever the perspective
_SAME = math.log(1.14)  # opposite sides of a frame
_TRUE = math.log(1.12)  # the shorter side and 90 units
_WIDTHS = np.linspace(-0.1, 0.1, 21)


@dataclass(frozen=True, eq=False)
class Sighting:
    """Some squares of a frame: their numbers, their corners in the photograph, the screen's shape.

    A frame that is turned by a half, or mirrored, has its squares at the same places, so the
    numbers leave that open. `doubt` is 0 for squares that fit perfectly.
    """

    numbers: Tuple[int, ...]
    corners: NDArray[np.float64]
    frame: Frame
    doubt: float

    def mapping(self, size: Tuple[int, int], bend: float) -> Mapping:
        """Return the map to the photograph that these squares tell."""
        every = np.concatenate([self.frame.markers(), self.frame.anchors()])
        screen = every[list(self.numbers)].reshape(-1, 2)
        return Mapping.fit(screen, self.corners.reshape(-1, 2), size, bend)

    def misfit(self) -> float:
        """Return how badly the corners fit any straight view of a frame, in sides of a marker."""
        mapping = self.mapping((2, 2), 0.0)
        every = np.concatenate([self.frame.markers(), self.frame.anchors()])
        error = mapping(every[list(self.numbers)]) - self.corners
        side = np.linalg.norm(self.corners[0, 1] - self.corners[0, 0])
        found = float(np.sqrt((error**2).sum(axis=-1).mean()) / max(1e-6, side))
        return found if math.isfinite(found) else math.inf

    def tuned(self) -> Sighting:
        """Return the sighting with the width of the screen that fits its corners best."""
        width, height = self.frame.width, self.frame.height
        shapes = [Frame.of_shape(width * math.exp(step), height) for step in _WIDTHS]
        return min((replace(self, frame=shape) for shape in shapes), key=Sighting.misfit)

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
    return [*_best(strips), *(sighting.tuned() for sighting in _best(sides))]


def _considered(squares: Sequence[Square]) -> List[Square]:
    """Choose the squares that can be markers: those that stand alone on black go first."""
    ranked = sorted(squares, key=lambda square: -square.isolation * square.side)
    return ranked[:_MOST_CONSIDERED]


def _best(sightings: Iterator[Sighting]) -> List[Sighting]:
    """Return the likeliest guesses, first by their lengths alone, then by all of their corners."""
    rough = sorted(sightings, key=lambda sighting: sighting.doubt)[:_MOST_COMPARED]
    scores = [(sighting.doubt + sighting.misfit(), n) for n, sighting in enumerate(rough)]
    return [rough[n] for _, n in sorted(scores)[:_MOST_GUESSES]]


def _fours(squares: List[Square]) -> Iterator[Sighting]:
    """Yield quadruples: two short sides that face each other."""
    apart = _Distances(squares)
    for (a, d), (b, c) in itertools.combinations(apart.short_sides(), 2):
        if len({a, b, c, d}) < 4 or not apart.alike((a, b, c, d)):
            continue
        if not apart.parallel((a, d), (b, c)):
            b, c = c, b
        short, long = (apart(a, d), apart(b, c)), (apart(a, b), apart(d, c))
        doubts = [abs(math.log(one / other)) for one, other in (short, long)]
        if max(doubts) > _SAME or not _is_convex([squares[i].centre for i in (a, b, c, d)]):
            continue
        if _turns_left([squares[i].centre for i in (a, b, c, d)]):
            a, b, c, d = d, c, b, a
        sides = [math.sqrt(one * other) for one, other in (short, long)]
        chosen = [squares[i] for i in (a, b, c, d)]
        for numbers, (high, wide) in (((0, 1, 2, 3), sides), ((3, 0, 1, 2), sides[::-1])):
            frame, doubt = _shape(wide, high)
            if frame is not None:
                yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt + sum(doubts))


def _threes(squares: List[Square]) -> Iterator[Sighting]:
    """Yield triples: a short side, and a third marker at a right angle to one of its ends."""
    apart = _Distances(squares)
    for pair in apart.short_sides():
        for (a, b), c in itertools.product((pair, pair[::-1]), range(len(squares))):
            if c in pair or not apart.alike((a, b, c)):
                continue
            centres = [squares[i].centre for i in (a, b, c)]
            if abs(_cosine(*centres)) > 0.6:
                continue
            short, long = apart(a, b), apart(b, c)
            ring, wide, high = (a, b, c), short, long
            if _turns_left(centres):
                ring, wide, high = (c, b, a), long, short
            chosen = [squares[i] for i in ring]
            for numbers, room in (((0, 1, 2), (wide, high)), ((3, 0, 1), (high, wide))):
                frame, doubt = _shape(*room)
                if frame is not None:
                    yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt)


def _strip_alone(squares: List[Square]) -> Iterator[Sighting]:
    """Yield pairs as the ends of a strip; of the rest of the frame nothing is known."""
    apart = _Distances(squares)
    for a, b in itertools.combinations(range(len(squares)), 2):
        if apart.alike((a, b)) and _SHORT * 0.9 <= apart(a, b) + _MARGIN <= _LONGEST * 1.1:
            width = max(_SHORT, apart(a, b) + _MARGIN)
            # The height of a portrait screen does not matter for its strip.
            frame = Frame.of_shape(width, _SHORT if width > 1.05 * _SHORT else 2 * _SHORT)
            chosen = [squares[a], squares[b]]
            doubt = 1 - _smallest(chosen, squares)
            # The rest of the frame may lie below the pair or above it.
            for numbers in ((UPPER_LEFT, UPPER_RIGHT), (LOWER_LEFT, LOWER_RIGHT)):
                yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt)


def _side_and_anchors(markers: List[Square], squares: Sequence[Square]) -> Iterator[Sighting]:
    """Yield pairs as the right side, with an anchor beside each: the left side is not seen."""
    apart = _Distances(markers)
    for a, b in itertools.permutations(range(len(markers)), 2):
        high = apart(a, b) + _MARGIN
        if not apart.alike((a, b)) or abs(math.log(high / _SHORT)) > _TRUE:
            continue
        upper, lower = (
            _anchors_of(markers[i], markers[j], squares, side)
            for i, j, side in ((a, b, 1), (b, a, -1))
        )
        for (one, half), (other, other_half) in itertools.product(upper, lower):
            doubt = abs(math.log(half / other_half))
            if doubt <= _SAME and 0.95 * _SHORT <= half + other_half <= _LONGEST:
                chosen = [markers[a], markers[b], one, other]
                numbers = (UPPER_RIGHT, LOWER_RIGHT, UPPER_ANCHOR, LOWER_ANCHOR)
                frame = Frame.of_shape(half + other_half, _SHORT)
                yield Sighting(numbers, _aligned(chosen, numbers), frame, doubt)


def _anchors_of(
    marker: Square, other: Square, squares: Sequence[Square], side: int
) -> List[Tuple[Square, float]]:
    """Return squares that can be the anchor of a marker's strip, with half of the screen's width.

    The strip stands at a right angle to the line to the other marker, to its right for side 1.
    """
    found = []
    down = other.centre - marker.centre
    for square in squares:
        if not 0.3 < square.side / marker.side < 0.75:
            continue
        along = square.centre - marker.centre
        cross = side * (down[0] * along[1] - down[1] * along[0])
        if cross <= 0.8 * np.linalg.norm(down) * np.linalg.norm(along):
            continue
        units = _units_between(marker, square, _MARKER, _ANCHOR)
        if 35 <= units <= _LONGEST / 2:
            found.append((square, units + _MARGIN / 2))
    return sorted(found, key=lambda pair: -pair[0].isolation)[:4]


class _Distances:
    """The distances between markers in units, each worked out once."""

    def __init__(self, squares: List[Square]) -> None:
        self._squares = squares
        self._centres = [square.centre for square in squares]
        self._logs = [math.log(max(1e-6, square.side)) for square in squares]
        self._known: Dict[Tuple[int, int], float] = {}

    def alike(self, group: Sequence[int]) -> bool:
        """Tell whether some squares have sides of about the same length."""
        logs = [self._logs[i] for i in group]
        return max(logs) - min(logs) <= _ALIKE

    def short_sides(self) -> List[Tuple[int, int]]:
        """Return the pairs that can be the ends of a shorter side of the screen."""
        return [
            pair
            for pair in itertools.combinations(range(len(self._squares)), 2)
            if self.alike(pair) and abs(math.log((self(*pair) + _MARGIN) / _SHORT)) <= _TRUE
        ]

    def parallel(self, one: Tuple[int, int], other: Tuple[int, int]) -> bool:
        """Tell whether two pairs point the same way rather than the opposite way."""
        lines = [self._centres[b] - self._centres[a] for a, b in (one, other)]
        return bool(lines[0] @ lines[1] > 0)

    def __call__(self, a: int, b: int) -> float:
        key = (a, b) if a < b else (b, a)
        if key not in self._known:
            self._known[key] = _units_between(self._squares[a], self._squares[b], _MARKER, _MARKER)
        return self._known[key]


def _units_between(a: Square, b: Square, a_units: float, b_units: float) -> float:
    """Return the distance of two squares on the screen, from their sides along the line.

    A projection maps x on a line to x / (1 + p x). It makes a short piece at x shorter by
    (1 + p x)², and the distance from 0 to x by 1 + p x. So the geometric mean of the two pieces
    gives the true scale.
    """
    line = b.centre - a.centre
    distance = float(np.linalg.norm(line))
    if distance < 1e-6:
        return 0.0
    scales = [_extent(a, line / distance) / a_units, _extent(b, line / distance) / b_units]
    return distance / math.sqrt(max(1e-12, scales[0] * scales[1]))


def _extent(square: Square, direction: Points) -> float:
    """Return the length of a square along a direction: that of its two sides nearest to it."""
    sides = np.roll(square.corners, -1, axis=0) - square.corners
    along = np.sort(abs(sides @ direction))
    return float(along[2:].mean())


def _shape(wide: float, high: float) -> Tuple[Optional[Frame], float]:
    """Return the frame of a screen with these distances between its markers, and the doubt."""
    width, height = wide + _MARGIN, high + _MARGIN
    doubt = abs(math.log(min(width, height) / _SHORT))
    if doubt > _TRUE or max(width, height) > 1.1 * _LONGEST:
        return None, doubt
    return Frame.of_shape(width, height), doubt


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
        # The markers of a strip: down is a quarter turn from right.
        right = photo[1] - photo[0]
        axes = np.array([right, (-right[1], right[0])])
    else:
        axes = np.linalg.lstsq(screen, photo, rcond=None)[0]
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    found = []
    for square in squares:
        outward = (square.corners - square.centre) @ -(axes[0] + axes[1])
        found.append(np.roll(square.corners, -int(outward.argmax()), axis=0))
    return np.array(found)


def _is_convex(ring: Sequence[Points]) -> bool:
    corners = np.array(ring)
    sides = np.roll(corners, -1, axis=0) - corners
    following = np.roll(sides, -1, axis=0)
    cross = sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]
    lengths = np.linalg.norm(sides, axis=1) * np.linalg.norm(following, axis=1)
    return bool((abs(cross) > 0.3 * lengths).all() and abs(np.sign(cross).sum()) == 4)


def _turns_left(ring: Sequence[Points]) -> bool:
    """Tell whether a way turns against the clock, as a picture is drawn."""
    one, other = ring[1] - ring[0], ring[2] - ring[1]
    return bool(one[0] * other[1] - one[1] * other[0] < 0)


def _cosine(a: Points, b: Points, c: Points) -> float:
    one, other = a - b, c - b
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(one @ other) / max(1e-9, lengths)
