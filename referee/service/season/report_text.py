# SPDX-License-Identifier: Apache-2.0
"""The report of a season as text, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from referee.service.season.rankings import Entrant, Event, Pair, Ranking
from referee.service.season.rows import BROKEN, Row

_OF_EVENT = ("event", "station", "track", "truth_sha256", "first_utc", "rules")
RANKING_COLUMNS = (*_OF_EVENT, *(one.name for one in fields(Entrant) if "interval" not in one.name))
"""The columns of the rankings' CSV before the ends of the intervals."""

NOTHING_SCORED = "The file has no bundle that was scored."
"""What stands in the place of the rankings if there is none."""

_ENDS = ("old_low", "old_high", "new_low", "new_high")
_HEADER = ("new", "old", "", "team", "new value", "95 %", "old value", "possible", "verdict")
_LEFT = ("team", "verdict")
_PRINTED_MOST = 20


def report_json(name: str, by: str, events: Sequence[Event], rows: Sequence[Row]) -> dict[str, Any]:
    """Return the report ready for JSON: `events` with their rankings, and the `broken` bundles."""
    return {
        "file": name,
        "by": by,
        "rows": len(rows),
        "broken": broken_bundles(rows),
        "events": [asdict(event) for event in events],
    }


def broken_bundles(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return file and reason of each bundle that could not be scored."""
    found = {(row["file"], row["reason"]) for row in rows if row["status"] == BROKEN}
    return [{"file": file, "reason": reason} for file, reason in sorted(found)]


def rankings_csv(events: Sequence[Event]) -> str:
    """Return a line for each team and set of rules, with all digits; a missing value is empty."""
    return _csv(
        (*RANKING_COLUMNS, *_ENDS),
        (
            [
                *_words(event, ranking),
                *(getattr(one, name) for name in RANKING_COLUMNS[len(_OF_EVENT) :]),
                *(one.old_interval or ("", "")),
                *(one.new_interval or ("", "")),
            ]
            for event in events
            for ranking in event.rankings
            for one in ranking.entrants
        ),
    )


def pairs_csv(events: Sequence[Event]) -> str:
    """Return a line for each turned pair and each pair of neighbours, with all digits."""
    names = [one.name for one in fields(Pair)]
    return _csv(
        (*_OF_EVENT, *names),
        (
            [*_words(event, ranking), *(getattr(pair, name) for name in names)]
            for event in events
            for ranking in event.rankings
            for pair in ranking.pairs
        ),
    )


def report_text(events: Sequence[Event], rows: Sequence[Row]) -> str:
    """Return rankings and turned pairs of each event as lines of text."""
    lines: list[str] = []
    for event in events:
        for ranking in event.rankings:
            lines += [f"{event.title}: {ranking.rules}", summary(ranking), ""]
            lines += _table(ranking)
            lines += [f"  {line}" for line in pair_lines(ranking, _PRINTED_MOST, turned=True)]
            lines.append("")
    broken = broken_bundles(rows)
    lines += [f"Bundles that could not be scored: {len(broken)}."] if broken else []
    lines += [f"  {one['file']}: {one['reason']}" for one in broken]
    text = "\n".join(map(_harmless, lines)).rstrip()
    return text or NOTHING_SCORED


def _harmless(line: str) -> str:
    """Return a line without what could harm a terminal: names come from strangers' bundles."""
    return "".join(it if it.isprintable() else "?" for it in line)


def summary(ranking: Ranking) -> str:
    """Return in a sentence or two how far the rankings differ."""
    tau = "" if ranking.tau is None else f" (Kendall's tau {ranking.tau:.3f})"
    told = f"{ranking.turned} of {ranking.comparable} pairs turn{tau}."
    first = [
        [one.team for one in ranking.entrants if getattr(one, name) == 1]
        for name in ("old_rank", "new_rank")
    ]
    before, now = (" and ".join(names) or "nobody" for names in first)
    return f"{told} First is {now}" + ("." if before == now else f", and was {before}.")


def pair_lines(ranking: Ranking, most: int, *, turned: bool) -> list[str]:
    """Return the first pairs that have turned, or the neighbours that have not, as sentences."""
    found = [pair for pair in ranking.pairs if pair.turned is turned]
    rest = len(found) - most
    return [*map(pair_line, found[:most]), *([f"and {rest} more: --csv pairs"] if rest > 0 else [])]


def pair_line(pair: Pair) -> str:
    """Return a pair in a sentence."""
    ahead = f"{pair.ahead} {'is now' if pair.turned else 'is'} ahead of {pair.behind}"
    if pair.low is None or pair.high is None or pair.turn_probability is None:
        return f"{ahead} by {number(pair.difference)}; how sure that is, the draws do not tell"
    return (
        f"{ahead} by {number(pair.difference)} ({number(pair.low)} … {number(pair.high)}); "
        f"a second contest turns it with {100 * pair.turn_probability:.0f} %"
    )


def number(value: float | None) -> str:
    """Return a value with five digits that count, or '–'."""
    return "–" if value is None else f"{value:.5g}"


def cells(one: Entrant) -> tuple[str, ...]:
    """Return a team's row of the table, as printed."""
    rise = 0 if one.old_rank is None or one.new_rank is None else one.old_rank - one.new_rank
    arrow = "" if rise == 0 else f"{'▲' if rise > 0 else '▼'}{abs(rise)}"
    ends = one.new_interval
    possible = "–" if one.best is None else f"{one.best}–{one.worst}"
    return (
        *("–" if one.new_rank is None else str(one.new_rank), _rank(one.old_rank), arrow),
        *(one.team, number(one.new)),
        "–" if ends is None else f"{number(ends[0])} … {number(ends[1])}",
        *(number(one.old), possible, one.verdict),
    )


def _rank(value: int | None) -> str:
    return "–" if value is None else str(value)


def _table(ranking: Ranking) -> list[str]:
    table = [_HEADER, *map(cells, ranking.entrants)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if name in _LEFT else cell.rjust(width)
            for cell, width, name in zip(row, widths, _HEADER, strict=True)
        ).rstrip()
        for row in table
    ]


def _words(event: Event, ranking: Ranking) -> tuple[str | None, ...]:
    return (
        *(event.name, event.station, event.track, event.truth_sha256, event.first_utc),
        ranking.rules,
    )


def _csv(header: Sequence[str], rows: Iterator[Sequence[object]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
