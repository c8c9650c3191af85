# SPDX-License-Identifier: Apache-2.0
"""The results as one page of HTML that stands alone: it loads nothing and runs no script.

Its charts are pictures inside the page. The template is `results.html`, beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.service.event.charts import (
    AGAINST_ENERGY,
    AGAINST_SPEED,
    PAPER,
    SIZE_IN,
    energy_chart,
    speed_chart,
)
from referee.service.event.columns import On, printed_entries, shown_columns
from referee.service.event.result_entry import ResultEntry, Results
from referee.service.event.results_table import (
    champion_line,
    doubts,
    guest_tables,
    notes,
    prize_line,
    state_line,
)
from referee.service.setup.pages import page


def results_page(results: Results) -> str:
    """Return the page: whether the results are final, ranking, prizes, champions and rules."""
    columns = shown_columns(On.PAGE, results.figures, results.entries)
    printed = printed_entries(results.entries)
    return page(
        "service/event/results.html",
        title=results.contest,
        final=results.final,
        state=state_line(results),
        columns=columns,
        rows=[
            {"printed": cells, "below": _small_print(entry), "first": entry.rank == 1, "page": ""}
            for entry, cells in zip(results.entries, printed, strict=True)
        ],
        charts=[
            (AGAINST_ENERGY, energy_chart(results, PAPER, SIZE_IN)),
            (AGAINST_SPEED, speed_chart(results, PAPER, SIZE_IN)),
        ],
        prizes=[prize_line(prize, results.entries) for prize in results.prizes],
        champions=[champion_line(champion) for champion in results.champions],
        guests=guest_tables(results),
        intervals=[(entry.team, entry.intervals) for entry in results.entries if entry.intervals],
        column_words=[f"{column.head}: {column.words}" for column in columns],
        rules=[results.session_rule, results.tie_rule],
    )


def _small_print(entry: ResultEntry) -> dict[str, Sequence[str]]:
    """Return what stands below an entry's cells in small letters, by the column's field."""
    of_team = (entry.organisation, "; ".join(notes(entry)))
    return {"team": [text for text in of_team if text], "verdict": doubts(entry)}
