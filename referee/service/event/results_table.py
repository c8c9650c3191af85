# SPDX-License-Identifier: Apache-2.0
"""The results in the manner of the paper's table II: as text, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from referee.core.counts import counted
from referee.core.dates import moment_text
from referee.core.text_cells import isolated, lines_of, with_isolated_quotes
from referee.errors import InputError
from referee.formats.tables import Table, csv_of
from referee.service.event.columns import (
    CSV_FIELDS,
    MARKS,
    Column,
    On,
    ShownColumn,
    about_line,
    columns_on,
    csv_value,
    head_of,
    printed_entries,
    shown_columns,
)
from referee.service.event.guest_standings import GuestTable
from referee.service.event.marks import all_marks, marked_winners
from referee.service.event.open_point import OpenPoint
from referee.service.event.result_entry import (
    PastChampion,
    PublicEntry,
    ResultEntry,
    Results,
    TrackFigures,
    WonPrize,
)
from referee.service.results.score_text import score_text

RANKING = "ranking"
"""The name of the ranking among the tables."""

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
    return final_line(results.approved_by, results.approved_utc or "")


def final_line(approved_by: Iterable[str], approved_utc: str) -> str:
    """Return who has made the results final, and when."""
    approved = moment_text(approved_utc)
    return f"FINAL, approved by {', '.join(map(isolated, approved_by))} on {approved}."


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
        lines += ["", *(prize_line(prize, results.entries) for prize in results.prizes)]
    if results.champions:
        lines += ["", *(champion_line(champion) for champion in results.champions)]
    for table in guest_tables(results):
        lines += ["", *_guest_lines(table)]
    if results.open:
        lines += ["", "Open:", *(f"  {with_isolated_quotes(point)}" for point in results.open)]
    return "\n".join(lines)


def results_csv(results: Results, name: str = RANKING) -> str:
    """Return one of the tables as CSV with all digits and a header; a missing figure is empty.

    Raises `InputError` if there is no table of this name.
    """
    tables = {table.name.casefold(): table for table in results_tables(results)}
    if name.casefold() not in tables:
        names = ", ".join(f"'{table.name}'" for table in tables.values())
        raise InputError(f"The results have no table '{name}'. They have {names}.")
    return csv_of(tables[name.casefold()])


def results_tables(results: Results) -> list[Table]:
    """Return the ranking and the tables of guests with typed values, each under its own name.

    The name of a guest's table is the beginning of its title, up to a comma.
    """
    entries = [[_value(results, entry, name) for name in CSV_FIELDS] for entry in results.entries]
    tables = [Table(RANKING, CSV_FIELDS, entries)]
    for table in guest_tables(results):
        title = table.title.partition(",")[0]
        same = sum(made.name.startswith(title) for made in tables)
        name = f"{title} {same + 1}" if same else title
        tables.append(Table(name, table.heads, table.rows))
    return tables


def _value(results: Results, entry: ResultEntry, name: str) -> object:
    return "; ".join(all_marks(entry, results)) if name == MARKS else csv_value(entry, name)


def results_json(results: Results) -> dict[str, object]:
    """Return the results ready for JSON, as programs read them; each entry has its marks."""
    fields: dict[str, Any] = msgspec.to_builtins(results)
    del fields["guests"]
    for row, entry in zip(fields["entries"], results.entries, strict=True):
        row[MARKS] = all_marks(entry, results)
    return fields | {name: dict(standings.told) for name, standings in results.guests.items()}


def guest_tables(results: Results) -> list[GuestTable]:
    """Return the tables of all guests."""
    return [table for standings in results.guests.values() for table in standings.tables]


class ShownResult(ResultEntry, frozen=True, kw_only=True):
    """An entry of the results with its marks, its cells and its remarks."""

    marks: Sequence[str]
    printed: Mapping[str, str]
    notes: Sequence[str]
    doubts: Sequence[str]


class ShownResults(Struct, frozen=True, kw_only=True):
    """The results as the console's page shows them: with columns and cells, and lines of text.

    It lacks the moment of the look, which would make each document a new one: the page would draw
    its buttons anew under the operator's hand.
    """

    contest: str
    track: str
    mode: str
    seconds: float | None
    images: int | None
    figures: TrackFigures
    final: bool
    approved_by: Sequence[str]
    approved_utc: str | None
    session_rule: str
    tie_rule: str
    open: Sequence[str]
    points: Sequence[OpenPoint]
    entries: Sequence[ShownResult]
    columns: Sequence[ShownColumn]
    prizes: Sequence[str]
    champions: Sequence[str]


def shown_results(results: Results) -> ShownResults:
    """Return the results as the console's page shows them."""
    printed = zip(results.entries, printed_entries(results.entries), strict=True)
    made = {
        "entries": [
            ShownResult(
                **asdict(entry),
                marks=all_marks(entry, results),
                printed=cells,
                notes=notes(entry),
                doubts=doubts(entry),
            )
            for entry, cells in printed
        ],
        "columns": shown_columns(On.CONSOLE, results.figures, results.entries),
        "prizes": prize_lines(results),
        "champions": [champion_line(champion) for champion in results.champions],
    }
    names = ShownResults.__struct_fields__
    same = {name: value for name, value in asdict(results).items() if name in names}
    return ShownResults(**(same | made))


def prize_lines(results: Results) -> list[str]:
    """Return a line for each prize, those of guests too."""
    of_guests = [note for table in guest_tables(results) for note in table.notes]
    return [*(prize_line(prize, results.entries) for prize in results.prizes), *of_guests]


def prize_line(prize: WonPrize, entries: Sequence[PublicEntry]) -> str:
    """Return a prize with its rule, its limit and its winners with their marks in one line."""
    winners = " and ".join(marked_winners(prize, entries)) or "nobody"
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
