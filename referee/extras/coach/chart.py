# SPDX-License-Identifier: Apache-2.0
"""The chart of the score that a session had had if it had ended at a moment."""

from __future__ import annotations

from typing import Any

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from power.logs.fonts import drawing, one_at_a_time
from referee.extras.coach.rules.best_moment import BestMoment
from referee.service.event.charts import Theme, svg_of
from referee.service.scoreboard.team_charts import dressed

_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "referee", "font.size": 12.0}
_SIZE_IN, _NARROW_IN = (12.0, 3.8), (4.6, 3.4)
# The highest score stands below the upper edge.
_ROOM = 1.08
_SCORE, _BEST = "#0072b2", "#d55e00"

TITLE = "The score by the moment of the logout"
"""What the chart shows, for those who do not see it."""


@one_at_a_time
def moments_chart(best: BestMoment, theme: Theme, *, narrow: bool = False) -> bytes:
    """Return the score over the moment of the logout, with the best and where it may lie.

    A `narrow` chart is read on a phone, whose width it has.
    """
    with drawing(_STYLE):
        figure = Figure(figsize=_NARROW_IN if narrow else _SIZE_IN, layout="constrained")
        FigureCanvasSVG(figure)
        if theme.ground is not None:
            figure.patch.set(alpha=1.0, facecolor=theme.ground)
        axes = figure.subplots()
    dressed(axes, theme)
    times = [one.at_s for one in best.moments]
    axes.axvspan(best.low.at_s, best.high.at_s, color=_BEST, alpha=0.15, lw=0)
    axes.plot(times, [one.score for one in best.moments], color=_SCORE, lw=1.8, marker=".")
    axes.plot(best.best.at_s, best.best.score, marker="o", ms=9, ls="", color=_BEST, clip_on=False)
    axes.set_xlim(0, best.moments[-1].at_s)
    axes.set_ylim(0, _ROOM * max(one.score for one in best.moments))
    axes.set_xlabel("second of the logout", color=theme.ink)
    axes.set_ylabel("mAP / Wh", color=theme.ink)
    axes.grid(True, color=theme.line, lw=0.6)
    return svg_of(figure, TITLE)
