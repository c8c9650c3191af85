# SPDX-License-Identifier: Apache-2.0
"""The results as one page of HTML that stands alone: it loads nothing and runs no script.

Its charts are pictures inside the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from referee.service.event.charts import PAPER, SIZE_IN, energy_chart, speed_chart
from referee.service.event.columns import (
    Column,
    On,
    columns_on,
    head_of,
    printed_entries,
    words_of,
)
from referee.service.event.page_parts import picture, titled_list
from referee.service.event.result_entry import ResultEntry, Results
from referee.service.event.results_table import (
    champion_line,
    doubts,
    notes,
    prize_line,
    state_line,
)


def results_page(results: Results) -> str:
    """Return the page: whether the results are final, ranking, prizes, champions and rules."""
    columns = columns_on(On.PAGE)
    printed = printed_entries(results.entries)
    rows = "\n".join(
        _row(columns, entry, cells) for entry, cells in zip(results.entries, printed, strict=True)
    )
    heads = "".join(
        f'<th scope="col"{_kind(it)}>{escape(head_of(it, results.figures))}</th>' for it in columns
    )
    said = [f"{head_of(it, results.figures)}: {words_of(it, results.figures)}" for it in columns]
    return _PAGE.format(
        title=escape(results.contest),
        kind="final" if results.final else "provisional",
        state=escape(state_line(results)),
        head=heads,
        rows=rows,
        charts=_charts(results),
        prizes=titled_list("Prizes", [prize_line(prize) for prize in results.prizes]),
        champions=titled_list("Past champions", [champion_line(it) for it in results.champions]),
        columns=titled_list("Columns", said),
        rules=titled_list("Rules", [results.session_rule, results.tie_rule]),
    )


def _kind(column: Column) -> str:
    return ' class="text"' if column.left else ""


def _row(columns: Sequence[Column], entry: ResultEntry, cells: Mapping[str, str]) -> str:
    small = {
        "team": [entry.organisation, "; ".join(notes(entry)), " · ".join(entry.intervals)],
        "verdict": doubts(entry),
    }
    made = [
        f"<td{_kind(it)}>{escape(cells[it.field])}{_small(small.get(it.field, []))}</td>"
        for it in columns
    ]
    return f"<tr>{''.join(made)}</tr>"


def _small(texts: Sequence[str]) -> str:
    return "".join(f"<small>{escape(text)}</small>" for text in texts if text)


def _charts(results: Results) -> str:
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
{columns}
{rules}
</body>
</html>
"""
