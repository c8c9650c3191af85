# SPDX-License-Identifier: Apache-2.0
"""Photographs of chance that are spoiled one way each, and what a reader should say of them.

Every kind draws its photographs from a seed: the light of lamps, things over the frame, changes
during the exposure, lenses, screens that cut the picture, and what a camera does to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import compose
from tests.support.frames import FULL_HD, chance_image
from tests.support.hall import (
    SIZE,
    UPRIGHT,
    Band,
    Camera,
    Glare,
    Pane,
    Pixels,
    Shown,
    barrel,
    brown,
    fisheye,
)

Chance = np.random.Generator
READ = "read"
_WORDS = {
    "covered": "covered",
    "glare": "glare",
    "mixed": "mixed frame",
    "dark": "dark band",
    "overscan": "overscan",
    "fisheye": "fisheye",
    "mirrored": "mirrored",
    "inverted": "inverted",
    "blurred": "blurred",
    "outside": "partly outside",
    "no screen": "no screen",
}
VERDICTS = (READ, *_WORDS, "other")


@dataclass(frozen=True, eq=False)
class Spoiled:
    """One photograph, the id that it shows, and the verdicts that are true of it."""

    kind: str
    photo: Pixels
    image_id: int
    right: tuple[str, ...]

    def verdict(self) -> str:
        """Read it, and return one of `VERDICTS`; a wrong id is the verdict "wrong"."""
        try:
            reading = read(self.photo)
        except Unread as refusal:
            return next(
                (word for word, start in _WORDS.items() if str(refusal).startswith(start)), "other"
            )
        return READ if reading.label.image_id == self.image_id else "wrong"


def spoiled(kind: str, count: int, seed: int = 0) -> Iterator[Spoiled]:
    """Yield so many photographs of a kind."""
    right, make = KINDS[kind]
    for number in range(count):
        chance = np.random.default_rng((seed, number, sum(kind.encode())))
        label = _label(chance)
        yield Spoiled(kind, make(chance, label), label.image_id, right)


def _label(chance: Chance) -> FrameLabel:
    width, height = ((1920, 1440), (1280, 720), (800, 600), (600, 800))[int(chance.integers(0, 4))]
    return FrameLabel(int(chance.integers(0, 1 << 20)), width, height, 7)


def _frame(label: FrameLabel, parity: int = 0) -> NDArray[np.uint8]:
    image = chance_image(label, np.random.default_rng(label.image_id))
    return np.asarray(compose(image, label, FULL_HD, parity)).copy()


def _shown(chance: Chance, frame: Pixels, fill: float = 1.0) -> Shown:
    """Return a screen a little away from where the others stand."""
    corners = fill * (np.array(UPRIGHT) - (640, 480)) + (640, 480) + chance.uniform(-14, 14, (4, 2))
    return Shown(frame, tuple(map(tuple, corners.tolist())))


def _camera(chance: Chance) -> Camera:
    return Camera(
        blur_px=chance.uniform(0.6, 1.3),
        noise=chance.uniform(0.004, 0.025),
        room=chance.uniform(0.005, 0.06),
        gain=chance.uniform(0.7, 1.1),
        jpeg=int(chance.integers(60, 95)),
        seed=int(chance.integers(0, 1 << 30)),
    )


def _on_screen(chance: Chance, shown: Shown) -> tuple[float, float]:
    """Return a place in the photograph, near to the border of the screen."""
    x, y = chance.uniform(0, 1, 2)
    if chance.random() < 0.5:
        x = x * 0.1 if chance.random() < 0.5 else 1 - x * 0.1
    else:
        y = y * 0.13 if chance.random() < 0.5 else 1 - y * 0.13
    height, width = shown.pixels.shape[:2]
    place = shown.matrix @ (x * width, y * height, 1)
    return float(place[0] / place[2]), float(place[1] / place[2])


def _plain(chance: Chance, label: FrameLabel) -> Pixels:
    return _camera(chance).take([_shown(chance, _frame(label))])


def _lamp(chance: Chance, label: FrameLabel) -> Pixels:
    """Round and long reflections, small and large, dim and far above white."""
    shown = _shown(chance, _frame(label))
    glares = []
    for _ in range(int(chance.integers(1, 3))):
        x, y = _on_screen(chance, shown)
        wide, long = chance.uniform(18, 130), 3.0 ** chance.uniform(0, 1)
        light = 0.5 * 24 ** chance.random()
        glares.append(Glare(x, y, wide * long, wide / long, light))
    return _camera(chance).take([shown], glares=glares)


def _pane(chance: Chance, label: FrameLabel) -> Pixels:
    """Reflections of a window or of a lamp's panel: straight edges, out of focus."""
    shown = _shown(chance, _frame(label))
    x, y = _on_screen(chance, shown)
    wide, high = chance.uniform(30, 220, 2)
    light = 0.5 * 12 ** chance.random()
    pane = Pane(
        x - wide / 2, y - high / 2, x + wide / 2, y + high / 2, chance.uniform(5, 20), light
    )
    return _camera(chance).take([shown], glares=[pane])


