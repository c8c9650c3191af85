# SPDX-License-Identifier: Apache-2.0
"""Where the pictures of the documents go, and which there are."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.remote.webelement import WebElement

PICTURES = (
    "audit",
    "board",
    "camera-frame",
    "ceremony",
    "ceremony-winner",
    "check",
    "coach",
    "console",
    "console-alarm",
    "console-armed",
    "console-lanes",
    "console-last",
    "console-suspect",
    "diploma",
    "live",
    "model-check",
    "practice",
    "published",
    "results",
    "scoreboard",
    "scoreboard-frozen",
    "season",
    "team",
)
"""The names of the pictures that Chromium shows, without their suffix."""

_COLOURS = 128  # The pages have few colours, and a palette halves a file.


class Album:
    """A folder that gets each picture once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._missing = set(PICTURES)

    def take(self, name: str, shown: webdriver.Chrome | WebElement) -> None:
        """Keep what a browser shows, or one element of its page."""
        if isinstance(shown, WebElement):
            self.keep(name, shown.screenshot_as_png)
        else:
            self.keep(name, shown.get_screenshot_as_png())

    def keep(self, name: str, png: bytes) -> None:
        """Keep a picture under its name."""
        self._missing.remove(name)
        path = self._folder / f"{name}.png"
        with Image.open(io.BytesIO(png)) as picture:
            few = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
            few.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size // 1000} kB", flush=True)

    def require_whole(self) -> None:
        """Raise AssertionError with the names of the pictures that nobody has taken."""
        assert not self._missing, f"not taken: {', '.join(sorted(self._missing))}"
