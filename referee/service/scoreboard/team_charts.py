# SPDX-License-Identifier: Apache-2.0
"""The charts of a team's session: its power and its requests, and a curve for each class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from numpy.typing import NDArray

from power.logs.fonts import drawing, one_at_a_time
from referee.core.text_cells import cut_to, isolated
from referee.service.event.charts import Theme, svg_of

Floats = NDArray[np.float64]

_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "referee", "font.size": 12.0}
_POWER, _REQUESTS, _CURVE = "#e69f00", "#56b4e9", "#56b4e9"
_COLUMNS_MOST = 10
_CELL_IN = 1.25
_COURSE_IN, _NARROW_COURSE_IN = (12.0, 3.6), (4.7, 3.4)
_NARROW_COLUMNS = 3
_CELL_TEXT, _NARROW_CELL_TEXT = 8.0, 10.0
EXTREMES = 8
"""So many of the best classes, and of the worst ones, are shown at first."""


@dataclass(frozen=True)
class ClassCurve:
    """A class's envelope of precision over recall, both in 0..1, and its AP."""

    name: str
    average_precision: float
    recall: Sequence[float]
    precision: Sequence[float]


@dataclass(frozen=True)
class SessionCourse:
    """A session's course: power (second, watts) and requests (first second of a bin, a second)."""

    ran_s: float
    power: Sequence[tuple[float, float | None]]
    requests: Sequence[tuple[float, float]]
    bin_s: float


@one_at_a_time
def course_chart(course: SessionCourse, theme: Theme, *, narrow: bool = False) -> bytes:
    """Return power and requests over the session's seconds; a gap breaks the line of the power.

    A `narrow` chart is read on a phone, whose width it has.
    """
    with drawing(_STYLE):
        figsize = _NARROW_COURSE_IN if narrow else _COURSE_IN
        figure = Figure(figsize=figsize, layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0.0)
        requests = figure.subplots()
        power = requests.twinx()
    starts = [second for second, _ in course.requests]
    rates = [rate for _, rate in course.requests]
    requests.bar(starts, rates, width=course.bin_s, align="edge", color=_REQUESTS, alpha=0.45, lw=0)
    seconds = [second for second, _ in course.power]
    watts = [math.nan if power_w is None else power_w for _, power_w in course.power]
    power.plot(seconds, watts, color=_POWER, lw=1.6)
    requests.set_xlabel("second of the session", color=theme.ink)
    requests.set_xlim(0, max(course.ran_s, 1e-3))
    for axes, label, colour in ((power, "watts", _POWER), (requests, "requests / s", _REQUESTS)):
        dressed(axes, theme)
        axes.set_ylim(bottom=0, top=None if axes.dataLim.y1 > 0 else 1.0)
        axes.set_ylabel(label, color=colour)
    requests.yaxis.tick_right()
    requests.yaxis.set_label_position("right")
    power.yaxis.tick_left()
    power.yaxis.set_label_position("left")
    requests.grid(False, axis="y")
    return svg_of(figure, "Power and requests over time")


@one_at_a_time
def curves_chart(curves: Sequence[ClassCurve], theme: Theme, *, narrow: bool = False) -> bytes:
    """Return a small precision-recall curve for each class, with its AP, the best class first."""
    return _cells_chart(ordered_by_ap(curves), theme, narrow=narrow)


@one_at_a_time
def extremes_chart(curves: Sequence[ClassCurve], theme: Theme, *, narrow: bool = False) -> bytes:
    """Return the curves of the best classes, and below them those of the worst ones."""
    ordered = ordered_by_ap(curves)
    if len(ordered) > 2 * EXTREMES:
        ordered = [*ordered[:EXTREMES], *ordered[-EXTREMES:]]
    return _cells_chart(ordered, theme, EXTREMES, narrow=narrow)


def ordered_by_ap(curves: Sequence[ClassCurve]) -> list[ClassCurve]:
    """Return the curves, the best class first; of equal ones that with the first name."""
    return sorted(curves, key=lambda one: (-one.average_precision, one.name))


def _cells_chart(
    ordered: Sequence[ClassCurve], theme: Theme, columns: int = 0, *, narrow: bool
) -> bytes:
    columns = columns or max(4, min(_COLUMNS_MOST, math.ceil(math.sqrt(2 * len(ordered)))))
    if narrow:
        columns = _NARROW_COLUMNS
    rows = max(1, math.ceil(len(ordered) / columns))
    with drawing(_STYLE):
        figure = Figure(figsize=(columns * _CELL_IN, rows * _CELL_IN))
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0.0)
        axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, columns)
    axes.set_ylim(-rows, 0)
    for place, curve in enumerate(ordered):
        corner = (place % columns, -(place // columns) - 1)
        _draw_cell(axes, corner, curve, theme, _NARROW_CELL_TEXT if narrow else _CELL_TEXT)
    return svg_of(figure, "Precision over recall for each class")


def _draw_cell(
    axes: Axes, corner: tuple[float, float], curve: ClassCurve, theme: Theme, text_pt: float
) -> None:
    """Draw one class in a cell of side 1: recall to the right, precision upwards, both 0 to 1."""
    x0, y0, side = corner[0] + 0.08, corner[1] + 0.06, 0.7
    axes.plot(
        [x0, x0, x0 + side, x0 + side, x0],
        [y0 + side, y0, y0, y0 + side, y0 + side],
        color=theme.line,
        lw=0.7,
    )
    axes.fill_between(
        [x0 + side * x for x in curve.recall],
        [y0 + side * y for y in curve.precision],
        y0,
        color=_CURVE,
        alpha=0.25,
        lw=0,
    )
    axes.plot(
        [x0 + side * x for x in curve.recall],
        [y0 + side * y for y in curve.precision],
        color=_CURVE,
        lw=1.3,
    )
    name = isolated(cut_to(curve.name, 12 if text_pt == _CELL_TEXT else 9))
    text = f"{name} {curve.average_precision:.2f}".replace("$", r"\$")
    axes.text(x0, y0 + side + 0.05, text, color=theme.ink, fontsize=text_pt, va="bottom")


def dressed(axes: Axes, theme: Theme) -> None:
    """Give axes the look of a session's charts."""
    axes.set_facecolor("none")
    axes.tick_params(colors=theme.ink)
    axes.grid(True, color=theme.line, lw=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.quiet)
