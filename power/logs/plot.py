# SPDX-License-Identifier: Apache-2.0
"""Draw a power log: power and energy over time, as SVG within HTML or as PNG."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from power.meter import Reading

WIDTH, HEIGHT = 1000, 620
_LEFT, _RIGHT, _TOP, _GAP, _BOTTOM = 80, 20, 50, 40, 50
_INK, _GRID, _POWER, _ENERGY, _HOLE = "#222222", "#dddddd", "#1f5fa8", "#b35900", "#c00000"


@dataclass(frozen=True)
class Line:
    """Hold a polyline in pixels."""

    points: tuple[tuple[float, float], ...]
    colour: str
    width: int = 1


@dataclass(frozen=True)
class Text:
    """Hold a text in pixels; `anchor` is start, middle or end."""

    x: float
    y: float
    content: str
    anchor: str = "start"
    colour: str = _INK


Shape = Line | Text


def draw(readings: Sequence[Reading], title: str) -> list[Shape]:
    """Return the shapes of a drawing: power above, energy below, one time axis.

    The power's line is broken where a reading lacks its power, and red marks stand there.
    """
    panel = (HEIGHT - _TOP - _GAP - _BOTTOM) / 2
    end_s = max((row.monotonic_s for row in readings), default=0.0)
    begin_s = min((row.monotonic_s for row in readings), default=0.0)
    span = (begin_s, end_s if end_s > begin_s else begin_s + 1.0)
    shapes: list[Shape] = [Text(_LEFT, 28, title)]
    powers = [row.power_w for row in readings]
    energies = [row.energy_wh for row in readings]
    times = [row.monotonic_s for row in readings]
    for values, label, top, colour in (
        (powers, "power, W", _TOP, _POWER),
        (energies, "energy, Wh", _TOP + panel + _GAP, _ENERGY),
    ):
        shapes += _panel(times, values, label, span, (top, top + panel), colour)
    shapes.append(Text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 10, "time, s", "middle"))
    return shapes


def _panel(
    times: Sequence[float],
    values: Sequence[float | None],
    label: str,
    span: tuple[float, float],
    edges: tuple[float, float],
    colour: str,
) -> list[Shape]:
    numbers = [value for value in values if value is not None]
    low, high = min([0.0, *numbers]), max([0.0, *numbers])
    if high == low:
        high = low + 1.0
    place_x = _scale(span, (_LEFT, WIDTH - _RIGHT))
    place_y = _scale((low, high), (edges[1], edges[0]))
    shapes: list[Shape] = [Text(_LEFT, edges[0] - 6, label, colour=colour)]
    for tick in ticks(low, high):
        y = place_y(tick)
        shapes.append(Line(((_LEFT, y), (WIDTH - _RIGHT, y)), _GRID))
        shapes.append(Text(_LEFT - 6, y + 4, f"{tick:g}", "end"))
    for tick in ticks(*span):
        x = place_x(tick)
        shapes.append(Line(((x, edges[0]), (x, edges[1])), _GRID))
        shapes.append(Text(x, edges[1] + 16, f"{tick:g}", "middle"))
    run: list[tuple[float, float]] = []
    for at_s, value in zip(times, values, strict=True):
        x = place_x(at_s)
        if value is None:
            shapes.append(Line(((x, edges[1]), (x, edges[1] - 8)), _HOLE, 2))
            shapes += _curve(run, colour)
            run = []
        else:
            run.append((x, place_y(value)))
    return shapes + _curve(run, colour)


def _curve(points: list[tuple[float, float]], colour: str) -> list[Shape]:
    if len(points) == 1:
        x, y = points[0]
        points = [(x - 1, y), (x + 1, y)]
    return [Line(tuple(points), colour, 2)] if points else []


def ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers within a span."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(choice * power for choice in (1, 2, 2.5, 5, 10) if choice * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _scale(source: tuple[float, float], target: tuple[float, float]) -> Callable[[float], float]:
    factor = (target[1] - target[0]) / (source[1] - source[0])
    return lambda value: target[0] + (value - source[0]) * factor


def to_svg(shapes: Sequence[Shape]) -> str:
    """Return the drawing as an SVG element."""
    parts = []
    for shape in shapes:
        if isinstance(shape, Line):
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{shape.colour}" '
                f'stroke-width="{shape.width}"/>'
            )
        else:
            parts.append(
                f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" text-anchor="{shape.anchor}" '
                f'fill="{shape.colour}">{html.escape(shape.content)}</text>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="13">{"".join(parts)}</svg>'
    )


def to_html(shapes: Sequence[Shape], title: str, notes: Sequence[str]) -> str:
    """Return a page with the drawing and a line for each note; it needs nothing from elsewhere."""
    listed = "".join(f"<li>{html.escape(text)}</li>" for text in notes)
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title>\n"
        f'<body style="max-width:70em;margin:auto;font-family:sans-serif">{to_svg(shapes)}'
        f"<ul>{listed}</ul></body></html>\n"
    )


def save_png(shapes: Sequence[Shape], path: Path) -> None:
    """Write the drawing as a PNG file, by Pillow."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    canvas = ImageDraw.Draw(image)
    anchors = {"start": "ls", "middle": "ms", "end": "rs"}
    for shape in shapes:
        if isinstance(shape, Line):
            canvas.line(shape.points, fill=shape.colour, width=shape.width)
        else:
            canvas.text(
                (shape.x, shape.y), shape.content, fill=shape.colour, anchor=anchors[shape.anchor]
            )
    image.save(path, format="PNG")
