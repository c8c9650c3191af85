# SPDX-License-Identifier: Apache-2.0
"""A test card: focus, geometry, brightness, and the latency from a decision to the light."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFont

from referee.tracks.camera.compose import black, draw_marks
from referee.tracks.camera.geometry import IMAGE_EDGE, Screen

_GREYS = 11
_FINEST_LINES_PX = (1, 2, 3, 4, 6, 8)
_MIDDLE = (128, 128, 128)
_WHITE = (255, 255, 255)


def test_card(screen: Screen, moment_ms: int = 0) -> Image.Image:
    """Return a picture with a frame's markers, to adjust screen and camera by.

    - Lines of 1 to 8 pixels show focus and whether the screen scales: 1:1 they are even.
    - Circles and a border of the image's room show geometry, and the edges that a camera cuts off.
    - Eleven greys from black to white show exposure: neighbours must differ at both ends.
    - The number is `moment_ms`. A camera that films a clock of the referee and this card together
      shows the true latency. The square beside it is white for an odd number.
    """
    card = black(screen)
    draw = ImageDraw.Draw(card)
    draw_marks(draw, screen)
    margin = screen.px(IMAGE_EDGE)
    left, top = margin, margin
    right, bottom = screen.width_px - margin, screen.height_px - margin
    draw.rectangle((left, top, right - 1, bottom - 1), outline=_WHITE)
    band = (bottom - top) // 5
    _circles(draw, (left, top, right, bottom))
    _lines(draw, left + band // 4, top + band // 4, (right - left) // 3, band // 2)
    _lines(
        draw,
        right - band // 4 - (right - left) // 3,
        top + band // 4,
        (right - left) // 3,
        band // 2,
    )
    _greys(draw, left + 1, bottom - band, right - left - 2, band - 1)
    _moment(draw, screen, moment_ms, band)
    return card


def _circles(draw: ImageDraw.ImageDraw, room: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = room
    middle_x, middle_y = (left + right) // 2, (top + bottom) // 2
    most = min(right - left, bottom - top) // 2 - 1
    for part in (1, 2, 3):
        radius = most * part // 3
        draw.ellipse(
            (middle_x - radius, middle_y - radius, middle_x + radius, middle_y + radius),
            outline=_MIDDLE,
        )
    draw.line((left, middle_y, right, middle_y), fill=_MIDDLE)
    draw.line((middle_x, top, middle_x, bottom), fill=_MIDDLE)


def _lines(draw: ImageDraw.ImageDraw, left: int, top: int, width: int, height: int) -> None:
    """Draw groups of upright lines above groups of level ones, each with its width in pixels."""
    step = width // len(_FINEST_LINES_PX)
    for group, line_px in enumerate(_FINEST_LINES_PX):
        start = left + group * step
        for x in range(start, start + step - 2 * line_px, 2 * line_px):
            draw.rectangle((x, top, x + line_px - 1, top + height // 2 - 4), fill=_WHITE)
        for y in range(top + height // 2, top + height - line_px, 2 * line_px):
            draw.rectangle((start, y, start + step * 3 // 4, y + line_px - 1), fill=_WHITE)


def _greys(draw: ImageDraw.ImageDraw, left: int, top: int, width: int, height: int) -> None:
    for step in range(_GREYS):
        value = round(255 * step / (_GREYS - 1))
        begin, end = (left + width * edge // _GREYS for edge in (step, step + 1))
        draw.rectangle((begin, top, end - 1, top + height - 1), fill=(value, value, value))


def _moment(draw: ImageDraw.ImageDraw, screen: Screen, moment_ms: int, size: int) -> None:
    middle_x, middle_y = screen.width_px // 2, screen.height_px // 2
    font = ImageFont.load_default(size * 2 // 3)
    place = (middle_x - size // 2, middle_y)
    left, top, right, bottom = draw.textbbox(place, str(moment_ms), font, anchor="mm")
    draw.rectangle((left - 8, top - 8, right + size, bottom + 8), fill=(0, 0, 0))
    draw.text(place, str(moment_ms), fill=_WHITE, font=font, anchor="mm")
    lit = _WHITE if moment_ms % 2 else (0, 0, 0)
    square = (right + 8, middle_y - size // 3, right + 8 + size * 2 // 3, middle_y + size // 3)
    draw.rectangle(square, fill=lit, outline=_MIDDLE)
