# SPDX-License-Identifier: Apache-2.0
"""A pen that draws smooth coloured shapes in an object's own coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]


def shade(colour: Colour, factor: float) -> Colour:
    """Make a colour darker (factor below 1) or lighter."""
    red, green, blue = (min(255, round(part * factor)) for part in colour)
    return red, green, blue


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """Mix two colours; `share` is the share of the second."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


class Pen:
    """A pen for one object of `height_px` pixels; it can turn, widen and mirror the object.

    The object's coordinates go from -1 to 1, x to the right and y downwards. Turning moves the
    points before they are drawn, not the pixels afterwards. Edges are drawn at a multiple of the
    resolution.
    """

    def __init__(
        self, height_px: float, *, turn_deg: float = 0.0, widen: float = 1.0, mirror: bool = False
    ) -> None:
        self._factor = 4 if height_px < 60 else 3 if height_px < 140 else 2
        self._scale = height_px / 2 * self._factor
        self._widen = -widen if mirror else widen
        self._cos = math.cos(math.radians(turn_deg))
        self._sin = math.sin(math.radians(turn_deg))
        reach = math.hypot(1.05, 1.05 * widen) * height_px / 2
        side = (2 * math.ceil(reach) + 4) * self._factor
        self._middle = side / 2
        self._image = Image.new("RGBA", (side, side))
        self._draw = ImageDraw.Draw(self._image)

    def _place(self, points: Sequence[Point]) -> list[Point]:
        placed = []
        for x, y in points:
            x *= self._widen
            across = x * self._cos - y * self._sin
            down = x * self._sin + y * self._cos
            placed.append((self._middle + across * self._scale, self._middle + down * self._scale))
        return placed

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        """Fill the area within the points."""
        self._draw.polygon(self._place(points), fill=colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        """Fill a rectangle."""
        self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)

    def ellipse(self, x: float, y: float, x_radius: float, y_radius: float, colour: Colour) -> None:
        """Fill an ellipse around a point."""
        self.polygon(_rim(x, y, x_radius, y_radius), colour)

    def hole(self, x: float, y: float, x_radius: float, y_radius: float) -> None:
        """Erase the drawing within an ellipse."""
        self._draw.polygon(self._place(_rim(x, y, x_radius, y_radius)), fill=(0, 0, 0, 0))

    def stroke(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        """Draw a line with round ends and joints; the width is in the object's units."""
        placed = self._place(points)
        width_px = max(1.0, width * self._scale)
        self._draw.line(placed, fill=colour, width=round(width_px), joint="curve")
        for x, y in (placed[0], placed[-1]):
            radius = width_px / 2 - 0.5
            self._draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)

    def pixels(self) -> NDArray[np.uint8]:
        """Return the drawing at its true size, without empty margins: height x width x RGBA."""
        image = self._image.reduce(self._factor)
        box = image.getbbox()
        return np.asarray(image.crop(box) if box else image.crop((0, 0, 1, 1)))


def _rim(x: float, y: float, x_radius: float, y_radius: float) -> list[Point]:
    angles = [2 * math.pi * step / 48 for step in range(48)]
    return [(x + x_radius * math.cos(a), y + y_radius * math.sin(a)) for a in angles]
