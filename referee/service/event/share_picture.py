# SPDX-License-Identifier: Apache-2.0
"""The result as one picture of 1200x630 pixels, as messages and posts show it beside a link."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from power.logs.fonts import drawing, save_png
from referee.core.dates import day_text
from referee.core.marks import with_marks
from referee.core.text_cells import cut_to, isolated
from referee.errors import InputError
from referee.service.event.charts import COLOURS, DARK, STYLE, svg_of
from referee.service.event.columns import about_line, printed_entries
from referee.service.event.marks import short_marks
from referee.service.event.result_entry import ResultEntry, Results

# 1200x630 pixels at 96 dots an inch. An SVG has the same size in points.
_DOTS_PER_INCH = 96
_SIZE_IN = (1200 / _DOTS_PER_INCH, 630 / _DOTS_PER_INCH)
_ROWS_MOST = 5
_LINE_MOST, _NAME_LEAST, _NAME_MOST = 54, 12, 42
_GROUND, _BEST = "#11161b", "#ffd257"


def save_picture(results: Results, path: Path) -> str | None:
    """Write the picture, as SVG or PNG by the file's name.

    Returns a remark on letters that no font of this machine has. Raises `InputError` for another
    kind of file, and OSError for one that cannot be written.
    """
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise InputError(f"{path}: the picture is an SVG or a PNG, so name it .svg or .png.")
    figure = share_figure(results)
    if kind == ".png":
        return save_png(figure, path, _DOTS_PER_INCH)
    path.write_bytes(svg_of(figure, f"{results.contest}: results"))
    return None


def share_figure(results: Results) -> Figure:
    """Draw the best five teams: a bar of each score from 0, with its interval and its figures."""
    ranked = [entry for entry in results.entries if entry.rank is not None]
    cells = printed_entries(results.entries)[:_ROWS_MOST]
    with drawing(STYLE):
        figure = Figure(figsize=_SIZE_IN, facecolor=_GROUND)
        FigureCanvasSVG(figure)
        axes = figure.add_axes((0.045, 0.13, 0.91, 0.6))
    axes.set_axis_off()
    axes.set_ylim(_ROWS_MOST, 0)
    _write(figure, 0.885, isolated(cut_to(results.contest, 44)), 34, DARK.ink, weight="bold")
    _write(figure, 0.805, _state(results, len(ranked)), 17, DARK.quiet)
    _draw_rows(axes, list(zip(ranked[:_ROWS_MOST], cells, strict=False)), results)
    rule = f"{results.figures.score.label} = {results.figures.accuracy.label} / watt-hours"
    about = about_line(ranked[:_ROWS_MOST])
    said = f"{rule}, with its 95 % interval. {about}".removesuffix(". ")
    _write(figure, 0.055, said, 14, DARK.quiet)
    if not ranked:
        _write(figure, 0.5, "No team has a place yet.", 24, DARK.ink)
    return figure


def _state(results: Results, ranked: int) -> str:
    day = day_text(results.approved_utc or results.utc)
    teams = "one team" if ranked == 1 else f"{ranked} teams"
    return f"{'FINAL' if results.final else 'PROVISIONAL'} results, {day}, {teams}"


def _draw_rows(
    axes: Axes, rows: Sequence[tuple[ResultEntry, dict[str, str]]], results: Results
) -> None:
    """Draw the rows; the longest bar takes two thirds of the width, for the figures' sake."""
    ends = [max(entry.score or 0.0, entry.score_high or 0.0) for entry, _ in rows]
    axes.set_xlim(0, 1.5 * (max(ends, default=0.0) or 1.0))
    for place, (entry, cells) in enumerate(rows):
        colour = _BEST if entry.rank == 1 else COLOURS[0]
        score, middle = entry.score or 0.0, place + 0.68
        axes.barh(middle, score, height=0.3, color=colour, lw=0)
        if entry.score_low is not None and entry.score_high is not None:
            axes.plot((entry.score_low, entry.score_high), (middle, middle), color=DARK.ink, lw=2.2)
        name = _name_with_marks(entry)
        axes.text(
            0,
            place + 0.42,
            f"{cells['rank']}   {name}",
            color=DARK.ink,
            fontsize=19,
            weight="bold",
            parse_math=False,
        )
        more = f"{cells['mean_ap']} {results.figures.accuracy.label},  {cells['energy_wh']} Wh"
        right = axes.get_xlim()[1]
        for text, up, size, ink in (
            (cells["score"], 0.5, 24, colour),
            (more, 0.83, 13, DARK.quiet),
        ):
            axes.text(right, place + up, text, color=ink, fontsize=size, ha="right", weight="bold")


def _name_with_marks(entry: ResultEntry) -> str:
    """Return a name with its marks; a long name loses its end, and no mark."""
    marks = short_marks(entry)
    room = _LINE_MOST - len(with_marks("", marks))
    return with_marks(isolated(cut_to(entry.team, max(_NAME_LEAST, min(_NAME_MOST, room)))), marks)


def _write(
    figure: Figure, up: float, text: str, size: float, colour: str, weight: str = "normal"
) -> None:
    figure.text(0.045, up, text, fontsize=size, color=colour, weight=weight, parse_math=False)
