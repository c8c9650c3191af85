# SPDX-License-Identifier: Apache-2.0
"""The report of a season as text and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict

from referee.core.counts import counted
from referee.core.marks import NOT_ALIKE, energy_marks, verdict_words
from referee.core.text_cells import isolated, lines_of
from referee.extras.season.entrants import Entrant, Pair
from referee.extras.season.overview import (
    Overview,
    broken_bundles,
    left_out,
    not_alike,
    not_reproduced,
    not_told,
    overview_of,
)
from referee.extras.season.rankings import ComparedRanking, SeasonEvent
from referee.extras.season.rows import Row
from referee.formats.faults import harmless
from referee.service.event.conditions import difference_text, marked_name
from referee.service.results.interval_text import ends_text
from referee.service.results.score_text import score_text

NOTHING_SCORED = "The file has no bundle that was scored."
NO_SESSION_RANKS = "The file has no session that takes part in a ranking."

_HEADER = ("new", "old", "", "team", "new value", "95 %", "old value", "possible", "verdict")
_LEFT = ("team", "verdict")
_SHOWN = {
    **{"new": "new value", "new_interval": "interval", "old": "old value"},
    "best": "possible ranks",
}
"""What the table calls the fields that may be missing in it."""
_PRINTED_MOST = 20


def report_json(
    name: str, by: str, events: Sequence[SeasonEvent], rows: Sequence[Row]
) -> dict[str, object]:
    """Return the report ready for JSON: a summary, bundles to look at, and events with rankings."""
    return {
        "file": name,
        "by": by,
        "rows": len(rows),
        "summary": asdict(overview_of(rows, events)),
        "broken": broken_bundles(rows),
        "left_out": left_out(rows, events),
        "not_reproduced": not_reproduced(rows),
        "not_alike": not_alike(events),
        "not_told": not_told(events),
        "events": [asdict(event) for event in events],
    }


def report_text(events: Sequence[SeasonEvent], rows: Sequence[Row]) -> str:
    """Return a summary, then rankings and turned pairs of each event, as lines of text."""
    overview = overview_of(rows, events)
    lines = [*overview_lines(overview), "", *([] if events else [nothing_ranked(overview), ""])]
    for event in events:
        for ranking in event.rankings:
            lines += [f"{event.title}: {ranking.rules}", summary(ranking), ""]
            lines += _table(ranking)
            lines += [f"  {line}" for line in missing_lines(ranking, _PRINTED_MOST)]
            lines += [f"  {line}" for line in pair_lines(ranking, _PRINTED_MOST, turned=True)]
            lines.append("")
    for title, bundles in bundle_lists(events, rows):
        lines += (
            [f"{title}: {len(bundles)}.", *(f"  {line}" for line in bundles)] if bundles else []
        )
    return "\n".join(map(harmless, lines)).rstrip()


def overview_lines(found: Overview) -> list[str]:
    """Return the summary that stands before the tables."""
    events = counted(found.events, "event")
    unchecked = ", which no row under their own rules checks" if found.not_checked else ""
    return [
        f"Bundles: {found.bundles}; scored {found.scored}, broken {found.broken}, scored and in no"
        f" ranking {found.left_out}, with an emulated energy {found.emulated}, not run as the"
        f" others of their event {found.not_alike}.",
        f"Old results: reproduced {found.reproduced}, not reproduced {found.not_reproduced},"
        f" unknown {found.not_checked}{unchecked}.",
        f"Rules: {', '.join(found.rules) or 'none'}. Rankings: {found.rankings} of {events}.",
        f"Turned pairs: {found.turned_pairs} of {found.comparable_pairs}, in"
        f" {found.rankings_with_turned_pairs} of the rankings. Another first place: in"
        f" {found.rankings_with_another_first}.",
    ]


def nothing_ranked(found: Overview) -> str:
    """Return what stands in the place of the rankings if there is none."""
    return NO_SESSION_RANKS if found.scored else NOTHING_SCORED


def bundle_lists(events: Sequence[SeasonEvent], rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    """Return the lists of bundles to look at, each with its title; a list may be empty."""
    return [
        (
            "Bundles whose old result does not reproduce",
            [
                f"{row['file']}: {row['rules']} gives the mAP {row['new_mean_ap']}, and the bundle"
                f" tells {row['old_mean_ap']}"
                for row in not_reproduced(rows)
            ],
        ),
        (
            "Bundles that were not run as the others of their event",
            [f"{one['file']}: {one['differs']}" for one in not_alike(events)],
        ),
        (
            "Bundles that do not tell how they were run",
            [f"{one['file']}: {one['not_told']}" for one in not_told(events)],
        ),
        *(
            (title, [f"{one['file']}: {one['reason']}" for one in rows])
            for title, rows in (
                ("Bundles in no ranking", left_out(rows, events)),
                ("Bundles that could not be scored", broken_bundles(rows)),
            )
        ),
    ]


def summary(ranking: ComparedRanking) -> str:
    """Return in a sentence or two how far the rankings differ."""
    missing = f" (no Kendall's tau: {ranking.tau_missing})"
    tau = missing if ranking.tau is None else f" (Kendall's tau {ranking.tau:.3f})"
    turned = f"{ranking.turned} of {counted(ranking.comparable, 'pair turns', 'pairs turn')}{tau}."
    differs = {one.team: one.differs for one in ranking.entrants}
    before, now = (
        " and ".join(marked_name(team, differs[team]) for team in ranking.first(side)) or "nobody"
        for side in ("old", "new")
    )
    return f"{turned} First is {now}" + ("." if before == now else f", and was {before}.")


def missing_lines(ranking: ComparedRanking, most: int) -> list[str]:
    """Return why values of the table are missing, a line for each reason of a team."""
    lines = []
    for entrant in ranking.entrants:
        names: dict[str, list[str]] = defaultdict(list)
        for name, why in entrant.missing.items():
            if name in _SHOWN:
                names[why].append(_SHOWN[name])
        lines += [
            f"{isolated(entrant.team)} has no {', '.join(missing)}: {why}"
            for why, missing in names.items()
        ]
    rest = len(lines) - most
    return [*lines[:most], *([f"and {rest} more: --csv"] if rest > 0 else [])]


def pair_lines(ranking: ComparedRanking, most: int, *, turned: bool) -> list[str]:
    """Return the first pairs that have turned, or the neighbours that have not, as sentences."""
    pairs = [pair for pair in ranking.pairs if pair.turned is turned]
    rest = len(pairs) - most
    return [*map(pair_line, pairs[:most]), *([f"and {rest} more: --csv pairs"] if rest > 0 else [])]


def pair_line(pair: Pair) -> str:
    """Return a pair in a sentence."""
    first, second = (
        marked_name(team, team in pair.not_alike) for team in (pair.ahead, pair.behind)
    )
    if pair.difference == 0:
        return f"{first} and {second} have the same value"
    ahead = f"{first} {'is now' if pair.turned else 'is'} ahead of {second}"
    if pair.low is None or pair.high is None or pair.turn_probability is None:
        by = number(pair.difference)
        return f"{ahead} by {by}; how sure that is, the draws do not tell: {pair.missing}"
    return (
        f"{ahead} by {number(pair.difference)} ({number(pair.low)} … {number(pair.high)}); "
        f"a second contest turns it with {100 * pair.turn_probability:.0f} %, by the spread of"
        f" {pair.turn_from_teams} teams"
    )


def number(value: float | None) -> str:
    """Return a value with five digits that count, or '–'."""
    return "–" if value is None else f"{value:.5g}"


def cells(entrant: Entrant) -> tuple[str, ...]:
    """Return a team's row of the table, as printed."""
    rise = (
        0
        if entrant.old_rank is None or entrant.new_rank is None
        else entrant.old_rank - entrant.new_rank
    )
    arrow = "" if rise == 0 else f"{'▲' if rise > 0 else '▼'}{abs(rise)}"
    ends = entrant.new_interval
    possible = "–" if entrant.best is None else f"{entrant.best}–{entrant.worst}"
    return (
        "–" if entrant.new_rank is None else str(entrant.new_rank),
        _rank(entrant.old_rank),
        arrow,
        entrant.team,
        score_text(entrant.new, ends or ()),
        "–" if ends is None else ends_text(*ends),
        score_text(entrant.old, entrant.old_interval or ()),
        possible,
        ", ".join(_long_marks(entrant)),
    )