_LIGHT_COLOURS = (
    (255, 255, 255),
    (248, 248, 248),
    (225, 225, 230),
    (190, 190, 190),
    (255, 244, 190),
    (200, 225, 255),
    (120, 200, 120),
    (255, 170, 60),
)


def _banner(chance: Chance, label: FrameLabel, text: bool) -> Pixels:
    """A window, a notification or a bar, opaque and light, over markers, strips or sides."""
    frame = _frame(label)
    colour = _LIGHT_COLOURS[int(chance.integers(0, len(_LIGHT_COLOURS)))]
    left, top, right, bottom = _place(chance)
    if chance.random() < 0.3:
        _rounded(frame, (left, top, right, bottom), colour)
    else:
        frame[top:bottom, left:right] = colour
    if text:
        size = chance.uniform(0.7, 1.3)
        for y in range(top + 34, bottom - 6, 40):
            words = "Updates are ready to install - restart now"[
                : max(2, (right - left - 24) // 22)
            ]
            cv2.putText(
                frame, words, (left + 12, y), cv2.FONT_HERSHEY_SIMPLEX, size, (40, 40, 48), 2
            )
    return _camera(chance).take([_shown(chance, frame)])


def _place(chance: Chance) -> tuple[int, int, int, int]:
    """Return where a banner lies on a screen of 1920x1080: it hides a part of the margins."""
    kind = int(chance.integers(0, 5))
    if kind == 0:  # a notification in a corner
        wide, high, gap = (int(chance.integers(*span)) for span in ((260, 520), (90, 240), (0, 24)))
        at_left, at_top = chance.random(2) < 0.5
        left = gap if at_left else 1920 - gap - wide
        top = gap if at_top else 1080 - gap - high
        return left, top, left + wide, top + high
    if kind == 1:  # a bar in the middle of an edge
        wide, high = int(chance.integers(300, 900)), int(chance.integers(50, 170))
        left = int(chance.integers(250, 1670 - wide))
        top = 0 if chance.random() < 0.5 else 1080 - high
        return left, top, left + wide, top + high
    if kind == 2:  # a window over a side
        wide, high = int(chance.integers(90, 420)), int(chance.integers(150, 600))
        left = int(chance.integers(0, 40)) if chance.random() < 0.5 else 1920 - wide
        top = int(chance.integers(140, 1060 - high)) if high < 800 else 140
        return left, top, left + wide, top + high
    if kind == 3:  # a small thing over one marker
        side = int(chance.integers(120, 190))
        x, y = (114, 114) if chance.random() < 0.5 else (1806, 966)
        left, top = max(0, x - side // 2 - 50), max(0, y - side // 2 - 50)
        return left, top, min(1920, left + side), min(1080, top + side)
    wide, high = int(chance.integers(300, 900)), int(chance.integers(200, 500))
    left, top = int(chance.integers(200, 1700 - wide)), int(chance.integers(10, 60))
    return left, top, left + wide, top + high


def _rounded(frame: Pixels, place: tuple[int, int, int, int], colour: tuple[int, ...]) -> None:
    left, top, right, bottom = place
    radius = 14
    frame[top + radius : bottom - radius, left:right] = colour
    frame[top:bottom, left + radius : right - radius] = colour
    for x in (left + radius, right - radius - 1):
        for y in (top + radius, bottom - radius - 1):
            cv2.circle(frame, (x, y), radius, colour, -1)


def _dark_banner(chance: Chance, label: FrameLabel) -> Pixels:
    """The same in a dark theme, over a marker."""
    frame = _frame(label)
    side = int(chance.integers(150, 420))
    level = int(chance.integers(20, 60))
    x = 0 if chance.random() < 0.5 else 1920 - side
    y = 0 if chance.random() < 0.5 else 1080 - 190
    frame[y : y + 190, x : x + side] = level
    return _camera(chance).take([_shown(chance, frame)])


def _torn(chance: Chance, label: FrameLabel) -> Pixels:
    """The frame and the one after it, one above the other."""
    following = replace(label, image_id=(label.image_id + 1) % (1 << 20))
    shown = replace(
        _shown(chance, _frame(label)),
        after=_frame(following, 1),
        torn_at=chance.uniform(215, 745),
    )
    return _camera(chance).take([shown])


def _blend(chance: Chance, label: FrameLabel) -> Pixels:
    """The frame and the one after it, both everywhere, as a slow panel or shutter has them."""
    width, height = int(chance.integers(200, 2000)), int(chance.integers(200, 1500))
    following = FrameLabel(int(chance.integers(0, 1 << 20)), width, height, 7)
    share = chance.uniform(0.3, 0.7)
    mixed = cv2.addWeighted(_frame(label), share, _frame(following, 1), 1 - share, 0)
    return _camera(chance).take([_shown(chance, np.asarray(mixed, dtype=np.uint8))])


def _band(chance: Chance, label: FrameLabel) -> Pixels:
    high, light = chance.uniform(30, 300), chance.uniform(0, 0.12)
    top = chance.uniform(190, 770 - high)
    shown = _shown(chance, _frame(label))
    return _camera(chance).take([shown], [Band(top, top + high, light)])


def _lens(chance: Chance, label: FrameLabel) -> Pixels:
    """A whole frame through a strong lens, its middle beside that of the picture."""
    centre = (0.5 + chance.uniform(-0.15, 0.15), 0.5 + chance.uniform(-0.15, 0.15))
    strength = chance.uniform(0.5, 1)
    lens = (
        barrel(0.4 * strength, 0.1 * strength, centre),
        brown(-0.35 * strength, centre=centre),
        fisheye(60 + 75 * strength, centre),
        barrel(-0.12 * strength, 0.0, centre),
    )[int(chance.integers(0, 4))]
    camera = replace(_camera(chance), lens=lens)
    fill = 1.0
    while True:
        shown = _shown(chance, _frame(label), fill)
        corners = np.array(shown.corners)
        seen = camera.seen(corners)
        near = np.isfinite(seen).all() and abs(lens(seen) - corners).max() < 0.1
        if near and (seen > 6).all() and (seen < np.array(SIZE) - 6).all():
            return camera.take([shown])
        fill *= 0.95


def _overscan(chance: Chance, label: FrameLabel, sides: tuple[bool, ...]) -> Pixels:
    """A screen that scales the picture up, so that 2.5 to 8 % are cut off on some sides."""
    share = chance.uniform(0.025, 0.08)
    left, top, right, bottom = (share if cut else 0.0 for cut in sides)
    return _camera(chance).take([_shown(chance, cut_off(_frame(label), left, top, right, bottom))])


def cut_off(frame: Pixels, left: float, top: float, right: float, bottom: float) -> Pixels:
    """Return what a screen shows that cuts these shares of a frame off, and scales the rest up."""
    height, width = frame.shape[:2]
    part = frame[
        round(top * height) : height - round(bottom * height),
        round(left * width) : width - round(right * width),
    ]
    return np.asarray(cv2.resize(part, (width, height)), dtype=np.uint8)


def _mirrored(chance: Chance, label: FrameLabel) -> Pixels:
    return np.ascontiguousarray(np.flip(_plain(chance, label), int(chance.integers(0, 2))))


def _inverted(chance: Chance, label: FrameLabel) -> Pixels:
    if chance.random() < 0.5:
        return np.asarray(255 - _plain(chance, label), dtype=np.uint8)
    return _camera(chance).take([_shown(chance, np.asarray(255 - _frame(label)))])


def _blurred(chance: Chance, label: FrameLabel) -> Pixels:
    photo = cv2.GaussianBlur(_plain(chance, label), (0, 0), chance.uniform(6, 25))
    return np.asarray(photo, dtype=np.uint8)


def _half(chance: Chance, label: FrameLabel) -> Pixels:
    photo = _plain(chance, label)
    cut = int(chance.integers(450, 800))
    return np.ascontiguousarray(photo[:, cut:] if chance.random() < 0.5 else photo[:, :-cut])


def _moire(chance: Chance, label: FrameLabel) -> Pixels:
    """The screen's own grid of colours beats with the camera's pixels."""
    frame = _frame(label).astype(np.float32)
    grid = np.full((3, 3, 3), 0.25, dtype=np.float32)
    for colour in range(3):
        grid[:, colour, colour] = 1.0
    grid[2] *= 0.3
    light = np.asarray(frame * np.tile(grid, (360, 640, 1)))
    shown = _shown(chance, np.clip(light * 1.6, 0, 255).astype(np.uint8))
    return replace(_camera(chance), blur_px=chance.uniform(0.3, 0.6)).take([shown])


def _sides(*cut: bool) -> Callable[[Chance, FrameLabel], Pixels]:
    return lambda chance, label: _overscan(chance, label, cut)


# The verdicts that are right, and how a photograph is made.
KINDS: dict[str, tuple[tuple[str, ...], Callable[[Chance, FrameLabel], Pixels]]] = {
    "nothing": ((READ,), _plain),
    "lamps": ((READ, "glare"), _lamp),
    "panes of light": ((READ, "glare"), _pane),
    "light banner": (("covered",), lambda chance, label: _banner(chance, label, False)),
    "light banner, text": (("covered",), lambda chance, label: _banner(chance, label, True)),
    "dark banner": (("covered",), _dark_banner),
    "torn": (("mixed",), _torn),
    "blended": (("mixed",), _blend),
    "dark band": (("dark",), _band),
    "strong lens": ((READ, "fisheye"), _lens),
    "overscan, all sides": (("overscan",), _sides(True, True, True, True)),
    "overscan, left and right": (("overscan",), _sides(True, False, True, False)),
    "overscan, above and below": (("overscan",), _sides(False, True, False, True)),
    "overscan, one side": (("overscan", "dark"), _sides(True, False, False, False)),
    "mirrored": (("mirrored",), _mirrored),
    "inverted": (("inverted",), _inverted),
    "out of focus": (("blurred",), _blurred),
    "half a screen": (("outside",), _half),
    "moiré": ((READ,), _moire),
}
