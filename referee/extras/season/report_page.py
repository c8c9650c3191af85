# SPDX-License-Identifier: Apache-2.0
"""The report of a season as one page of HTML that stands alone: it loads nothing, runs no script.

Its charts are pictures inside the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from referee.extras.season.overview import Overview, overview_of
from referee.extras.season.rankings import BY_SCORE, Event, Ranking
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
from referee.service.event.page_parts import picture, titled_list

_HEAD = ("new", "old", "", "team", "new value", "95 %", "old value", "possible ranks", "verdict")
_TEXT = ("team", "verdict")
_LISTED_MOST = 200


def report_page(
    name: str,
    by: str,
    events: Sequence[Event],
    rows: Sequence[Row],
    progress: Callable[[int, int], None],
) -> str:
    """Return the page; `progress` gets the number of events that are drawn, and of all."""
    sections = []
    for done, event in enumerate(events, start=1):
        sections.append(_section(f"event{done}", event, "score" if by == BY_SCORE else "mAP"))
        progress(done, len(events))
    found = overview_of(rows, events)
    return _PAGE.format(
        title=escape(name),
        told=titled_list("Summary", overview_lines(found)),
        by="score" if by == BY_SCORE else "mAP",
        overview=_overview(events, found),
        sections="\n".join(sections),
        bundles="\n".join(titled_list(*one, "h4") for one in bundle_lists(events, rows)),
    )


def _overview(events: Sequence[Event], found: Overview) -> str:
    """Return the table of all events: which rankings change, and how far."""
    if not events:
        return f"<p>{nothing_ranked(found)}</p>"
    rows = [
        f'<tr><td class="text"><a href="#event{place}">{escape(event.title)}</a></td>'
        f'<td class="text">{escape(ranking.rules)}</td><td>{len(ranking.entrants)}</td>'
        f"<td>{ranking.turned} of {ranking.comparable}</td><td>{_tau(ranking)}</td>"
        f'<td class="text">{escape(summary(ranking).partition(". ")[2])}</td></tr>'
        for place, event in enumerate(events, start=1)
        for ranking in event.rankings
    ]
    heads = ("event", "new rules", "teams", "pairs that turn", "tau", "first place")
    left = ("event", "new rules", "first place")
    head = "".join(_th(one, one in left) for one in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _tau(ranking: Ranking) -> str:
    return escape(f"– ({ranking.tau_missing})") if ranking.tau is None else f"{ranking.tau:.3f}"


def _section(anchor: str, event: Event, value: str) -> str:
    parts = [
        f'<section id="{anchor}"><h2>{escape(event.title)}</h2>',
        f"<p>Track {escape(event.track)}, ground truth {escape(event.truth_sha256[:16])}.</p>",
    ]
    if any(one.new_rank is not None for ranking in event.rankings for one in ranking.entrants):
        parts.append(picture(bump_chart(event, PAPER), "Ranks under old and new rules"))
    for ranking in event.rankings:
        parts += [f"<h3>{escape(ranking.rules)}</h3>", f"<p>{escape(summary(ranking))}</p>"]
        parts.append(f"<p>As published: {escape(', '.join(ranking.old_rules) or 'no rules')}.</p>")
        missing = missing_lines(ranking, _LISTED_MOST)
        parts += [_table(ranking), titled_list("Missing values", missing, "h4")]
        parts += [picture(interval_chart(ranking, value, PAPER), "Intervals")]
        parts.append(
            titled_list("Pairs that turn", pair_lines(ranking, _LISTED_MOST, turned=True), "h4")
        )
        parts.append(
            titled_list("Neighbours", pair_lines(ranking, _LISTED_MOST, turned=False), "h4")
        )
    if max(len(ranking.entrants) for ranking in event.rankings) > TEAMS_MOST:
        parts.append(f"<p>The charts have the best {TEAMS_MOST} teams, the table all.</p>")
    return "\n".join([*parts, "</section>"])


def _table(ranking: Ranking) -> str:
    rows = []
    for one in ranking.entrants:
        row = "".join(
            f"<td{_kind(name)}>{escape(cell)}</td>"
            for name, cell in zip(_HEAD, cells(one), strict=True)
        )
        moved = ' class="moved"' if one.old_rank != one.new_rank else ""
        told = f"{one.file}, session {one.session}, {number(one.energy_wh)} Wh"
        rows.append(f'<tr{moved} title="{escape(told)}">{row}</tr>')
    head = "".join(_th(name, name in _TEXT) for name in _HEAD)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _th(text: str, left: bool) -> str:
    return f'<th scope="col"{_kind("team") if left else ""}>{escape(text)}</th>'


def _kind(name: str) -> str:
    return ' class="text"' if name in _TEXT else ""


_PAGE = """<!doctype html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: old and new rules</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 76rem; margin: 1.5rem auto; padding: 0 1rem;
  font: 16px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }}
table {{ width: 100%; border-collapse: collapse; }}
th, td {{ padding: 0.3rem 0.5rem; border-bottom: 1px solid #8885; text-align: right; }}
.text {{ text-align: left; overflow-wrap: anywhere; }}
.moved td {{ font-weight: 650; background: #e69f0022; }}
section {{ margin-top: 3rem; border-top: 2px solid; }}
img {{ max-width: 100%; margin: 1rem 0; border-radius: 0.4rem; }}
</style>
</head>
<body>
<h1>{title}: rankings under old and new rules</h1>
{told}
<p>Ranked by {by}. Intervals are of 95 %. That of a pair is of the difference on the images that
both teams saw. The possible ranks of a team follow from its differences to all others. A second
contest has as many other images of the same kind, and measures the energies again. A bundle is NOT
REPRODUCED if its own rules gave another mAP than it tells.</p>
{overview}
{sections}
{bundles}
</body>
</html>
"""
