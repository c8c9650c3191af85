# SPDX-License-Identifier: Apache-2.0
"""The joint board as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.core.text_cells import isolated
from referee.service.event.columns import On, columns_on, head_of, printed_entries
from referee.service.event.results_table import aligned
from referee.service.scoreboard.view import PublicView


def board_text(view: PublicView, standings: Sequence[Mapping[str, str]]) -> str:
    """Return the ranking, and how each station stands; see `joint_view` and `BoardFiles`."""
    columns = columns_on(On.JOINT, view.entries)
    rows = [[head_of(column, view.figures) for column in columns]]
    for entry, printed in zip(view.entries, printed_entries(view.entries), strict=True):
        word = f" ({entry.word})" if entry.word else ""
        cells = printed | {"team": isolated(entry.team) + word}
        rows.append([cells[column.field] for column in columns])
    lines = [f"{isolated(view.contest)}: {view.state.value}", "", *aligned(rows, columns)]
    if not view.entries:
        lines.append("No station has told of a team yet.")
    text_of = {station["name"]: station["text"] for station in standings}
    lines += ["", "Stations:"]
    for station in view.stations or ():
        words = [station.fault, text_of.get(station.name, station.contest), station.remark]
        words += ["frozen"] if station.frozen else []
        words += ["final"] if station.final else []
        lines.append(f"  {isolated(station.name)}: {'; '.join(word for word in words if word)}")
    return "\n".join(lines)
