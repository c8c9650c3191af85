# SPDX-License-Identifier: Apache-2.0
"""What a display page measures of its own screen, and what makes a screen unfit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.errors import InputError, Refusal
from referee.tracks.camera.geometry import Screen

MOST_PX = 7680 * 4320
"""The most pixels of a screen, those of 8K: its picture takes 133 MB of memory."""
_HZ_MOST = 1000.0
_RATIO_MOST = 16.0


@dataclass(frozen=True)
class PageScreen:
    """A page's screen: its window in device pixels, and whether a camera can see all of it.

    `refresh_hz` is None until the page has measured it. `pixel_ratio` is the browser's scale:
    device pixels per CSS pixel. `fills` tells whether the window fills the whole screen.
    """

    width_px: int
    height_px: int
    pixel_ratio: float
    refresh_hz: float | None
    visible: bool
    fills: bool

    @property
    def fault(self) -> str:
        """Return a sentence that says why this screen cannot show frames, or ''."""
        if not self.visible:
            return (
                "The display page is hidden: another window or tab covers it, or the screen is off."
            )
        if not self.fills:
            return "The display page does not fill its screen: click on it, or press F there."
        return ""


def parse_screen(sent: Mapping[str, object]) -> PageScreen:
    """Return the screen that a page has reported; raise `Refusal` (code `screen_wrong`)."""
    screen = usable_screen(sent.get("width"), sent.get("height"))
    ratio = _number(sent.get("ratio"), _RATIO_MOST)
    visible, fills = sent.get("visible"), sent.get("fills")
    if not ratio or not isinstance(visible, bool) or not isinstance(fills, bool):
        raise Refusal("screen_wrong", "The display page is out of date: reload it.")
    refresh_hz = _number(sent.get("refresh_hz"), _HZ_MOST) or None
    return PageScreen(screen.width_px, screen.height_px, ratio, refresh_hz, visible, fills)


def usable_screen(width: object, height: object) -> Screen:
    """Return a screen of this size; raise `Refusal` (code `screen_wrong`) if no frame fits it."""
    if type(width) is not int or type(height) is not int:
        raise Refusal("screen_wrong", "The display page is out of date: reload it.")
    try:
        screen = Screen(width, height)
    except InputError as error:
        raise Refusal("screen_wrong", str(error)) from error
    if width * height > MOST_PX:
        raise Refusal("screen_wrong", f"A screen of {screen} pixels is too large for a frame.")
    return screen


def _number(value: object, most: float) -> float | None:
    """Return a finite number from 0 to `most`, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0.0 <= value <= most else None  # No comparison with NaN is true.
