# SPDX-License-Identifier: Apache-2.0
"""Draw a power log with matplotlib: power and energy over time, with the verdict.

Matplotlib is the optional dependency `plot`; it is imported only to draw.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from power.energy.duration import written
from power.energy.moments import likely_moment_s
from power.energy.phases import Mark
from power.energy.verdict import EnergyResult, Verdict
from power.logs.fonts import save_png, svg_of
from power.meter import MeterSettings, Reading
from power.readings import Columns, Numbers, Readings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES = (10.0, 6.4)
_DOTS_PER_INCH = 120
_POWER, _ENERGY, _HOLE = "tab:blue", "tab:orange", "tab:red"
_MARK = "dimgrey"
_VERDICT_COLOURS = {
    Verdict.VALID: "darkgreen",
    Verdict.SUSPECT: "saddlebrown",
    Verdict.INVALID: "firebrick",
}
# With at most this many readings each gets a dot; otherwise a short log would hardly be visible.
_DOTTED = 60
# A figure is some 1000 dots wide. Of more readings each bin shows its least and its greatest.
_MOST_BINS = 2000
# More texts of marks than this would cover each other, and a longer one would leave the plot.
_MOST_TEXTS = 60
_LONGEST_TEXT = 36


def figure_of(
    readings: Sequence[Reading],
    name: str,
    result: EnergyResult,
    marks: Sequence[Mark] = (),
    settings: MeterSettings | None = None,
) -> Figure:
    """Return a figure: power above, energy below, one time axis, the verdict in the title.

    Where a reading has no power, the curve has a gap and a red mark. Each of the `marks` is a line
    across both curves with its text. Times are those of the readings, in seconds. With the
    `settings` an energy stands at the moment to which it belongs. Raises ImportError without
    matplotlib.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    figure.suptitle(name, parse_math=False)
    above.set_title(headline(result), color=_VERDICT_COLOURS[result.verdict], parse_math=False)
    rows = Readings.of(readings).columns()
    times, powers = rows.numbers("monotonic_s"), rows.numbers("power_w")
    _curve(above, times, powers, _POWER, "power")
    holes = times[np.isnan(powers)]
    if len(holes):
        holes = holes[:: 1 + len(holes) // _MOST_BINS]
        above.plot(holes, np.zeros(len(holes)), "|", color=_HOLE, markersize=14, label="no value")
    if result.mean_power_w is not None:
        mean_w = written(result.mean_power_w, result.mean_power_uncertainty_w or 0.0, 4)
        label = f"mean {mean_w} W"
        above.axhline(result.mean_power_w, color=_POWER, linestyle="--", linewidth=1, label=label)
    _curve(below, _energy_times(rows, settings), rows.numbers("energy_wh"), _ENERGY, "energy")
    _draw_marks((above, below), marks)
    above.set_ylabel("power, W")
    below.set_ylabel("energy, Wh")
    below.set_xlabel("time since the start of the integration, s")
    # The legend goes outside, because the curves may be anywhere.
    figure.legend(handles=above.get_legend_handles_labels()[0], loc="outside lower center", ncols=3)
    return figure


def _energy_times(rows: Columns, settings: MeterSettings | None) -> Numbers:
    """Return the moments to which the energies belong; a reading comes some time after its own."""
    times, counted_s = rows.numbers("monotonic_s"), rows.numbers("integration_s")
    if settings is None or settings.sampling is not None:
        return times
    pairs = zip(times.tolist(), counted_s.tolist(), strict=True)
    update_s = settings.update_interval_s
    return np.array(
        [likely_moment_s(at, None if isnan(count) else count, update_s) for at, count in pairs]
    )


def headline(result: EnergyResult) -> str:
    """Return the energy with its uncertainty and verdict, in one line."""
    if result.energy_wh is None:
        return f"no energy, {result.verdict.value}"
    limit = "" if result.uncertainty_wh is None else f" ± {result.uncertainty_wh:.2g} Wh"
    return f"{result.energy_wh:.6g} Wh{limit}, {result.verdict.value}"


def save_figure(figure: Figure, path: Path) -> str | None:
    """Write a figure as .svg or .png, as the path's suffix says.

    Returns a remark if a PNG has letters that no font of this machine has.
    """
    if path.suffix.lower() != ".svg":
        return save_png(figure, path, _DOTS_PER_INCH)
    path.write_text(_svg(figure), encoding="utf-8")
    return None


def save_page(figure: Figure, path: Path, title: str, notes: Sequence[str]) -> None:
    """Write an HTML page with the figure and a line for each note; it needs no other file."""
    svg = _svg(figure)
    listed = "".join(f"<li>{html.escape(text)}</li>" for text in notes)
    path.write_text(
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title>\n"
        "<style>body{max-width:70em;margin:auto;font-family:sans-serif}svg{width:100%;height:auto}"
        f"</style>\n<body>{svg[svg.index('<svg') :]}<ul>{listed}</ul></body></html>\n",
        encoding="utf-8",
    )


def _curve(axes: Axes, times: Numbers, values: Numbers, colour: str, label: str) -> None:
    marker = "." if len(values) <= _DOTTED else ""
    kept = _kept(values)
    axes.plot(times[kept], values[kept], color=colour, linewidth=1.5, marker=marker, label=label)
    # The axis includes zero. Otherwise a nearly constant load would seem to vary.
    axes.set_ylim(bottom=float(np.nanmin(values, initial=0.0)))
    axes.margins(y=0.1)
    axes.grid(alpha=0.3)


def _draw_marks(plots: tuple[Axes, Axes], marks: Sequence[Mark]) -> None:
    """Draw a line at each mark, and its text in the first plot unless there is no room for all."""
    for axes in plots:
        for mark in marks:
            axes.axvline(mark.at_s, color=_MARK, linestyle=":", linewidth=1)
    for mark in marks if len(marks) <= _MOST_TEXTS else ():
        text = plots[0].annotate(
            shorten(mark.text, _LONGEST_TEXT, placeholder=" …"),
            (mark.at_s, 0.98),
            xycoords=("data", "axes fraction"),
            xytext=(-2, 0),
            textcoords="offset points",
            rotation="vertical",
            ha="right",
            va="top",
            fontsize="small",
            color=_MARK,
            parse_math=False,
        )
        text.set_in_layout(False)  # a text takes no room from the curves


def _kept(values: Numbers) -> NDArray[np.intp]:
    """Return the places of the values to draw: no peak is lost, and no gap is closed."""
    places = np.arange(len(values))
    if len(values) <= 4 * _MOST_BINS:
        return places
    kept: set[int] = {0, len(values) - 1}
    for part in np.array_split(places, _MOST_BINS):
        of_part = values[part]
        gaps = np.isnan(of_part)
        if gaps.any():
            kept.add(int(part[int(np.argmax(gaps))]))
        if not gaps.all():
            kept |= {int(part[int(np.nanargmin(of_part))]), int(part[int(np.nanargmax(of_part))])}
    return np.array(sorted(kept))


def _svg(figure: Figure) -> str:
    """Return the figure as SVG, the same at each run, with text as text and not as shapes."""
    return svg_of(figure, style={"svg.hashsalt": "power"}).decode()
