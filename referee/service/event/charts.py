# SPDX-License-Identifier: Apache-2.0
"""The charts of the results, as figures 8 and 9 of the paper: mAP against energy and speed.

matplotlib draws them as SVG. Equal results give equal bytes: the picture has no date, and its
internal names come from its content.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from power.logs import fonts
from referee.core.marks import with_marks
from referee.core.text_cells import columns_of, cut_to, isolated
from referee.service.event.chart_axes import in_places, scale_across
from referee.service.event.chart_labels import LINES, NEAR, Box, free_place, mark_at
from referee.service.event.marks import counted_marks, short_marks
from referee.service.event.result_entry import ContestRanking, PastChampion, PublicEntry
from referee.service.results.score_text import NOTHING

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "referee",
    "font.size": 13.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
"""The style of charts that stand in a page: text stays text, and equal charts have equal bytes."""

# The colours of Okabe and Ito, which people with any colour vision tell apart. Shapes repeat the
# distinction for those who see none.
COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#f0e442", "#0072b2")
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
"""The marks that go with the colours."""

# So much of a name stands beside its point.
_NAME_COLUMNS = 21
# The room beside the points, as a share of the axis.
_MARGIN = 0.12
# With more points than this only the ranks are written; the table beside the chart has the names.
_NAMES_MOST = 10


Point = tuple[float, float, Sequence[str]]
"""x, mAP, and the labels of an entry: the first one for which there is room."""


@dataclass(frozen=True)
class Theme:
    """The colours of a chart; `ground` is None for a transparent one."""

    ink: str
    quiet: str
    line: str
    ground: str | None = None


DARK = Theme("#e8eef4", "#a3b0bd", "#3a4753")
"""For a projector in a dark room."""

PAPER = Theme("#15202b", "#505b66", "#c6ced6", "#ffffff")
"""For a page that may be printed."""

SIZE_IN = (7.2, 4.5)
"""The size of a ranking's chart in inches of 72 pixels; the page scales it."""

NARROW_IN = (4.5, 4.6)
"""The same on a phone, which shows it in about its own size."""


AGAINST_ENERGY = "Accuracy against energy: left and up is better."
"""The title of figure 8."""

AGAINST_SPEED = "Accuracy against speed: right and up is better."
"""The title of figure 9."""


@fonts.one_at_a_time
def energy_chart(ranking: ContestRanking, theme: Theme, size: tuple[float, float]) -> bytes:
    """Return `energy_figure` as SVG."""
    return svg_of(energy_figure(ranking, theme, size), AGAINST_ENERGY)


@fonts.one_at_a_time
def speed_chart(ranking: ContestRanking, theme: Theme, size: tuple[float, float]) -> bytes:
    """Return `speed_figure` as SVG."""
    return svg_of(speed_figure(ranking, theme, size), AGAINST_SPEED)


def energy_figure(ranking: ContestRanking, theme: Theme, size: tuple[float, float]) -> Figure:
    """Draw mAP against watt-hours, with lines of equal score and past champions."""
    champions = [champion for champion in ranking.champions if champion.energy_wh > 0]
    points = _points(ranking.entries, lambda entry: entry.energy_wh)
    figure, axes = _figure(ranking, theme, size, "energy of the session (Wh)")
    _draw_points(axes, points, theme)
    for champion in champions:
        axes.plot(
            champion.energy_wh,
            champion.mean_ap,
            marker="*",
            ms=13,
            ls="",
            mfc="none",
            mec=theme.quiet,
        )
        _label(axes, champion.energy_wh, champion.mean_ap, str(champion.year), theme.quiet)
    _frame(axes, [y for _, y, _ in points] + [champion.mean_ap for champion in champions])
    energies = [x for x, _, _ in points] + [champion.energy_wh for champion in champions]
    scale_across(axes, energies, _MARGIN)
    taken = _name_points(axes, points, theme)
    _equal_scores(axes, [one.score for one in ranking.entries], theme, taken)
    return figure


def speed_figure(ranking: ContestRanking, theme: Theme, size: tuple[float, float]) -> Figure:
    """Draw mAP against reported boxes a second; past champions are lines of their mAP."""
    points = _points(ranking.entries, lambda entry: entry.objects_per_s)
    figure, axes = _figure(ranking, theme, size, "objects reported a second")
    _draw_points(axes, points, theme)
    _frame(axes, [y for _, y, _ in points] + [champion.mean_ap for champion in ranking.champions])
    scale_across(axes, [x for x, _, _ in points], _MARGIN)
    _name_points(axes, points, theme)
    _champion_lines(axes, ranking.champions, theme)
    return figure


def _champion_lines(axes: Axes, champions: Sequence[PastChampion], theme: Theme) -> None:
    """Draw the past champions' accuracies; years that would meet stand side by side."""
    before, shift = math.inf, -2.0
    height = 72.0 * axes.bbox.height / _figure_of(axes).dpi
    bottom, top = axes.get_ylim()
    for champion in sorted(champions, key=lambda one: -one.mean_ap):
        axes.axhline(champion.mean_ap, color=theme.quiet, lw=0.8, ls=(0, (5, 4)), zorder=0)
        up = height * (champion.mean_ap - bottom) / (top - bottom)
        shift = shift - 34.0 if before - up < 12.0 else -2.0
        before = up
        axes.annotate(
            str(champion.year),
            (1.0, champion.mean_ap),
            xycoords=("axes fraction", "data"),
            xytext=(shift, 2),
            textcoords="offset points",
            ha="right",
            fontsize=10,
            color=theme.quiet,
        )


