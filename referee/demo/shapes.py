# SPDX-License-Identifier: Apache-2.0
"""Twelve kinds of objects, each drawn with a pen in random colours."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from referee.demo.pen import Colour, Pen, Point, blend, shade

_WHITE: Colour = (245, 245, 240)
_BLACK: Colour = (38, 38, 44)
_BRIGHT: tuple[Colour, ...] = (
    (214, 48, 49),
    (9, 132, 227),
    (253, 203, 40),
    (0, 150, 110),
    (232, 90, 30),
    (108, 76, 200),
    (232, 67, 120),
    (0, 180, 200),
)


def _bright(chance: random.Random, count: int) -> list[Colour]:
    tints = chance.sample(_BRIGHT, count)
    return [shade(tint, chance.uniform(0.82, 1.12)) for tint in tints]


def _cone(pen: Pen, chance: random.Random) -> None:
    orange = blend((255, 96, 16), (232, 60, 20), chance.random())
    pen.polygon([(-0.72, 1), (-0.66, 0.8), (0.66, 0.8), (0.72, 1)], shade(orange, 0.72))
    pen.polygon([(-0.5, 0.82), (-0.1, -1), (0.1, -1), (0.5, 0.82)], orange)
    for top, bottom in ((-0.5, -0.15), (0.2, 0.5)):
        left, right = 0.1 + 0.4 * (top + 1) / 1.82, 0.1 + 0.4 * (bottom + 1) / 1.82
        pen.polygon([(-left, top), (left, top), (right, bottom), (-right, bottom)], _WHITE)
    pen.polygon([(0.18, 0.82), (0.04, -1), (0.1, -1), (0.5, 0.82)], shade(orange, 0.82))


def _ball(pen: Pen, chance: random.Random) -> None:
    first, second, third = _bright(chance, 3)
    pen.ellipse(0, 0, 1, 1, _WHITE)
    for index, colour in enumerate((first, second, third)):
        start = 120 * index + 8
        rim = [
            (math.cos(math.radians(start + step * 4)), math.sin(math.radians(start + step * 4)))
            for step in range(16)
        ]
        pen.polygon([(0.0, -0.1), *rim], colour)
    pen.ellipse(0, -0.1, 0.2, 0.2, _WHITE)
    pen.ellipse(-0.38, -0.5, 0.17, 0.12, (255, 255, 255))


def _mug(pen: Pen, chance: random.Random) -> None:
    body, band = _bright(chance, 2)
    pen.ellipse(0.55, 0.05, 0.45, 0.5, shade(body, 0.88))
    pen.hole(0.55, 0.05, 0.25, 0.3)
    pen.polygon([(-0.8, -0.8), (0.6, -0.8), (0.52, 0.85), (-0.72, 0.85)], body)
    pen.ellipse(-0.1, 0.84, 0.62, 0.15, body)
    if chance.random() < 0.7:
        pen.polygon([(-0.77, -0.1), (0.57, -0.1), (0.55, 0.3), (-0.75, 0.3)], band)
        pen.ellipse(-0.1, 0.1, 0.15, 0.15, _WHITE)
    pen.ellipse(-0.1, -0.8, 0.7, 0.2, shade(body, 1.25))
    pen.ellipse(-0.1, -0.78, 0.6, 0.15, (72, 44, 28))


def _kite(pen: Pen, chance: random.Random) -> None:
    upper, lower, tail = _bright(chance, 3)
    curve = [(0.12 * math.sin(step * 0.9), 0.35 + step * 0.065) for step in range(11)]
    pen.stroke(curve, 0.035, _WHITE)
    for x, y in curve[3::3]:
        pen.polygon([(x, y), (x - 0.16, y - 0.09), (x - 0.16, y + 0.09)], tail)
        pen.polygon([(x, y), (x + 0.16, y - 0.09), (x + 0.16, y + 0.09)], tail)
    pen.polygon([(0, -1), (0.6, -0.4), (0, 0.4)], upper)
    pen.polygon([(0, -1), (-0.6, -0.4), (0, 0.4)], lower)
    pen.polygon([(0, -0.4), (0.6, -0.4), (0, 0.4)], shade(upper, 0.75))
    pen.polygon([(0, -0.4), (-0.6, -0.4), (0, 0.4)], shade(lower, 0.75))


def _boat(pen: Pen, chance: random.Random) -> None:
    hull, stripe = _bright(chance, 2)
    sail = _WHITE if chance.random() < 0.6 else blend(stripe, _WHITE, 0.35)
    pen.stroke([(0, -0.98), (0, 0.6)], 0.06, (110, 74, 44))
    pen.polygon([(0.06, -0.95), (0.8, 0.4), (0.06, 0.4)], sail)
    pen.polygon([(0.06, 0.05), (0.61, 0.05), (0.8, 0.4), (0.06, 0.4)], shade(sail, 0.86))
    pen.polygon([(-0.06, -0.75), (-0.55, 0.4), (-0.06, 0.4)], shade(sail, 0.93))
    pen.polygon([(-0.95, 0.5), (0.98, 0.5), (0.7, 0.98), (-0.62, 0.98)], hull)
    pen.polygon([(-0.95, 0.5), (0.98, 0.5), (0.91, 0.62), (-0.87, 0.62)], shade(hull, 1.3))


def _house(pen: Pen, chance: random.Random) -> None:
    wall = blend((236, 214, 178), _bright(chance, 1)[0], chance.uniform(0.0, 0.5))
    roof = blend((150, 52, 40), (70, 72, 84), chance.random())
    pen.box(0.42, -0.95, 0.62, -0.4, shade(roof, 0.7))
    pen.box(-0.85, -0.2, 0.85, 1, wall)
    pen.polygon([(-1, -0.15), (-0.55, -0.85), (0.55, -0.85), (1, -0.15)], roof)
    pen.polygon([(-1, -0.15), (-0.94, -0.25), (0.94, -0.25), (1, -0.15)], shade(roof, 0.75))
    pane = (255, 232, 150) if chance.random() < 0.3 else (150, 196, 220)
    for left in (-0.68, 0.3):
        pen.box(left, 0.08, left + 0.4, 0.52, _WHITE)
        pen.box(left + 0.05, 0.13, left + 0.35, 0.47, pane)
        pen.box(left + 0.18, 0.1, left + 0.22, 0.5, _WHITE)
    pen.box(-0.17, 0.35, 0.17, 1, shade(roof, 0.6))
    pen.ellipse(0.09, 0.7, 0.035, 0.035, (240, 200, 80))


def _tree(pen: Pen, chance: random.Random) -> None:
    leaf = blend((46, 112, 48), (150, 140, 40), chance.random() ** 2)
    pen.polygon([(-0.1, 0.1), (0.1, 0.1), (0.15, 1), (-0.15, 1)], (104, 70, 42))
    if chance.random() < 0.4:
        for step in range(3):
            top, bottom, half = -1 + 0.4 * step, -0.25 + 0.42 * step, 0.42 + 0.14 * step
            pen.polygon([(0, top), (half, bottom), (-half, bottom)], shade(leaf, 0.8 + 0.15 * step))
        return
    pen.stroke([(0.02, 0.4), (0.3, 0.05)], 0.08, (104, 70, 42))
    for tint, spread in ((0.74, 0.0), (0.92, -0.06), (1.14, -0.13)):
        for _ in range(7):
            angle, reach = chance.uniform(0, 2 * math.pi), chance.uniform(0.15, 0.38 + spread)
            x, y = reach * math.cos(angle) * 1.1 + spread, -0.38 + reach * math.sin(angle) + spread
            pen.ellipse(x, y, 0.3 + spread, 0.27 + spread, shade(leaf, tint))


def _car(pen: Pen, chance: random.Random) -> None:
    paint = _bright(chance, 1)[0] if chance.random() < 0.8 else (205, 208, 212)
    glass = (166, 206, 226)
    cabin: list[Point] = [(-0.62, -0.1), (-0.38, -0.72), (0.3, -0.72), (0.66, -0.1)]
    pen.polygon(cabin, shade(paint, 0.9))
    pen.polygon([(-0.5, -0.12), (-0.32, -0.6), (-0.06, -0.6), (-0.06, -0.12)], glass)
    pen.polygon([(0.04, -0.12), (0.04, -0.6), (0.24, -0.6), (0.52, -0.12)], shade(glass, 0.9))
    body: list[Point] = [(-1, 0.5), (-1, 0.05), (-0.9, -0.1), (0.72, -0.12), (0.96, 0.1), (1, 0.5)]
    pen.polygon(body, paint)
    pen.box(-1, 0.32, 1, 0.52, shade(paint, 0.68))
    pen.ellipse(0.9, 0.13, 0.09, 0.1, (255, 240, 170))
    pen.box(-1, 0.02, -0.92, 0.2, (190, 30, 30))
    pen.stroke([(-0.01, -0.05), (-0.01, 0.3)], 0.025, shade(paint, 0.6))
    for x in (-0.56, 0.58):
        pen.ellipse(x, 0.5, 0.26, 0.46, _BLACK)
        pen.ellipse(x, 0.5, 0.13, 0.23, (180, 184, 190))


def _fish(pen: Pen, chance: random.Random) -> None:
    body, fin = _bright(chance, 2)
    pen.polygon([(-0.55, 0), (-1, -0.62), (-0.86, 0), (-1, 0.62)], fin)
    pen.polygon([(-0.25, -0.5), (0.2, -0.98), (0.4, -0.5)], fin)
    pen.polygon([(-0.1, 0.5), (-0.05, 0.95), (0.25, 0.55)], fin)
    pen.ellipse(0.15, 0, 0.82, 0.66, body)
    stripe = _WHITE if chance.random() < 0.6 else shade(fin, 0.8)
    for x, half in ((0.32, 0.6), (-0.12, 0.6), (-0.42, 0.42)):
        pen.polygon(
            [(x - 0.08, -half), (x + 0.06, -half), (x + 0.1, half), (x - 0.04, half)], stripe
        )
    pen.ellipse(0.62, -0.16, 0.14, 0.17, (255, 255, 255))
    pen.ellipse(0.66, -0.15, 0.075, 0.1, _BLACK)
    pen.stroke([(0.92, 0.12), (0.78, 0.2)], 0.05, shade(body, 0.5))


def _clock(pen: Pen, chance: random.Random) -> None:
    rim = _bright(chance, 1)[0] if chance.random() < 0.7 else (60, 60, 66)
    pen.ellipse(0, 0, 1, 1, rim)
    pen.ellipse(0, 0, 0.84, 0.84, (250, 248, 238))
    for hour in range(12):
        angle = math.radians(30 * hour)
        inner = 0.62 if hour % 3 == 0 else 0.68
        ends = [(r * math.cos(angle), r * math.sin(angle)) for r in (inner, 0.76)]
        pen.stroke(ends, 0.07 if hour % 3 == 0 else 0.035, _BLACK)
    for length, width, colour in ((0.42, 0.1, _BLACK), (0.66, 0.06, _BLACK), (0.7, 0.025, rim)):
        angle = chance.uniform(0, 2 * math.pi)
        pen.stroke([(0, 0), (length * math.cos(angle), length * math.sin(angle))], width, colour)
    pen.ellipse(0, 0, 0.08, 0.08, _BLACK)


def _balloon(pen: Pen, chance: random.Random) -> None:
    first, second = _bright(chance, 2)
    for x in (-0.24, -0.08, 0.08, 0.24):
        pen.stroke([(x * 1.4, 0.35), (x * 0.7, 0.76)], 0.02, (90, 72, 56))
    throat: list[Point] = [(-0.2, 0.48), (0.2, 0.48)]
    for index, half in enumerate((0.78, 0.56, 0.34, 0.12)):
        colour = shade((first, second)[index % 2], (0.9, 0.97, 1.04, 1.1)[index])
        pen.ellipse(0, -0.28, half, 0.72, colour)
        share = half / 0.78
        skirt = [(0.7 * share, 0.0), (throat[1][0] * share, 0.48)]
        pen.polygon([*skirt, *((-x, y) for x, y in reversed(skirt))], colour)
    pen.polygon([(-0.2, 0.76), (0.2, 0.76), (0.16, 1), (-0.16, 1)], (146, 100, 58))
    pen.box(-0.21, 0.74, 0.21, 0.81, (104, 66, 36))


def _flower(pen: Pen, chance: random.Random) -> None:
    petal = _bright(chance, 1)[0] if chance.random() < 0.75 else _WHITE
    stem = (58, 128, 52)
    pen.stroke([(0, -0.4), (0.05, 0.3), (0, 0.97)], 0.09, stem)
    pen.polygon([(0.02, 0.75), (0.22, 0.3), (0.55, 0.25), (0.4, 0.55)], shade(stem, 1.2))
    pen.polygon([(0.02, 0.9), (-0.2, 0.5), (-0.5, 0.45), (-0.36, 0.72)], shade(stem, 0.9))
    count = chance.choice((6, 8, 10))
    for index in range(count):
        angle = 2 * math.pi * index / count
        x, y = 0.36 * math.cos(angle), -0.42 + 0.36 * math.sin(angle)
        pen.ellipse(x, y, 0.2, 0.2, shade(petal, 1.0 if index % 2 else 0.86))
    pen.ellipse(0, -0.42, 0.23, 0.23, (236, 178, 36))
    pen.ellipse(0.03, -0.39, 0.14, 0.14, (196, 128, 24))


@dataclass(frozen=True)
class ShapeKind:
    """A kind of object: its name, the function that draws it, and its size in a picture.

    `height` is the height of the nearest object as a share of the picture's height. `widen` is the
    ratio of width to height. `lean_deg` is the largest turn to either side.
    """

    name: str
    draw: Callable[[Pen, random.Random], None]
    height: float
    widen: float
    lean_deg: float
    mirrored: bool = True


# The kinds by class id.
KINDS: dict[int, ShapeKind] = {
    1: ShapeKind("traffic cone", _cone, 0.3, 0.9, 12),
    2: ShapeKind("ball", _ball, 0.24, 1, 180),
    3: ShapeKind("mug", _mug, 0.3, 1.05, 6),
    4: ShapeKind("kite", _kite, 0.34, 1, 35),
    5: ShapeKind("boat", _boat, 0.5, 1, 9),
    6: ShapeKind("house", _house, 0.62, 1.15, 0),
    7: ShapeKind("tree", _tree, 0.7, 1, 5),
    8: ShapeKind("car", _car, 0.27, 1.9, 4),
    9: ShapeKind("fish", _fish, 0.22, 1.35, 22),
    10: ShapeKind("clock", _clock, 0.36, 1, 10, mirrored=False),
    11: ShapeKind("balloon", _balloon, 0.42, 1, 8),
    12: ShapeKind("flower", _flower, 0.36, 1, 12),
}
