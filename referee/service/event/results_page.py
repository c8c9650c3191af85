# SPDX-License-Identifier: Apache-2.0
"""The results as one page of HTML that stands alone: it loads nothing and runs no script.

Its charts are pictures inside the page.
"""

from __future__ import annotations

from html import escape
from typing import Any

from referee.service.event.charts import PAPER, SIZE_IN, energy_chart, speed_chart
from referee.service.event.page_parts import picture, titled_list
from referee.service.event.results_table import (
    Row,
    champion_line,
    prize_line,
    state_line,
    table_rows,
)

_HEAD = (
    "rank",
    "team",
    "mAP",
    "Wh",
    "score",
    "interval",
    "images",
    "normalised",
    "attempts",
    "verdict",
)
_TEXT = ("team", "verdict")


def results_page(results: dict[str, Any]) -> str:
    """Return the page: whether the results are final, ranking, prizes, champions and rules."""
    rows = "\n".join(
        _row(row, entry) for row, entry in zip(table_rows(results), results["entries"], strict=True)
    )
    prizes = [prize_line(prize) for prize in results["prizes"]]
    champions = [champion_line(champion) for champion in results["champions"]]
    rules = [
        f"Score: {results['figures']['score']['unit'] or results['figures']['score']['label']}. "
        "Energy in watt-hours of the whole session.",
        "Normalised: mAP x images of the set / images that the team fetched.",
        results["session_rule"],
        results["tie_rule"],
    ]
    return _PAGE.format(
        title=escape(results["contest"]),
        kind="final" if results["final"] else "provisional",
        state=escape(state_line(results)),
        head="".join(f'<th scope="col"{_kind(name)}>{escape(name)}</th>' for name in _HEAD),
        rows=rows,
        charts=_charts(results),
        prizes=titled_list("Prizes", prizes),
        champions=titled_list("Past champions", champions),
        rules=titled_list("Rules", rules),
    )


def _kind(name: str) -> str:
    return ' class="text"' if name in _TEXT else ""


def _row(row: Row, entry: dict[str, Any]) -> str:
    cells = (
        *(row.rank, row.team, row.mean_ap, row.energy, row.score),
        *(row.interval, row.images, row.normalised, row.attempts, row.verdict),
    )
    small = [entry["organisation"], row.note, " · ".join(entry.get("intervals", []))]
    said = "".join(f"<small>{escape(text)}</small>" for text in small if text)
    return (
        "<tr>"
        + "".join(
            f"<td{_kind(name)}>{escape(cell)}{said if name == 'team' else ''}</td>"
            for name, cell in zip(_HEAD, cells, strict=True)
        )
        + "</tr>"
    )


def _charts(results: dict[str, Any]) -> str:
    """Return both charts as pictures with a text for those who do not see them."""
    drawn = {
        "Accuracy against energy: left and up is better.": energy_chart(results, PAPER, SIZE_IN),
        "Accuracy against speed: right and up is better.": speed_chart(results, PAPER, SIZE_IN),
    }
    return "\n".join(picture(svg, text) for text, svg in drawn.items())


_PAGE = """<!doctype html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: results</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 84rem; margin: 1.5rem auto; padding: 0 1rem;
  font: 16px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }}
h1 {{ margin: 0; }}
table {{ width: 100%; border-collapse: collapse; }}
th, td {{ padding: 0.35rem 0.5rem; border-bottom: 1px solid #8885; text-align: right;
  vertical-align: top; }}
.text {{ text-align: left; overflow-wrap: anywhere; }}
small {{ display: block; opacity: 0.8; }}
.state {{ margin: 0.5rem 0 1.5rem; padding: 0.5rem 1rem; border: 2px solid; font-weight: 600; }}
.charts {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem;
  margin: 1.5rem 0; }}
.charts img {{ width: 100%; border-radius: 0.4rem; }}
.provisional {{ border-style: dashed; }}
</style>
</head>
<body>
<h1>{title}: results</h1>
<p class="state {kind}">{state}</p>
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
<div class="charts">
{charts}
</div>
{prizes}
{champions}
{rules}
</body>
</html>
"""
