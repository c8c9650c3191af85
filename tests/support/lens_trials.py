# SPDX-License-Identifier: Apache-2.0
"""Photographs through lenses of chance, from good ones to the worst, and how far a reading misses.

The lens bends mildly or strongly, by three models, about a middle that is up to .35 of the picture
away from its own. The screen stands near or far, and tilted; a lamp may hide one strip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from client_sample.camera.reader import read
from client_sample.camera.reading import FrameReading, Unread
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import compose
from referee.tracks.camera.geometry import image_rect
from tests.support.frames import FULL_HD, chance_image
from tests.support.hall import Camera, Glare, Lens, Pixels, Shown, barrel, brown, fisheye

LABEL = FrameLabel(724853, 1920, 1440, 7)
_PLACES = 9  # each way, of the image

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LensTrial:
    """One photograph's camera, its screen, and what shines on it."""

    name: str
    camera: Camera
    shown: Shown
    glares: tuple[Glare, ...]

    def photograph(self) -> Pixels:
        """Take it."""
        return self.camera.take([self.shown], glares=self.glares)

    def error_px(self, reading: FrameReading) -> float:
        """Return by how many source pixels a reading misses at most, at 81 places of the image."""
        rect = image_rect(FULL_HD, LABEL.width_px, LABEL.height_px)
        x, y = np.meshgrid(
            np.linspace(rect.left, rect.right, _PLACES), np.linspace(rect.top, rect.bottom, _PLACES)
        )
        points = np.stack([x, y], axis=-1).reshape(-1, 2)
        ideal = self.camera.lens(reading.mapping(points))
        mapped = ideal @ (back := np.linalg.inv(self.shown.matrix))[:, :2].T + back[:, 2]
        missed = np.linalg.norm(mapped[:, :2] / mapped[:, 2:] - points, axis=1)
        return float(missed.max()) * LABEL.width_px / (rect.right - rect.left)


@dataclass(frozen=True)
class LensResult:
    """What became of one photograph: the two errors in source pixels, or why it was not read."""

    name: str
    true_px: float = math.nan
    estimate_px: float = math.nan
    reason: str = ""


def result(trial: LensTrial) -> LensResult:
    """Read one photograph."""
    try:
        reading = read(trial.photograph())
    except Unread as refusal:
        return LensResult(trial.name, reason=str(refusal))
    return LensResult(trial.name, trial.error_px(reading), reading.error_px)


def lens_trials(count: int, seed: int = 0) -> Iterator[LensTrial]:
    """Yield photographs of chance that show the whole screen."""
    number = made = 0
    while made < count:
        chance = np.random.default_rng((seed, number))
        number += 1
        trial = _trial(chance, number)
        if trial is not None:
            made += 1
            yield trial


def _trial(chance: np.random.Generator, number: int) -> LensTrial | None:
    name, lens = _lens(chance)
    camera = Camera(lens=lens, blur_px=chance.uniform(0.6, 1.2), seed=number)
    shown = Shown(_frame(), _corners(chance, camera))
    corners = np.array(shown.corners)
    seen = camera.seen(corners)
    if not np.isfinite(seen).all() or abs(lens(seen) - corners).max() > 0.1:
        return None
    if (seen < 6).any() or (seen > np.array(camera.size) - 6).any():
        return None
    glares: tuple[Glare, ...] = ()
    if chance.random() < 0.3:
        # One strip lies under a lamp.
        one, other = (0, 1) if chance.random() < 0.5 else (3, 2)
        x, y = seen[[one, other]].mean(axis=0)
        high = 0.09 * np.linalg.norm(seen[3] - seen[0])
        glares = (Glare(x, y, 0.55 * np.linalg.norm(seen[other] - seen[one]), high),)
        name += ", glare"
    return LensTrial(name, camera, shown, glares)


@cache
def _frame() -> Pixels:
    image = chance_image(LABEL, np.random.default_rng(1))
    return np.asarray(compose(image, LABEL, FULL_HD, 0))


def _lens(chance: np.random.Generator) -> tuple[str, Lens]:
    """Return a lens, with its middle away from that of the picture by up to .35 of its size."""
    angle, away = chance.uniform(0, 2 * math.pi), chance.uniform(0, 0.35)
    centre = (0.5 + away * math.cos(angle), 0.5 + away * math.sin(angle))
    strength = chance.random()
    kind = int(chance.integers(0, 4))
    name = f"off by {away:.2f}, strength {strength:.2f}"
    if kind == 0:
        return f"barrel {name}", barrel(0.35 * strength, 0.1 * chance.uniform(-1, 1), centre)
    if kind == 1:
        return f"pincushion {name}", barrel(-0.12 * strength, 0.0, centre)
    if kind == 2:
        slant = chance.uniform(-0.004, 0.004, 2)
        return f"Brown {name}", brown(-0.35 * strength, *slant.tolist(), centre=centre)
    return f"equidistant {name}", fisheye(50 + 70 * strength, centre)


def _corners(chance: np.random.Generator, camera: Camera) -> tuple[tuple[float, float], ...]:
    """Return the corners of a screen of 16:9 in the ideal picture: near or far, tilted, turned."""
    tilt, roll = math.radians(chance.uniform(0, 30)), math.radians(chance.uniform(-8, 8))
    axis = chance.uniform(0, 2 * math.pi)
    flat = np.array([[-16, -9], [16, -9], [16, 9], [-16, 9]]) / 32
    lean = np.array([math.cos(axis), math.sin(axis)]) * math.sin(tilt)
    depth = 1 + flat @ lean
    turn = np.array([[math.cos(roll), -math.sin(roll)], [math.sin(roll), math.cos(roll)]])
    points = (flat / depth[:, None]) @ turn.T
    size = np.array(camera.size)
    fill = chance.uniform(0.55, 0.97)
    # The ideal picture of what the lens sees of the photograph: the screen fills a part of it.
    middle = camera.lens(size[None] / 2)[0]
    ends = camera.lens(np.array([[0, size[1] / 2], [size[0], size[1] / 2]], dtype=float))
    points *= fill * (ends[1, 0] - ends[0, 0]) / np.ptp(points[:, 0])
    shift = chance.uniform(-0.06, 0.06, 2) * size
    return tuple((float(x), float(y)) for x, y in points + middle + shift)
