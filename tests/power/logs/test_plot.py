# SPDX-License-Identifier: Apache-2.0
"""Drawing a log."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from power.logs.plot import HEIGHT, WIDTH, Line, draw, save_png, ticks, to_html, to_svg
from power.meter import Reading

Make = Callable[..., Reading]


@pytest.fixture
def readings(make_reading: Make) -> list[Reading]:
    """Return ten readings, one without a power."""
    rows = [make_reading(float(k), power_w=5.0 + k) for k in range(10)]
    rows[4] = make_reading(4.0, power_w=None, absent={"power_w": "no data"})
    return rows


def test_the_line_is_broken_where_power_is_missing(readings: list[Reading]) -> None:
    """Two curves of power, one of energy, and a red mark."""
    lines = [shape for shape in draw(readings, "t") if isinstance(shape, Line) and shape.width == 2]
    assert ["#c00000", "#1f5fa8", "#1f5fa8", "#b35900"] == [line.colour for line in lines]
    assert [4, 5, 10] == [len(line.points) for line in lines[1:]]


def test_everything_lies_within_the_picture(readings: list[Reading]) -> None:
    """No point is outside."""
    for shape in draw(readings, "t"):
        points = shape.points if isinstance(shape, Line) else ((shape.x, shape.y),)
        for x, y in points:
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT


def test_svg_is_well_formed_and_escaped(readings: list[Reading]) -> None:
    """Names with angle brackets do no harm."""
    root = ElementTree.fromstring(to_svg(draw(readings, "<b>&")))
    assert "<b>&" in {element.text for element in root.iter()}
    page = to_html(draw(readings, "<b>"), "<b>", ["<i>note"])
    assert "<b>" not in page
    assert "&lt;i&gt;note" in page


def test_png(readings: list[Reading], tmp_path: Path) -> None:
    """Pillow reads it back, and both curves' colours are in it."""
    save_png(draw(readings, "t"), tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert (WIDTH, HEIGHT) == image.size
        colours = {colour for _, colour in image.getcolors(1 << 20) or []}
    assert {(0x1F, 0x5F, 0xA8), (0xB3, 0x59, 0x00)} <= colours


@pytest.mark.parametrize("count", [0, 1])
def test_a_short_log_is_drawn(make_reading: Make, count: int) -> None:
    """No reading or one is no reason to fail."""
    assert "<svg" in to_svg(draw([make_reading(1.0)] * count, "t"))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 10, [0, 2, 4, 6, 8, 10]), (0, 0.9, [0, 0.2, 0.4, 0.6, 0.8]), (-3, 3, [-2, 0, 2])],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    """About five round numbers."""
    assert expected == pytest.approx(ticks(low, high))
