# SPDX-License-Identifier: Apache-2.0
"""The report of a season as one page of HTML that stands alone: it loads nothing, runs no script.

Its charts are pictures inside the page. The template is `report.html`, beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from power.logs.fonts import drawing
from referee.core.conditions import Difference
from referee.core.marks import with_marks
from referee.core.text_cells import cut_to
from referee.extras.season.choices import BY_SCORE
from referee.extras.season.entrants import Entrant
from referee.extras.season.overview import overview_of
from referee.extras.season.rankings import ComparedRanking, SeasonEvent
from referee.extras.season.report_text import (
    bundle_lists,
    cells,
    missing_lines,
    nothing_ranked,
    number,
    overview_lines,
    pair_lines,
    season_marks,
    summary,
)
from referee.extras.season.rows import Row
from referee.service.event.chart_axes import linear_across
from referee.service.event.charts import COLOURS, PAPER, SHAPES, STYLE, Theme, svg_of
from referee.service.event.conditions import marked_name
from referee.service.setup.pages import page

_HEAD = ("new", "old", "", "team", "new value", "95 %", "old value", "possible ranks", "verdict")
_TEXT = ("team", "verdict")
_LISTED_MOST = 200

TEAMS_MOST = 30
"""The most teams of a chart, the best ones; the table has all."""

_LINE_IN, _FRAME_IN = 0.3, 1.3
# The room beside the values, as a share of the axis.
_MARGIN = 0.05
_PUBLISHED = "as published"


def report_page(
    name: str,
    by: str,
    events: Sequence[SeasonEvent],
    rows: Sequence[Row],
    progress: Callable[[int, int], None],
) -> str:
    """Return the page; `progress` gets the number of events that are drawn, and of all."""
    value = "score" if by == BY_SCORE else "mAP"
    sections = []
    for done, event in enumerate(events, start=1):
        sections.append(_section(done, event, value))
        progress(done, len(events))
    overview = overview_of(rows, events)
    return page(
        "extras/season/report.html",
        title=name,
        by=value,
        summary_lines=overview_lines(overview),
        nothing="" if events else nothing_ranked(overview),
        sections=sections,
        bundles=list(bundle_lists(events, rows)),
        head=_HEAD,
        text_columns=_TEXT,
        teams_most=TEAMS_MOST,
        # How the text's report says it.
        summary=summary,
        cells=cells,
        number=number,
    )


def _section(number: int, event: SeasonEvent, value: str) -> dict[str, object]:
    """Return what the page shows of an event: its charts, and a part for each set of rules."""
    ranked = any(one.new_rank is not None for part in event.rankings for one in part.entrants)
    return {
        "number": number,
        "event": event,
        "bump_chart": bump_chart(event, PAPER) if ranked else None,
        "parts": [_part(ranking, value) for ranking in event.rankings],
        "teams": max(len(ranking.entrants) for ranking in event.rankings),
    }


def _part(ranking: ComparedRanking, value: str) -> dict[str, object]:
    return {
        "ranking": ranking,
        "missing": list(missing_lines(ranking, _LISTED_MOST)),
        "interval_chart": interval_chart(ranking, value, PAPER),
        "turned": list(pair_lines(ranking, _LISTED_MOST, turned=True)),
        "neighbours": list(pair_lines(ranking, _LISTED_MOST, turned=False)),
    }


def bump_chart(event: SeasonEvent, theme: Theme) -> bytes:
    """Return the ranks of each team under the old rules and under each set of new ones, as SVG."""
    columns = [_PUBLISHED, *(ranking.rules.replace(" (", "\n(") for ranking in event.rankings)]
    ranks = {
        team: [_old_rank(event, team), *(_new_rank(ranking, team) for ranking in event.rankings)]
        for team in _best_teams(event.rankings[-1])
    }
    figure, axes = _figure(2.4 * len(columns) + 3.2, len(ranks), theme)
    marks = {one.team: one.differs for part in event.rankings for one in part.entrants}
    for place, (team, course) in enumerate(sorted(ranks.items())):
        _draw_course(axes, place, _plain(team, marks.get(team, ())), course, theme)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_xlim(-0.9, len(columns) - 0.1)
    deepest = max((rank for course in ranks.values() for rank in course if rank), default=1)
    axes.set_ylim(deepest + 0.6, 0.4)
    axes.set_yticks([])
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)
    return svg_of(figure, "Ranks under old and new rules")


def interval_chart(ranking: ComparedRanking, value: str, theme: Theme) -> bytes:
    """Return old and new values of the teams with their 95 % intervals as SVG, the best on top."""
    shown = [entrant for entrant in ranking.entrants if entrant.new is not None][:TEAMS_MOST]
    figure, axes = _figure(7.2, len(shown), theme)
    for place, entrant in enumerate(shown):
        _draw_values(axes, place, entrant, theme)
    axes.set_yticks(range(len(shown)), [_marked(entrant) for entrant in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    linear_across(axes, [x for entrant in shown for x in _drawn(entrant)], _MARGIN)
    axes.set_xlabel(f"{value}, new (filled) and as published (hollow)", color=theme.ink)
    axes.grid(True, axis="x", color=theme.line, lw=0.6)
    return svg_of(figure, "Values with 95 % intervals under old and new rules")


def _best_teams(ranking: ComparedRanking) -> list[str]:
    ranked = [one.team for one in ranking.entrants if one.new_rank is not None]
    return ranked[:TEAMS_MOST]


def _old_rank(event: SeasonEvent, team: str) -> int | None:
    entrants = (one for one in event.rankings[-1].entrants if one.team == team)
    return next((one.old_rank for one in entrants), None)


def _new_rank(ranking: ComparedRanking, team: str) -> int | None:
    return next((one.new_rank for one in ranking.entrants if one.team == team), None)


def _draw_course(
    axes: Axes, number: int, name: str, course: Sequence[int | None], theme: Theme
) -> None:
    """Draw a team's line from column to column; one that moves is thick."""
    points = [(x, rank) for x, rank in enumerate(course) if rank is not None]
    if not points:
        return
    moves = len({rank for _, rank in points}) > 1
    colour = COLOURS[number % len(COLOURS)]
    axes.plot(
        *zip(*points, strict=True),
        color=colour,
        marker=SHAPES[(number + number // len(COLOURS)) % len(SHAPES)],
        ms=9,
        lw=3.0 if moves else 1.2,
        mec=theme.ink,
        mew=0.7,
        alpha=1.0 if moves else 0.75,
    )
    (left, first), (right, last) = points[0], points[-1]
    weight = "bold" if moves else "normal"
    for x, rank, side in ((left, first, "right"), (right, last, "left")):
        shift = -0.1 if side == "right" else 0.1
        text = f"{rank}  {name}"
        axes.text(
            x + shift,
            rank,
            text,
            ha=side,
            va="center",
            fontsize=11,
            weight=weight,
            color=theme.ink,
        )


def _drawn(entrant: Entrant) -> list[float]:
    """Return all values of a team that the chart shows, with the ends of their intervals."""
    values = [
        entrant.new,
        entrant.old,
        *(entrant.new_interval or ()),
        *(entrant.old_interval or ()),
    ]
    return [value for value in values if value is not None]


def _draw_values(axes: Axes, place: int, entrant: Entrant, theme: Theme) -> None:
    for value, ends, shift, fill, colour in (
        (entrant.new, entrant.new_interval, -0.14, COLOURS[6], COLOURS[6]),
        (entrant.old, entrant.old_interval, 0.14, "none", theme.quiet),
    ):
        if ends is not None:
            axes.plot(ends, (place + shift, place + shift), color=colour, lw=2.0)
        if value is not None:
            axes.plot(value, place + shift, marker="o", ms=7, ls="", mfc=fill, mec=colour, mew=1.4)


def _marked(entrant: Entrant) -> str:
    """Return a team's name with the marks of its value, each in a line of a chart."""
    return with_marks(_plain(entrant.team, ()), season_marks(entrant))


def _plain(team: str, differs: Sequence[Difference]) -> str:
    """Return a name for a chart, marked; '$' would otherwise begin a formula."""
    return marked_name(cut_to(team, 24), differs).replace("$", r"\$")


def _figure(width_in: float, lines: int, theme: Theme) -> tuple[Figure, Axes]:
    with drawing(STYLE):
        figure = Figure(figsize=(width_in, _FRAME_IN + _LINE_IN * lines), layout="constrained")
        figure.patch.set(facecolor=theme.ground)
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
    axes.set_facecolor("none")
    axes.tick_params(which="both", colors=theme.ink)
    axes.set_axisbelow(True)
    return figure, axes
