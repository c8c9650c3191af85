# SPDX-License-Identifier: Apache-2.0
"""Frames as pictures: an image with its margins, and a black one.

Pillow does the work outside the interpreter's lock, so other threads go on meanwhile.
"""

from __future__ import annotations

from PIL import Image, ImageDraw

from referee.errors import InputError
from referee.tracks.camera.code import FrameLabel, code_bits, id_bits, white_cell, white_witnesses
from referee.tracks.camera.geometry import (
    ORIENTATION_START,
    PARITY_START,
    Rect,
    Screen,
    anchors,
    code_cell,
    end_block,
    id_cells,
    image_rect,
    markers,
    witness_cell,
)

_WHITE, _BLACK = (255, 255, 255), (0, 0, 0)

# The lit halves of the orientation mark beside each marker: (at the bottom, at the right) to
# (upper half, lower half). Each strip alone tells the four ways to turn and mirror a frame.
ORIENTATION = {
    (False, False): (True, True),
    (False, True): (False, False),
    (True, True): (True, False),
    (True, False): (False, True),
}


def compose(
    picture: Image.Image,
    label: FrameLabel,
    screen: Screen,
    parity: int,
    *,
    enlarge: bool = False,
) -> Image.Image:
    """Return the frame of an image, in RGB and exactly as large as the screen.

    `picture` is shown as its pixels are stored: an orientation in its EXIF data changes nothing,
    because the ground truth refers to the stored pixels. `parity` is 0 or 1, and must differ from
    frame to frame. `enlarge` also scales up an image that is smaller than the room for it.
    """
    if picture.size != (label.width_px, label.height_px):
        size = "x".join(map(str, picture.size))
        raise InputError(
            f"The label says {label.width_px}x{label.height_px}, but the image has {size} pixels."
        )
    if parity not in (0, 1):
        raise InputError(f"The parity of a frame is 0 or 1, not {parity}.")
    frame = black(screen)
    _paste(frame, picture, image_rect(screen, *picture.size, enlarge=enlarge))
    draw = ImageDraw.Draw(frame)
    draw_marks(draw, screen)
    for cell, bit in zip(id_cells(screen), id_bits(label), strict=True):
        if bit:
            _fill(draw, cell)
    bits = code_bits(label, screen, enlarged=enlarge)
    for number, at_left in enumerate(white_witnesses(bits, parity)):
        _fill(draw, witness_cell(screen, number, at_right=not at_left))
    for at_bottom in (False, True):
        for number, bit in enumerate(bits):
            column, row = white_cell(number, bit, at_bottom=at_bottom)
            _fill(draw, code_cell(screen, at_bottom=at_bottom, column=column, row=row))
        for at_right in (False, True):
            _fill(
                draw,
                end_block(
                    screen,
                    at_bottom=at_bottom,
                    at_right=at_right,
                    start=PARITY_START,
                    lower=bool(parity),
                ),
            )
    return frame


def black(screen: Screen) -> Image.Image:
    """Return a frame that shows nothing."""
    return Image.new("RGB", (screen.width_px, screen.height_px), _BLACK)


def draw_marks(draw: ImageDraw.ImageDraw, screen: Screen) -> None:
    """Draw what is the same in every frame: markers, anchors and the orientation mark."""
    for rect in (*markers(screen), *anchors(screen)):
        _fill(draw, rect)
    for (at_bottom, at_right), lit in ORIENTATION.items():
        for lower in (False, True):
            if lit[lower]:
                _fill(
                    draw,
                    end_block(
                        screen,
                        at_bottom=at_bottom,
                        at_right=at_right,
                        start=ORIENTATION_START,
                        lower=lower,
                    ),
                )


def _paste(frame: Image.Image, picture: Image.Image, rect: Rect) -> None:
    """Put a picture into its rectangle; what is transparent shows the black behind it."""
    if picture.mode.startswith("I"):
        # Pillow would cut off what is above 255. Sixteen bits are all that a PNG has.
        picture = picture.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
    elif picture.mode != "RGB":
        picture = picture.convert("RGB")
    if picture.size != rect.size:
        # A first coarse reduction makes this fast for photographs of many megapixels.
        picture = picture.resize(rect.size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    mask = picture.getchannel("A") if picture.mode == "RGBA" else None
    frame.paste(picture, (rect.left, rect.top), mask)


def _fill(draw: ImageDraw.ImageDraw, rect: Rect) -> None:
    draw.rectangle((rect.left, rect.top, rect.right - 1, rect.bottom - 1), fill=_WHITE)
