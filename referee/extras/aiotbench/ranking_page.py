# SPDX-License-Identifier: Apache-2.0
"""A ranking of devices as one page of HTML that loads nothing and runs no script."""

from __future__ import annotations

from referee.extras.aiotbench.ranking import Ranking
from referee.extras.aiotbench.ranking_forms import sentences_of, tables_of
from referee.extras.aiotbench.rules import RuleSet
from referee.service.setup.pages import page

# The share of the page's width that the best device's bar takes, in percent.
_LONGEST = 70


def ranking_page(ranking: Ranking, rules: RuleSet) -> str:
    """Return the page: a bar for each device, the tables, and what is to be said of them."""
    return page(
        "extras/aiotbench/ranking.html",
        title=f"{rules.name}: devices by the sum of {ranking.by.upper()}",
        bars=_bars(ranking),
        tables=tables_of(ranking, rules),
        said=list(sentences_of(ranking)),
    )


def _bars(ranking: Ranking) -> list[dict[str, str]]:
    """Return a bar for each ranked device, as long as its sum is of the best one's."""
    figures = {
        it.device: it.score.vips if ranking.by == "vips" else it.score.vops
        for it in ranking.devices
    }
    sums = {name: summary.sum for name, summary in figures.items() if summary is not None}
    best = max(sums.values(), default=0.0) or 1.0
    return [
        {"device": name, "width": f"{_LONGEST * value / best:.2f}", "sum": f"{value:.6g}"}
        for name, value in sums.items()
    ]
