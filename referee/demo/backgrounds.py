# SPDX-License-Identifier: Apache-2.0
"""Five kinds of places, painted with gradients and noise, and the objects that belong in them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.demo.pen import Colour, blend
from referee.demo.textures import Textures

Picture = NDArray[np.float32]  # height x width x RGB, 0 to 255
Place = Callable[[int, int, Textures, random.Random], "Background"]


@dataclass(frozen=True)
class Zone:
    """A part of a place, between two heights of the picture, with the classes that occur there.

    `top` and `bottom` bound the foot of an object, in pixels. With `depth` an object stands on the
    ground: it is smaller if it stands higher, and throws a shadow. Without `depth` it hangs, floats
    or flies. `weight` says how often the zone is chosen. A class listed twice is chosen twice as
    often.
    """

    class_ids: tuple[int, ...]
    top: float
    bottom: float
    depth: bool
    weight: int = 1


@dataclass(frozen=True)
class Background:
    """A painted place and its zones."""

    picture: Picture
    zones: tuple[Zone, ...]


def _light(colour: Colour) -> Picture:
    return np.array(colour, dtype=np.float32)


def _ramp(height: int, width: int, above: Colour, below: Colour) -> Picture:
    share = np.linspace(0, 1, height, dtype=np.float32)[:, None, None]
    top, bottom = _light(above), _light(below)
    return np.broadcast_to(top + (bottom - top) * share, (height, width, 3)).copy()


def _roughen(
    picture: Picture, textures: Textures, name: str, strength: float, chance: random.Random
) -> None:
    height, width = picture.shape[:2]
    picture *= 1 + strength * textures.cut(name, height, width, chance)[:, :, None]


def _sky(height: int, width: int, textures: Textures, chance: random.Random) -> Picture:
    evening = chance.random() < 0.3
    above = (74, 92, 150) if evening else blend((70, 140, 210), (110, 150, 190), chance.random())
    below = (248, 190, 140) if evening else (206, 226, 238)
    sky = _ramp(height, width, above, below)
    cloud = textures.cut("clouds", height, width, chance) - chance.uniform(-0.3, 1.2)
    cover = np.clip(cloud * 0.8, 0, 0.85)[:, :, None]
    white = (255, 236, 226) if evening else (250, 250, 252)
    sky += (_light(white) - sky) * cover
    _roughen(sky, textures, "rough", 0.012, chance)
    return sky


def _meadow(height: int, width: int, textures: Textures, chance: random.Random) -> Background:
    horizon = round(height * chance.uniform(0.3, 0.5))
    sky = _sky(horizon, width, textures, chance)
    hills = textures.cut("clouds", 1, width, chance)[0] * 0.035 * height + 0.07 * height
    depth = np.arange(horizon, 0, -1, dtype=np.float32)[:, None] - hills[None, :]
    cover = np.clip(0.5 - depth, 0, 1)[:, :, None]
    sky += (_light(blend((96, 132, 120), (120, 140, 150), chance.random())) - sky) * cover
    green = blend((92, 140, 56), (150, 150, 70), chance.random())
    grass = _ramp(height - horizon, width, blend(green, (170, 180, 120), 0.4), green)
    _roughen(grass, textures, "blades", 0.15, chance)
    _roughen(grass, textures, "clouds", 0.06, chance)
    zones = (
        Zone((4, 11), 0.12 * height, horizon * 0.95, False),
        Zone((7, 7, 7, 6, 6, 8, 8, 12, 2, 1), horizon + 0.015 * height, height * 1.02, True, 3),
    )
    return Background(np.concatenate([sky, grass]), zones)


def _sea(height: int, width: int, textures: Textures, chance: random.Random) -> Background:
    horizon = round(height * chance.uniform(0.3, 0.45))
    shore = round(height * chance.uniform(0.72, 0.86))
    sky = _sky(horizon, width, textures, chance)
    deep = blend((24, 92, 140), (30, 120, 120), chance.random())
    water = _ramp(shore - horizon, width, blend(deep, (160, 200, 210), 0.3), deep)
    _roughen(water, textures, "waves", 0.16, chance)
    edge = np.linspace(1, 0, shore - horizon, dtype=np.float32)[::-1, None] ** 24
    water += (_light((235, 244, 246)) - water) * edge[:, :, None] * 0.8
    sand = _ramp(height - shore, width, (196, 168, 120), (226, 200, 150))
    _roughen(sand, textures, "rough", 0.07, chance)
    _roughen(sand, textures, "grain", 0.05, chance)
    zones = (
        Zone((4, 11), 0.12 * height, horizon * 0.95, False),
        Zone((5,), horizon + 0.02 * height, shore - 0.02 * height, True, 2),
        Zone((2, 2, 1, 3, 9, 12), shore + 0.04 * height, height * 1.01, True, 2),
    )
    return Background(np.concatenate([sky, water, sand]), zones)


def _room(height: int, width: int, textures: Textures, chance: random.Random) -> Background:
    table = round(height * chance.uniform(0.5, 0.66))
    tint = chance.choice(((130, 160, 170), (190, 130, 110), (150, 176, 130), (200, 170, 100)))
    paint = blend((222, 210, 190), tint, chance.random())
    wall = _ramp(table, width, paint, blend(paint, (90, 80, 70), 0.25))
    _roughen(wall, textures, "rough", 0.018, chance)
    _roughen(wall, textures, "grain", 0.02, chance)
    if chance.random() < 0.5:
        pitch = chance.choice((24, 36, 56))
        stripe = (np.arange(width) // pitch % 2).astype(np.float32)
        wall *= 1 - 0.09 * stripe[None, :, None]
    timber = blend((150, 98, 56), (190, 150, 104), chance.random())
    board = _ramp(height - table, width, blend(timber, (60, 40, 30), 0.25), timber)
    _roughen(board, textures, "wood", 0.09, chance)
    _roughen(board, textures, "grain", 0.03, chance)
    board[:3] *= 0.55
    zones = (
        Zone((10, 10, 10, 10, 4), 0.3 * height, table * 0.92, False),
        Zone((3, 3, 3, 2, 12, 9, 10), table + 0.06 * height, height * 1.02, True, 2),
    )
    return Background(np.concatenate([wall, board]), zones)


def _street(height: int, width: int, textures: Textures, chance: random.Random) -> Background:
    horizon = round(height * chance.uniform(0.36, 0.5))
    kerb = round(height * chance.uniform(0.56, 0.64))
    sky = _sky(horizon, width, textures, chance)
    block = chance.randrange(18, 46)
    roofs = np.repeat([chance.uniform(0, 0.16) for _ in range(width // block + 1)], block)[:width]
    above = np.arange(horizon, 0, -1)[:, None] > height * np.maximum(0.02, roofs)[None, :]
    town = _light(blend((128, 134, 150), (164, 150, 144), chance.random()))
    sky += (town - sky) * np.where(above, 0.0, 0.8).astype(np.float32)[:, :, None]
    slab = blend((150, 146, 138), (176, 160, 140), chance.random())
    walk = _ramp(kerb - horizon, width, slab, blend(slab, (90, 90, 90), 0.2))
    _roughen(walk, textures, "rough", 0.06, chance)
    walk[-4:] *= 0.7
    road = _ramp(height - kerb, width, (88, 90, 94), (66, 68, 72))
    _roughen(road, textures, "rough", 0.06, chance)
    _roughen(road, textures, "grain", 0.07, chance)
    middle, half = round((height - kerb) * 0.45), max(2, round(height * 0.008))
    dash = (np.arange(width) + chance.randrange(90)) % 90 < 52
    road[middle - half : middle + half, dash] *= 2.3
    zones = (
        Zone((11, 11, 4), 0.12 * height, horizon * 0.8, False),
        Zone((6, 7, 6, 7, 7, 12), horizon + 0.02 * height, kerb, True, 2),
        Zone((8, 8, 8, 1, 1, 2), kerb + 0.05 * height, height * 1.01, True, 3),
    )
    return Background(np.concatenate([sky, walk, road]), zones)


def _reef(height: int, width: int, textures: Textures, chance: random.Random) -> Background:
    floor = round(height * chance.uniform(0.72, 0.85))
    tint = blend((36, 140, 180), (30, 150, 140), chance.random())
    water = _ramp(floor, width, blend(tint, (200, 240, 240), 0.35), blend(tint, (8, 40, 80), 0.6))
    fade = np.linspace(0.16, 0.02, floor, dtype=np.float32)[:, None]
    light = np.maximum(0, 1 - np.abs(textures.cut("light", floor, width, chance)) * 2.2)
    water *= (1 + fade * 2 * light)[:, :, None]
    _roughen(water, textures, "rough", 0.03, chance)
    sand = _ramp(height - floor, width, blend(tint, (150, 150, 120), 0.55), (176, 170, 130))
    _roughen(sand, textures, "rough", 0.08, chance)
    _roughen(sand, textures, "grain", 0.04, chance)
    zones = (
        Zone((9, 9, 9, 9, 9, 2), 0.12 * height, floor * 0.98, False, 3),
        Zone((12, 9, 2, 5, 3, 1), floor + 0.03 * height, height * 1.01, True),
    )
    return Background(np.concatenate([water, sand]), zones)


PLACES: tuple[Place, ...] = (
    _meadow,
    _sea,
    _room,
    _street,
    _reef,
)
