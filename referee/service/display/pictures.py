# SPDX-License-Identifier: Apache-2.0
"""The pictures of frames: composed once for a screen, one at a time, as raw pixels."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from PIL import Image

from referee.formats.image_file import open_image
from referee.tracks.camera.card import test_card
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import black, compose
from referee.tracks.camera.geometry import Screen

Compose = Callable[[Screen], Image.Image]


class Pictures:
    """The maker of pictures; one composition runs at a time, so that the meter keeps a core."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def frame(self, path: Path, label: FrameLabel, parity: int) -> Picture:
        """Return the picture of an image's frame; nothing is read before it is drawn."""
        return Picture(lambda screen: _frame(path, label, screen, parity), self._turn)

    def black(self) -> Picture:
        """Return a black picture."""
        return Picture(black, self._turn)

    def card(self, moment_ms: int) -> Picture:
        """Return the test card with a moment written on it."""
        return Picture(lambda screen: test_card(screen, moment_ms), self._turn)


class Picture:
    """One picture for a screen of any size; the last size drawn is kept."""

    def __init__(self, compose_for: Compose, turn: threading.Lock) -> None:
        self._compose = compose_for
        self._turn = turn
        self._drawn: tuple[Screen, bytes] | None = None

    def __call__(self, width_px: int, height_px: int) -> bytes:
        """Return the pixels, four bytes each: red, green, blue, opaque.

        Raises `InputError` if the image cannot be read, or is not the one that was hashed.
        """
        screen = Screen(width_px, height_px)
        with self._turn:
            if self._drawn is None or self._drawn[0] != screen:
                self._drawn = (screen, self._compose(screen).convert("RGBA").tobytes())
            return self._drawn[1]


def _frame(path: Path, label: FrameLabel, screen: Screen, parity: int) -> Image.Image:
    return compose(open_image(path), label, screen, parity)