def differs_text(entrant: Entrant) -> str:
    """Return what of a session was not as in the others, '' if nothing was."""
    return "; ".join(map(difference_text, entrant.differs))


def season_marks(entrant: Entrant) -> list[str]:
    """Return the marks of a team's value for a chart, which has no room for what differs."""
    not_alike = [NOT_ALIKE] if entrant.differs else []
    return [
        *energy_marks(entrant.verdict, emulated=entrant.emulated),
        *_reproduced(entrant),
        *not_alike,
    ]


def _long_marks(entrant: Entrant) -> list[str]:
    """Return the verdict with the marks of a team's value, and in words what differs."""
    differs = differs_text(entrant)
    not_alike = [f"{NOT_ALIKE.upper()} ({differs})"] if differs else []
    said = verdict_words(entrant.verdict, emulated=entrant.emulated)
    return [*said, *_reproduced(entrant), *not_alike]


def _reproduced(entrant: Entrant) -> list[str]:
    return ["NOT REPRODUCED"] if entrant.reproduces is False else []


def _rank(value: int | None) -> str:
    return "–" if value is None else str(value)


def _table(ranking: ComparedRanking) -> list[str]:
    table = [_HEADER, *map(cells, ranking.entrants)]
    return lines_of(table, [name in _LEFT for name in _HEADER])
