# SPDX-License-Identifier: Apache-2.0
"""A display page in this process: it follows the desk's stream, and paints nothing anybody sees."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from referee.errors import Refusal
from referee.service.display.display import Display
from referee.service.setup.config import CameraSection
from tests.support.fakes import BOUND_S, eventually

SCREEN = {"width": 640, "height": 480, "ratio": 1, "visible": True, "fills": True}


@dataclass
class Page:
    """A display page in this process; its thread paints each frame that it is told."""

    display: Display
    paints: bool = True
    me: dict[str, Any] = field(default_factory=dict)
    painted: list[int] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Follow the stream until it ends."""
        for name, told in self.display.stream():
            data = msgspec.to_builtins(told)
            if name == "hello":
                self.me = data
                self.display.measured(self.me | SCREEN)
            elif data.get("mode") == "frame" and self.paints:
                self._paint(data)

    def _paint(self, told: dict[str, Any]) -> None:
        if told["frame"] in self.painted:
            return
        try:
            pixels = self.display.pixels(told["session"], told["frame"], 640, 480)
            assert 640 * 480 * 4 == len(pixels)
            self.display.painted(self.me | {"session": told["session"], "frame": told["frame"]})
            self.painted.append(told["frame"])
        except Refusal as refusal:
            self.refused.append(refusal.code)


def opened(display: Display, paints: bool = True) -> Page:
    """Open a page and return it when the display can use it."""
    page = Page(display, paints)
    threading.Thread(target=page.run, name="page", daemon=True).start()
    eventually(lambda: display.status().fault == "")
    return page


PATIENT = CameraSection(dwell_ms=0, paint_s=BOUND_S)
"""Settings under which a request that shall be painted is painted, on a slow machine too."""


@contextmanager
def in_a_hurry(display: Display) -> Iterator[None]:
    """Let requests that nobody paints fail after half a second, within the block alone."""
    display._paint_s = 0.5
    try:
        yield
    finally:
        display._paint_s = BOUND_S
