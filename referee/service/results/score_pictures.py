# SPDX-License-Identifier: Apache-2.0
"""Pictures that explain a score: precision-recall curves, and boxes on photographs.

Pillow draws both. It takes 0.02 s for a curve and matplotlib takes 0.2 s, and a contest may have
two hundred classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from referee.formats.image_file import open_image
from referee.scoring.ranking import Curve

Floats = NDArray[np.float64]

_INK, _GRID, _PAPER = "#222222", "#dddddd", "#ffffff"
_CURVE, _ENVELOPE = "#1f77b4", "#d62728"
_LONGEST_SIDE = 1024
# A small picture shows what it is about. It never has the photograph's own pixels.
_SMALL_SIDE = 320
_LABEL_PX = 15
_LEFT, _TOP, _SIDE, _MARGIN = 60, 50, 400, 50


@dataclass(frozen=True)
class LabelledBox:
    """A box (inclusive corners) with a label and a colour; `at_foot` puts the label at its foot."""

    box: tuple[float, float, float, float]
    label: str
    colour: str
    at_foot: bool = False


def draw_curve(path: Path, title: str, curve: Curve) -> None:
    """Write a PNG of a precision-recall curve with its envelope; recall is the x-axis."""
    size = (_LEFT + _SIDE + _MARGIN, _TOP + _SIDE + _MARGIN)
    picture = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=14)
    draw.text((_LEFT, 6), title, fill=_INK, font=font)
    for tenth in range(0, 11, 2):
        x, y = _point(tenth / 10, tenth / 10)
        draw.line([(x, _TOP), (x, _TOP + _SIDE)], fill=_GRID)
        draw.line([(_LEFT, y), (_LEFT + _SIDE, y)], fill=_GRID)
        draw.text((x, _TOP + _SIDE + 6), f"{tenth / 10:.1f}", fill=_INK, font=font, anchor="ma")
        draw.text((_LEFT - 8, y), f"{tenth / 10:.1f}", fill=_INK, font=font, anchor="rm")
    middle = _LEFT + _SIDE / 2
    draw.text((middle, _TOP + _SIDE + 26), "recall", fill=_INK, font=font, anchor="ma")
    draw.text((_LEFT - 50, _TOP - 16), "precision", fill=_INK, font=font, anchor="lm")
    draw.text((_LEFT + _SIDE, _TOP - 16), "measured", fill=_CURVE, font=font, anchor="rm")
    draw.text((_LEFT + _SIDE - 76, _TOP - 16), "envelope", fill=_ENVELOPE, font=font, anchor="rm")
    if len(curve.recall) and not np.isnan(curve.recall[0]):
        envelope = np.maximum.accumulate(curve.precision[::-1])[::-1]
        draw.line(_line(curve.recall, curve.precision), fill=_CURVE, width=1)
        draw.line(_line(curve.recall, envelope), fill=_ENVELOPE, width=2)
    picture.save(path)


def draw_boxes(
    path: Path | IO[bytes],
    photograph: Path | None,
    size: tuple[int, int] | None,
    boxes: Sequence[LabelledBox],
    caption: str,
    label_share: float = 0.0,
    *,
    small: bool = False,
    roomy: bool = False,
) -> None:
    """Write a PNG of boxes on a photograph, with a caption below unless it is empty.

    Labels have 15 pixels, or `label_share` of the photograph's height where that is more. A `small`
    picture has at most 320 pixels on a side, and at most half of the photograph's. A `roomy` one
    has room for labels beside a photograph that is narrower than they are, as one with a caption.
    Without a photograph the background is empty and has the image's size. Without a size it is as
    large as the boxes need. Raises `InputError` for a photograph that cannot be read.
    """
    ground = _ground(photograph, size, boxes)
    most, longest = (0.5, _SMALL_SIDE) if small else (1.0, _LONGEST_SIDE)
    scale = min(most, longest / max(ground.size))
    width, height = (max(1, round(side * scale)) for side in ground.size)
    label_px = max(_LABEL_PX, round(label_share * height))
    font = ImageFont.load_default(size=label_px)
    wide = max(width, 480) if caption or roomy else width
    picture = Image.new("RGB", (wide, height + 34 if caption else height), _PAPER)
    picture.paste(ground.resize((width, height)), (0, 0))
    draw = ImageDraw.Draw(picture)
    for item in boxes:
        left, top, right, bottom = (edge * scale for edge in item.box)
        right, bottom = right + scale, bottom + scale
        if right < left or bottom < top or not np.isfinite(item.box).all():
            continue
        draw.rectangle([left, top, right, bottom], outline=item.colour, width=label_px // 5)
        above = bottom - 1.6 * label_px if item.at_foot else top
        if label_share:  # A large label would hide a small object, so it stands on its box.
            above = top - 1.5 * label_px
        rightmost = max(0, width - draw.textlength(item.label, font))
        corner = (min(max(left, 0), rightmost), min(max(above, 0), height - 1.3 * label_px))
        draw.rectangle(draw.textbbox(corner, item.label, font=font), fill=_PAPER)
        draw.text(corner, item.label, fill=item.colour, font=font)
    plain = ImageFont.load_default(size=_LABEL_PX)
    draw.text((8, height + 8), caption, fill=_INK, font=plain)
    picture.save(path, "PNG")


def _ground(
    photograph: Path | None, size: tuple[int, int] | None, boxes: Sequence[LabelledBox]
) -> Image.Image:
    """Return the photograph, or an empty background."""
    if photograph is not None:
        return open_image(photograph).convert("RGB")
    if size is None:
        edges = np.array([item.box for item in boxes], dtype=np.float64).reshape(-1, 4)
        edges = np.where(np.isfinite(edges), edges, 0.0)
        right, bottom = edges[:, [2, 3]].max(axis=0, initial=1.0) + 20
        size = (min(int(right), 4096), min(int(bottom), 4096))
    return Image.new("RGB", size, "#f4f4f4")


def _point(recall: float, precision: float) -> tuple[float, float]:
    return _LEFT + _SIDE * recall, _TOP + _SIDE * (1 - precision)


def _line(recall: Floats, precision: Floats) -> list[tuple[float, float]]:
    """Return the points of a curve in pixels, without repeated pixels."""
    place = np.round(_SIDE * np.stack([recall, precision])).astype(np.int64)
    moved = np.ones(len(recall), dtype=np.bool_)
    moved[1:-1] = (place[:, 1:-1] != place[:, :-2]).any(axis=0)
    points = [
        _point(*pair)
        for pair in zip(recall[moved].tolist(), precision[moved].tolist(), strict=True)
    ]
    return [_point(0.0, float(precision[0])), *points]
