# SPDX-License-Identifier: Apache-2.0
"""Pictures of signs for the camera's demo: each class has a shape and a colour of its own.

The demo's small detector knows colours alone (`referee.demo.camera_device`). On these pictures it
finds most signs, so that one sees what the way through a lens costs.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from referee.demo.backgrounds import PLACES
from referee.demo.canvas import Canvas, Sprite
from referee.demo.pen import Colour, Pen, shade
from referee.demo.scenes import DrawnScene, PaintedSubject
from referee.demo.textures import Textures

_SIZES = ((640, 480), (500, 375), (480, 640), (800, 500))
_SMALLEST, _LARGEST = 0.03, 0.3  # height of a sign, as a share of the picture's shorter side
_MOST = 9
_TRIES = 20
_GRAIN = 8.0  # deviation of the camera's noise, in steps of 1/255


@dataclass(frozen=True)
class _Sign:
    """A class of signs: a regular polygon with this many corners, and its paint."""

    name: str
    corners: int
    paint: Colour


_SIGNS = {
    1: _Sign("magenta triangle", 3, (226, 26, 142)),
    2: _Sign("orange square", 4, (247, 120, 16)),
    3: _Sign("cyan pentagon", 5, (10, 190, 214)),
    4: _Sign("violet hexagon", 6, (122, 58, 212)),
    5: _Sign("red octagon", 8, (212, 28, 38)),
    6: _Sign("yellow disc", 40, (250, 208, 30)),
}


def compose(textures: Textures, chance: random.Random) -> DrawnScene:
    """Paint one to nine signs that do not touch over a place; return the picture and the truth."""
    width, height = chance.choice(_SIZES)
    canvas = Canvas(chance.choice(PLACES)(height, width, textures, chance).picture)
    taken = np.zeros((height, width), dtype=bool)
    for _ in range(chance.randint(1, _MOST)):
        _place(canvas, taken, _sprite(min(width, height), textures, chance), chance)
    grain = _GRAIN * textures.cut("grain", height, width, chance)
    pixels = np.clip(canvas.picture + grain[:, :, None], 0, 255).astype(np.uint8)
    return DrawnScene(pixels, canvas.owner, tuple(canvas.class_ids))


def _sprite(side: int, textures: Textures, chance: random.Random) -> Sprite:
    class_id = chance.choice(list(_SIGNS))
    sign = _SIGNS[class_id]
    pen = Pen(side * chance.uniform(_SMALLEST, _LARGEST), turn_deg=chance.uniform(-12, 12))
    angles = [2 * math.pi * (k + 0.5) / sign.corners for k in range(sign.corners)]
    rim = [(math.sin(angle), math.cos(angle)) for angle in angles]
    pen.polygon(rim, shade(sign.paint, chance.uniform(0.6, 1.1)))
    drawn = pen.pixels().astype(np.float32)
    tall, wide = drawn.shape[:2]
    light = 1 + 0.03 * textures.cut("rough", tall, wide, chance)
    return Sprite(
        class_id=class_id,
        colour=drawn[:, :, :3] * light[:, :, None],
        cover=drawn[:, :, 3] / np.float32(255),
        foot=0,
        nearness=1.0,
        shadow=False,
    )


def _place(canvas: Canvas, taken: NDArray[np.bool_], sprite: Sprite, chance: random.Random) -> None:
    """Paint a sign at a free place; leave it out if chance finds none."""
    tall, wide = sprite.cover.shape
    height, width = taken.shape
    for _ in range(_TRIES):
        left, top = chance.randrange(2, width - wide - 2), chance.randrange(2, height - tall - 2)
        room = taken[top - 2 : top + tall + 2, left - 2 : left + wide + 2]
        if not room.any():
            room[:] = True
            canvas.add(replace(sprite, foot=top + tall), left)
            return


SIGNS = PaintedSubject(compose, {class_id: sign.name for class_id, sign in _SIGNS.items()})
"""The signs as a subject of generated pictures."""
