# SPDX-License-Identifier: Apache-2.0
"""Frames of chance images, and how well a reading of their photograph fits the truth."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from client_sample.camera.reading import FrameReading
from referee.demo.lens import PhotographGeometry
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import compose
from referee.tracks.camera.geometry import Screen, image_rect

FULL_HD = Screen(1920, 1080)


def chance_label(chance: np.random.Generator) -> FrameLabel:
    """Return an id of the whole range, and a size from 60x60 to 4000x3000, by ratio."""
    width, height = (int(60 * (most / 60) ** chance.random()) for most in (4000, 3000))
    tag = int(chance.integers(0, 1 << 16))
    return FrameLabel(int(chance.integers(0, 1 << 20)), width, height, tag)


def chance_image(label: FrameLabel, chance: np.random.Generator) -> Image.Image:
    """Return coloured patches of this size: an image with edges everywhere."""
    small = (max(2, label.height_px // 12), max(2, label.width_px // 12), 3)
    patches = Image.fromarray(chance.integers(0, 256, small, dtype=np.uint8))
    return patches.resize((label.width_px, label.height_px), Image.Resampling.NEAREST)


def chance_frame(
    label: FrameLabel, chance: np.random.Generator, screen: Screen = FULL_HD
) -> NDArray[np.uint8]:
    """Return the frame of a chance image, as pixels."""
    parity = int(chance.integers(0, 2))
    return np.asarray(compose(chance_image(label, chance), label, screen, parity))


def says(reading: FrameReading, label: FrameLabel) -> bool:
    """Tell whether a reading says exactly what the label says."""
    found = reading.label
    return (found.image_id, found.width, found.height, found.tag) == (
        label.image_id,
        label.width_px,
        label.height_px,
        label.tag,
    )


def in_photograph(view: PhotographGeometry, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where points of the screen (n, 2) appear in the photograph.

    In both, 0, 0 is the upper left corner of the first pixel.
    """
    flat = np.column_stack([points, np.ones(len(points))]) @ view.matrix.T
    centre, half = np.array(view.size) / 2, math.hypot(*view.size) / 2
    ideal = (flat[:, :2] / flat[:, 2:] - centre) / half
    # The lens is given by the way back. This converges for all distortions of the simulated lens.
    bent = ideal.copy()
    for _ in range(30):
        bent = ideal / (1 + view.bend * (bent**2).sum(axis=1, keepdims=True))
    return np.asarray(bent * half + centre)


def source_errors(
    reading: FrameReading, view: PhotographGeometry, label: FrameLabel, screen: Screen = FULL_HD
) -> NDArray[np.float64]:
    """Return by how many source pixels the cut-out misses, at 81 places of the image.

    The reading's place in the photograph is compared with the lens's own. The lens's local scale
    turns the difference into pixels of the screen. An image that was reduced for the screen has
    several source pixels for each of these.
    """
    rect = image_rect(screen, label.width_px, label.height_px)
    x, y = np.meshgrid(np.linspace(rect.left, rect.right, 9), np.linspace(rect.top, rect.bottom, 9))
    points = np.stack([x, y], axis=-1).reshape(-1, 2)
    true = in_photograph(view, points)
    slopes = np.stack(
        [in_photograph(view, points + step) - true for step in ((1.0, 0.0), (0.0, 1.0))], axis=-1
    )
    on_screen = np.linalg.solve(slopes, (reading.mapping(points) - true)[..., None])[..., 0]
    scale = label.width_px / rect.size[0]
    return np.asarray(scale * np.linalg.norm(on_screen, axis=1))


def without_screen(chance: np.random.Generator) -> NDArray[np.uint8]:
    """Return a picture (960, 1280, BGR) of all kinds of squares but without a frame."""
    kind = int(chance.integers(0, 5))
    ground = cv2.resize(chance.integers(0, 256, (12, 16, 3), dtype=np.uint8), (1280, 960))
    picture = np.asarray(ground if kind else np.zeros((960, 1280, 3), dtype=np.uint8))
    if kind == 1:  # a chessboard
        side = int(chance.integers(20, 120))
        y, x = np.mgrid[:960, :1280] // side
        picture = np.where(((x + y) % 2)[..., None] == 1, 255, picture // 4).astype(np.uint8)
    elif kind == 2:  # a house front
        step, side = int(chance.integers(60, 160)), int(chance.integers(20, 55))
        picture = picture // 6
        for y in range(20, 900, step):
            for x in range(20, 1220, step):
                cv2.rectangle(picture, (x, y), (x + side, y + side), (230, 240, 250), -1)
    elif kind in (0, 3):  # four equal squares and scattered ones, on black or on a hall
        side, (dx, dy) = int(chance.integers(30, 60)), chance.integers(400, 800, 2)
        for x, y in ((0, 0), (dx, 0), (dx, dy * 0.6), (0, dy * 0.6)):
            place = (100 + int(x), 100 + int(y))
            cv2.rectangle(picture, place, (place[0] + side, place[1] + side), (255,) * 3, -1)
        for _ in range(120):
            place = tuple(int(value) for value in chance.integers(90, 900, 2))
            end = (place[0] + int(chance.integers(5, 25)), place[1] + int(chance.integers(5, 25)))
            cv2.rectangle(picture, place, end, (255,) * 3, -1)
    noise = chance.integers(-20, 21, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def plain(screen: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Photograph a screen (RGB) from the front, at 0.55 of its size, in BGR."""
    photo = np.full((960, 1280, 3), 12, dtype=np.uint8)
    size = (round(0.55 * screen.shape[1]), round(0.55 * screen.shape[0]))
    small = cv2.resize(screen[..., ::-1], size, interpolation=cv2.INTER_AREA)
    top, left = (960 - size[1]) // 2, (1280 - size[0]) // 2
    photo[top : top + size[1], left : left + size[0]] = small
    return np.asarray(cv2.GaussianBlur(photo, (0, 0), 0.8), dtype=np.uint8)
