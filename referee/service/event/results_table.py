# SPDX-License-Identifier: Apache-2.0
"""The results as a table in the manner of the paper's table II: as text, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.core.spreadsheet import plain_cell

COLUMNS = (
    *("rank", "team", "organisation", "session", "mean_ap", "energy_wh", "score", "score_low"),
    *("score_high", "images", "attempts", "verdict", "emulated", "normalized_accuracy"),
    *("objects_per_s", "withdrawn"),
)
"""The columns of the CSV; numbers have all their digits."""

_HEADER = (
    *("rank", "team", "mAP", "Wh", "score", "interval", "images", "normalised", "attempts"),
    "verdict",
)
_SCORE_LEAST, _SCORE_MOST = 5, 12
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


@dataclass(frozen=True)
class Row:
    """An entry as a table prints it; a missing figure is '–'."""

    rank: str
    team: str
    mean_ap: str
    energy: str
    score: str
    interval: str
    images: str
    normalised: str
    attempts: str
    verdict: str
    note: str


def decimals_apart(values: Sequence[float]) -> int:
    """Return so many decimals that different values print differently, from 5 to 12."""
    different = set(values)
    for decimals in range(_SCORE_LEAST, _SCORE_MOST):
        if len({f"{value:.{decimals}f}" for value in different}) == len(different):
            return decimals
    return _SCORE_MOST


def table_rows(results: dict[str, Any]) -> list[Row]:
    """Return the entries of results (see `read_results`) as printed rows, the best first."""
    entries = results["entries"]
    decimals = decimals_apart([one["score"] for one in entries if one["score"] is not None])
    return [_row(entry, decimals) for entry in entries]


def state_line(results: dict[str, Any]) -> str:
    """Return in one line whether the results are final, and who approved them."""
    if not results["final"]:
        count = len(results["open"])
        points = {0: "Nothing is open", 1: "One point is open"}.get(
            count, f"{count} points are open"
        )
        return f"PROVISIONAL, as of {results['utc']}. {points}."
    return f"FINAL, approved by {', '.join(results['approved_by'])} at {results['approved_utc']}."


def results_text(results: dict[str, Any]) -> str:
    """Return ranking, prizes, past champions and open points as lines of text."""
    lines = [f"{results['contest']}: {state_line(results)}", ""]
    lines += _aligned([_HEADER, *(_cells(row) for row in table_rows(results))])
    for entry, row in zip(results["entries"], table_rows(results), strict=True):
        if row.note:
            lines.append(f"  {entry['team']}: {row.note}")
        # Results that an earlier version approved have no intervals.
        lines += [f"  {entry['team']}: {line}" for line in entry.get("intervals", [])]
    if results["prizes"]:
        lines += ["", *(prize_line(prize) for prize in results["prizes"])]
    if results["champions"]:
        lines += ["", *(champion_line(champion) for champion in results["champions"])]
    if results["open"]:
        lines += ["", "Open:", *(f"  {point}" for point in results["open"])]
    return "\n".join(lines)


def results_csv(results: dict[str, Any]) -> str:
    """Return the entries as CSV with a header; a missing figure is an empty field."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in results["entries"]:
        writer.writerow([plain_cell(entry[name]) for name in COLUMNS])
    return text.getvalue()


def results_latex(results: dict[str, Any]) -> str:
    """Return the ranking as a LaTeX table that needs no package."""
    body = [
        " & ".join(
            _latex(cell)
            for cell in (r.rank, r.team, r.mean_ap, r.energy, r.score, r.images, r.verdict)
        )
        + r" \\"
        for r in table_rows(results)
    ]
    caption = f"{results['contest']}: rankings and results. Energy is measured in watt-hour. "
    return "\n".join(
        [
            r"\begin{table}",
            r"\begin{tabular}{rlrrrrl}",
            r"Rank & Team & mAP & Energy & Score & \# Images & Verdict \\",
            r"\hline",
            *body,
            r"\end{tabular}",
            rf"\caption{{{_latex(caption + state_line(results))}}}",
            r"\end{table}",
            "",
        ]
    )


def prize_line(prize: dict[str, Any]) -> str:
    """Return a prize with its rule, its limit and its winners in one line."""
    winners = " and ".join(prize["winners"]) or "nobody"
    if not prize["rule"]:
        return f"{prize['prize']}: {winners}"
    limit = "needs two scores" if prize["limit"] is None else f"{prize['limit']:.6g}"
    return f"{prize['prize']}, {prize['rule']} ({limit}): {winners}"


def champion_line(champion: dict[str, Any]) -> str:
    """Return a past champion in one line."""
    return (
        f"champion of {champion['year']}: score {champion['score']:.5f} (mAP "
        f"{champion['mean_ap']:.5f}, {champion['energy_wh']:.4f} Wh)"
    )


def _row(entry: dict[str, Any], decimals: int) -> Row:
    low, high = entry["score_low"], entry["score_high"]
    ends = f"{_number(low, decimals)}…{_number(high, decimals)}"
    return Row(
        rank="–" if entry["rank"] is None else str(entry["rank"]),
        team=entry["team"],
        mean_ap=_number(entry["mean_ap"], 5),
        energy=_number(entry["energy_wh"], 4),
        score=_number(entry["score"], decimals),
        interval="–" if low is None else ends,
        images="–" if entry["images"] is None else str(entry["images"]),
        normalised=_percent(entry["normalized_accuracy"]),
        attempts=str(entry["attempts"]),
        verdict=f"{entry['verdict'] or '–'}{' EMULATED' if entry['emulated'] else ''}",
        note=_note(entry),
    )


def _note(entry: dict[str, Any]) -> str:
    notes = []
    if entry["withdrawn"]:
        notes.append("withdrawn")
    elif entry["turn"] == "on":
        notes.append("its session is armed or runs")
    elif entry["turn"] == "waiting":
        notes.append("has not run yet")
    elif entry["turn"] == "models only":
        notes.append("hands in models only")
    if entry["void_reasons"]:
        notes.append(f"void: {'; '.join(entry['void_reasons'])}")
    if entry["review"] is not None:
        notes.append(
            f"{entry['verdict']}, reviewed by {entry['review']['operator']}: "
            f"{entry['review']['reason']}"
        )
    elif entry["verdict"] not in (None, "VALID"):
        notes.append(f"{entry['verdict']}: {' '.join(entry['reasons'])}")
    if not entry["prizes"]:
        notes.append("declines prizes")
    return "; ".join(notes)


def _cells(row: Row) -> tuple[str, ...]:
    return tuple(vars(row).values())[: len(_HEADER)]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines; names and verdicts stand left, numbers right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = {_HEADER.index("team"), _HEADER.index("verdict")}
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _number(value: float | None, decimals: int) -> str:
    return "–" if value is None else f"{value:.{decimals}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
