# SPDX-License-Identifier: Apache-2.0
"""The report of a season as one page of HTML that stands alone: it loads nothing, runs no script.

Its charts are pictures inside the page. The template is `report.html`, beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from referee.extras.season.overview import overview_of
from referee.extras.season.rankings import BY_SCORE, ComparedRanking, SeasonEvent
from referee.extras.season.report_charts import TEAMS_MOST, bump_chart, interval_chart
from referee.extras.season.report_text import (
    bundle_lists,
    cells,
    missing_lines,
    nothing_ranked,
    number,
    overview_lines,
    pair_lines,
    summary,
)
from referee.extras.season.rows import Row
from referee.service.event.charts import PAPER
from referee.service.setup.pages import page

_HEAD = ("new", "old", "", "team", "new value", "95 %", "old value", "possible ranks", "verdict")
_TEXT = ("team", "verdict")
_LISTED_MOST = 200


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


def _section(number: int, event: SeasonEvent, value: str) -> dict[str, Any]:
    """Return what the page shows of an event: its charts, and a part for each set of rules."""
    ranked = any(one.new_rank is not None for part in event.rankings for one in part.entrants)
    return {
        "number": number,
        "event": event,
        "bump_chart": bump_chart(event, PAPER) if ranked else None,
        "parts": [_part(ranking, value) for ranking in event.rankings],
        "teams": max(len(ranking.entrants) for ranking in event.rankings),
    }


def _part(ranking: ComparedRanking, value: str) -> dict[str, Any]:
    return {
        "ranking": ranking,
        "missing": list(missing_lines(ranking, _LISTED_MOST)),
        "interval_chart": interval_chart(ranking, value, PAPER),
        "turned": list(pair_lines(ranking, _LISTED_MOST, turned=True)),
        "neighbours": list(pair_lines(ranking, _LISTED_MOST, turned=False)),
    }
