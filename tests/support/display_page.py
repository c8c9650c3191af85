# SPDX-License-Identifier: Apache-2.0
"""A display page in this process: it follows the desk's stream, and paints nothing anybody sees."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from referee.errors import Refusal
from referee.service.display.display import Display
from tests.support.fakes import eventually

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
        for name, data in self.display.stream():
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
