# SPDX-License-Identifier: Apache-2.0
"""The report as one page of HTML that stands alone: it loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.errors import MissingLibrary, needing
from referee.extras.coach.report import Report
from referee.extras.coach.wording import PHASES, joules
from referee.service.setup.pages import page


@dataclass(frozen=True)
class Chart:
    """A chart as SVG, for a screen and for a phone, and its words for those who do not see it."""

    text: str
    wide: bytes
    narrow: bytes


def report_page(reports: Sequence[Report], compared: Sequence[str] = ()) -> str:
    """Return the page of one session, or of two with what differs between them.

    The charts need matplotlib, which is in the extra `event`; without it the page says so.
    """
    return page(
        "extras/coach/coach.html",
        title=" and ".join(report.title for report in reports),
        sessions=[_shown(report) for report in reports],
        compared=compared,
    )


def _shown(report: Report) -> dict[str, object]:
    told = report.advice()
    try:
        chart, lacks = _chart(report), ""
    except MissingLibrary as error:  # A rehearsal of a plain install ends with its words.
        chart, lacks = None, str(error)
    return {
        "title": report.title,
        "headline": told.headline,
        "parts": {
            title: [line for line in lines if line != told.headline]
            for title, lines in told.parts.items()
        },
        "bars": _bars(report),
        "chart": chart,
        "lacks": lacks,
    }


def _bars(report: Report) -> list[dict[str, str | float]]:
    whole_wh = report.went.energy_wh
    return [
        {
            "phase": part.phase.value,
            "name": PHASES[part.phase],
            "percent": round(100 * max(0.0, part.energy_wh) / whole_wh, 1),
            "joules": joules(part.energy_wh),
        }
        for part in report.went.parts
    ]


def _chart(report: Report) -> Chart | None:
    """Return the chart for a screen and for a phone; None where there is only the end."""
    if report.best is None or len(report.best.moments) == 1:
        return None
    with needing("a chart", "matplotlib", "event"):
        from referee.extras.coach.chart import TITLE, moments_chart
        from referee.service.event.charts import PAPER

    wide, narrow = (moments_chart(report.best, PAPER, narrow=one) for one in (False, True))
    return Chart(TITLE, wide, narrow)