def _points(
    entries: Sequence[PublicEntry], value: Callable[[PublicEntry], float | None]
) -> list[Point]:
    """Return x, mAP and label of the entries that have both; an accuracy of 0 is one of them.

    An INVALID energy is no energy, and a team that has withdrawn is not compared.
    """
    shown = [
        (x, entry.mean_ap, entry)
        for entry in entries
        for x in [value(entry)]
        if x is not None
        and entry.mean_ap is not None
        and x >= 0
        and entry.verdict != "INVALID"
        and not entry.withdrawn
    ]
    across, up = in_places([x for x, _, _ in shown]), in_places([y for _, y, _ in shown])
    few = len(shown) <= _NAMES_MOST
    return [
        (x, y, _labels_of(one)[0 if few else 1 :])
        for x, y, (_, _, one) in zip(across, up, shown, strict=True)
    ]


def _labels_of(entry: PublicEntry) -> tuple[str, str]:
    """Return rank, name and marks, where a long name loses its middle alone; and the rank.

    A star at the rank stands for marks, which the chart's head counts.
    """
    rank, marks = f"{entry.rank or NOTHING}", short_marks(entry)
    text = f"{rank}  {isolated(cut_to(entry.team, _NAME_COLUMNS))}"
    return with_marks(text, marks), f"{rank}{'*' if marks else ''}"


def _figure(
    ranking: ContestRanking, theme: Theme, size: tuple[float, float], x_label: str
) -> tuple[Figure, Axes]:
    with fonts.drawing(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        figure.patch.set_alpha(0.0)
        if theme.ground is not None:
            figure.patch.set(alpha=1.0, facecolor=theme.ground)
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
    axes.set_facecolor("none")
    # A name may find no room, so the head has the marks in any case.
    compared = [entry for entry in ranking.entries if entry.rank is not None]
    axes.set_title(counted_marks(ranking, compared), loc="right", fontsize=10, color=theme.quiet)
    axes.set_xlabel(x_label, color=theme.ink)
    axes.set_ylabel(ranking.figures.accuracy.label, color=theme.ink)
    axes.tick_params(which="both", colors=theme.ink)
    axes.grid(True, color=theme.line, lw=0.6)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_color(theme.quiet)
    return figure, axes


def _draw_points(axes: Axes, points: Sequence[Point], theme: Theme) -> None:
    for number, (x, y, _) in enumerate(points):
        colour = COLOURS[number % len(COLOURS)]
        shape = SHAPES[(number + number // len(COLOURS)) % len(SHAPES)]
        axes.plot(x, y, marker=shape, ms=10, ls="", color=colour, mec=theme.ink, mew=0.8, zorder=3)


def _name_points(axes: Axes, points: Sequence[Point], theme: Theme) -> list[Box]:
    """Write the names where no other name is, and return what they and the points have taken.

    Call it when the axes have their limits.
    """
    with fonts.drawing(STYLE):
        _figure_of(axes).draw_without_rendering()  # Until then nobody knows where the points are.
    spots = [_spot(axes, x, y) for x, y, _ in points]
    taken = [mark_at(across, up) for across, up in spots]
    for (x, y, labels), spot in zip(points, spots, strict=True):
        for label in labels:
            lines: Sequence[int] = NEAR if label == labels[-1] else LINES
            place = free_place(spot, columns_of(label), lines, taken, _page(axes))
            if place is not None:
                taken.append(place[1])
                _label(axes, x, y, label, theme.ink, place[0])
                break
    return taken


def _figure_of(axes: Axes) -> Figure:
    return cast(Figure, axes.get_figure(root=True))


def _page(axes: Axes) -> Box:
    """Return the room for names: the page, but for the numbers left of the axes and below them."""
    figure = _figure_of(axes)
    width, height = figure.get_size_inches()
    left, bottom = (float(edge) * 72.0 / figure.dpi for edge in axes.get_window_extent().min)
    return (left, bottom, 72.0 * width, 72.0 * height)


def _spot(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the axes is on the page, in points."""
    across, up = axes.transData.transform((x, y)) * 72.0 / _figure_of(axes).dpi
    return float(across), float(up)


def _label(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    colour: str,
    shift: tuple[float, float] = (8.0, 5.0),
) -> None:
    # A name may contain '$', which would otherwise begin a formula.
    label = axes.annotate(
        text.replace("$", r"\$"),
        (x, y),
        xytext=shift,
        ha="right" if shift[0] < 0 else "left",
        textcoords="offset points",
        color=colour,
        fontsize=11,
    )
    # A long name must not make the axes smaller.
    label.set_in_layout(False)


def _frame(axes: Axes, heights: Sequence[float]) -> None:
    """Let mAP begin at 0, and leave room for labels on the right."""
    top = max([*heights, 0.0])
    axes.set_ylim(-0.02 * (top or 1.0), 1.12 * (top or 1.0))


def _equal_scores(
    axes: Axes, scores: Sequence[float | None], theme: Theme, taken: Sequence[Box]
) -> None:
    """Draw the line of all accuracies and energies that give the best score."""
    best = max((score for score in scores if score is not None), default=0.0)
    if best <= 0:
        return
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    low = max(left, 1e-9)
    steps = [low + (min(right, top / best) - low) * step / 100 for step in range(101)]
    inside = [x for x in steps if low <= x <= right]
    axes.plot(inside, [best * x for x in inside], color=theme.quiet, lw=1, ls=":", zorder=1)
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    if not inside:
        return
    text = "equal to the best score"
    end = (inside[-1], best * inside[-1])
    place = free_place(_spot(axes, *end), len(text), (-2, -3, -4, -5, -6), taken, _page(axes))
    if place is not None:
        _label(axes, *end, text, theme.quiet, place[0])


def svg_of(figure: Figure, title: str) -> bytes:
    """Return a figure as SVG without a date; `title` is for those who do not see it."""
    return fonts.svg_of(figure, style=STYLE, title=title)
