# SPDX-License-Identifier: Apache-2.0
"""The results in the manner of the paper's table II: as text, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from referee.core.counts import counted
from referee.core.dates import moment_text
from referee.core.spreadsheet import plain_cell
from referee.core.text_cells import isolated, lines_of, with_isolated_quotes
from referee.service.event.columns import (
    CSV_FIELDS,
    MARKS,
    Column,
    On,
    about_line,
    columns_json,
    columns_on,
    csv_value,
    head_of,
    printed_entries,
)
from referee.service.event.guest_standings import GuestTable
from referee.service.event.marks import all_marks
from referee.service.event.result_entry import PastChampion, ResultEntry, Results, WonPrize
from referee.service.results.score_text import score_text

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_TURNS = {
    "on": "its session is armed or runs",
    "waiting": "has not run yet",
    "models only": "hands in models only",
}


def state_line(results: Results) -> str:
    """Return in one line whether the results are final, and who approved them."""
    if not results.final:
        count = len(results.open)
        points = counted(count, "point is", "points are") if count else "Nothing is"
        return f"PROVISIONAL, as of {moment_text(results.utc)}. {points} open."
    approved = moment_text(results.approved_utc or "")
    return f"FINAL, approved by {', '.join(map(isolated, results.approved_by))} on {approved}."


def results_text(results: Results) -> str:
    """Return ranking, prizes, past champions and open points as lines of text."""
    columns, rows = columns_on(On.TEXT, results.entries), printed_entries(results.entries)
    heads = [head_of(column, results.figures) for column in columns]
    lines = [f"{isolated(results.contest)}: {state_line(results)}", ""]
    lines += aligned([heads, *([row[column.field] for column in columns] for row in rows)], columns)
    if line := about_line(results.entries):
        lines.append(f"  {line}")
    for entry in results.entries:
        if remarks := "; ".join([*notes(entry), *_of_verdict(entry)]):
            lines.append(f"  {isolated(entry.team)}: {remarks}")
        lines += [f"  {isolated(entry.team)}: {line}" for line in entry.intervals]
    if results.prizes:
        lines += ["", *(prize_line(prize) for prize in results.prizes)]
    if results.champions:
        lines += ["", *(champion_line(champion) for champion in results.champions)]
    for table in guest_tables(results):
        lines += ["", *_guest_lines(table)]
    if results.open:
        lines += ["", "Open:", *(f"  {with_isolated_quotes(point)}" for point in results.open)]
    return "\n".join(lines)


def results_csv(results: Results) -> str:
    """Return the entries as CSV with all digits and a header; a missing figure is empty.

    The tables of guests follow, each after an empty line and with its own header.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_FIELDS)
    for entry in results.entries:
        writer.writerow([plain_cell(_csv_cell(results, entry, name)) for name in CSV_FIELDS])
    for table in guest_tables(results):
        text.write("\n")
        writer.writerow(table.heads)
        writer.writerows([plain_cell(value) for value in row] for row in table.rows)
    return text.getvalue()


def _csv_cell(results: Results, entry: ResultEntry, name: str) -> Any:
    return "; ".join(all_marks(entry, results)) if name == MARKS else csv_value(entry, name)


def results_latex(results: Results) -> str:
    """Return the ranking as a LaTeX table that needs no package, and those of guests after it."""
    columns = columns_on(On.LATEX, results.entries)
    heads = [_title(head_of(column, results.figures)) for column in columns]
    rows = [[row[column.field] for column in columns] for row in printed_entries(results.entries)]
    sides = "".join("l" if column.left else "r" for column in columns)
    caption = f"{results.contest}: rankings and results. Energy is measured in watt-hour. "
    state = " ".join(filter(None, [state_line(results), about_line(results.entries)]))
    made = [_latex_table(sides, heads, rows, caption + state)]
    for table in guest_tables(results):
        said = " ".join([f"{results.contest}: {table.title}.", *table.notes, state])
        sides = "".join("r" if column.form else "l" for column in table.columns)
        made.append(_latex_table(sides, [*map(_title, table.heads)], table.printed(), said))
    return "\n".join(made)


def results_json(results: Results) -> dict[str, Any]:
    """Return the results ready for JSON, as programs read them; each entry has its marks."""
    fields: dict[str, Any] = msgspec.to_builtins(results)
    del fields["guests"]
    for told, entry in zip(fields["entries"], results.entries, strict=True):
        told[MARKS] = all_marks(entry, results)
    return fields | {name: dict(standings.told) for name, standings in results.guests.items()}


def guest_tables(results: Results) -> list[GuestTable]:
    """Return the tables of all guests."""
    return [table for standings in results.guests.values() for table in standings.tables]


def results_shown(results: Results) -> dict[str, Any]:
    """Return the results as the console's page shows them, ready for JSON.

    Beside `results_json` it has the columns, the cells of each entry and its remarks, and a line
    for each prize and each past champion.
    """
    shown_results, cells = results_json(results), printed_entries(results.entries)
    for shown, entry, printed in zip(shown_results["entries"], results.entries, cells, strict=True):
        shown |= {"printed": printed, "notes": notes(entry), "doubts": doubts(entry)}
    return shown_results | {
        "columns": columns_json(On.CONSOLE, results.figures, results.entries),
        "prizes": prize_lines(results),
        "champions": [champion_line(champion) for champion in results.champions],
    }


def prize_lines(results: Results) -> list[str]:
    """Return a line for each prize, those of guests too."""
    of_guests = [note for table in guest_tables(results) for note in table.notes]
    return [*map(prize_line, results.prizes), *of_guests]


def prize_line(prize: WonPrize) -> str:
    """Return a prize with its rule, its limit and its winners in one line."""
    winners = " and ".join(map(isolated, prize.winners)) or "nobody"
    if not prize.rule:
        return f"{prize.prize}: {winners}"
    limit = "needs two scores" if prize.limit is None else f"{prize.limit:.6g}"
    return f"{prize.prize}, {prize.rule} ({limit}): {winners}"


def champion_line(champion: PastChampion) -> str:
    """Return a past champion in one line."""
    return (
        f"champion of {champion.year}: score {score_text(champion.score)} (mAP "
        f"{champion.mean_ap:.5f}, {champion.energy_wh:.4f} Wh)"
    )


def notes(entry: ResultEntry) -> list[str]:
    """Return what is to be said of a team beside its figures."""
    texts = ["withdrawn"] if entry.withdrawn else [_TURNS.get(entry.turn, "")]
    if entry.void_reasons:
        texts.append(f"void: {'; '.join(entry.void_reasons)}")
    if not entry.prizes:
        texts.append("declines prizes")
    return [text for text in texts if text]


def doubts(entry: ResultEntry) -> list[str]:
    """Return why a verdict is not VALID, and who has reviewed the energy."""
    reasons = [] if entry.verdict in (None, "VALID") else list(entry.reasons)
    if entry.review is not None:
        reasons.append(f"reviewed by {entry.review.operator}: {entry.review.reason}")
    return reasons


def aligned(rows: Sequence[Sequence[str]], columns: Sequence[Column]) -> list[str]:
    """Return rows of cells as lines of text, the columns with words to the left."""
    return lines_of(rows, [column.left for column in columns])


def _guest_lines(table: GuestTable) -> list[str]:
    """Return a guest's table as lines of text, numbers to the right."""
    rows = [table.heads, *table.printed()]
    lines = lines_of(rows, [not column.form for column in table.columns])
    return [f"{table.title}:", *lines, *table.notes]


def _of_verdict(entry: ResultEntry) -> list[str]:
    reasons = doubts(entry)
    return [f"{entry.verdict}: {'; '.join(reasons)}"] if reasons else []


def _title(head: str) -> str:
    """Return a head with a capital; 'mAP' and 'Wh' have theirs."""
    return head.capitalize() if head.islower() else head


def latex_figure(file: str, caption: str) -> str:
    """Return a picture as a figure for LaTeX, which needs the package graphicx."""
    return "\n".join(
        [
            r"\begin{figure}",
            rf"\includegraphics[width=\linewidth]{{{file}}}",
            rf"\caption{{{_latex(caption)}}}",
            r"\end{figure}",
            "",
        ]
    )


def _latex_table(
    sides: str, heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str
) -> str:
    return "\n".join(
        [
            r"\begin{table}",
            rf"\begin{{tabular}}{{{sides}}}",
            _latex_row(heads),
            r"\hline",
            *map(_latex_row, rows),
            r"\end{tabular}",
            rf"\caption{{{_latex(caption)}}}",
            r"\end{table}",
            "",
        ]
    )


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
