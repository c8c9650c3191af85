# SPDX-License-Identifier: Apache-2.0
"""The report of a season as tables with typed values, for CSV and spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from referee.extras.season.entrants import Entrant, Pair
from referee.extras.season.keys import event_key, event_name, team_key
from referee.extras.season.overview import left_out, not_alike
from referee.extras.season.rankings import ComparedRanking, SeasonEvent
from referee.extras.season.report_text import differs_text
from referee.extras.season.rows import Row, rules_of
from referee.formats.faults import harmless
from referee.formats.tables import Table

_OF_EVENT = ("event", "station", "track", "truth_sha256", "first_utc", "rules")
_LATER = ("differs", "not_told", "event_id", "team_id")
RANKING_COLUMNS = (
    *_OF_EVENT,
    *(one.name for one in fields(Entrant) if "interval" not in one.name and one.name not in _LATER),
)
"""The columns of the rankings before the ends of the intervals; `_LATER` comes behind."""

_ENDS = ("old_low", "old_high", "new_low", "new_high")
_OF_BUNDLE = ("session", "truth_sha256", "status", "reproduces")


def rankings_table(events: Sequence[SeasonEvent]) -> Table:
    """Return a row for each team and set of rules, with all digits.

    The column `missing` says why a value is missing.
    """
    rows = [
        [
            *_words(event, ranking),
            *(_value(one, name) for name in RANKING_COLUMNS[len(_OF_EVENT) :]),
            *(one.old_interval or (None, None)),
            *(one.new_interval or (None, None)),
            differs_text(one),
            one.not_told,
            event.event_id,
            one.team_id,
        ]
        for event in events
        for ranking in event.rankings
        for one in ranking.entrants
    ]
    return Table("rankings", (*RANKING_COLUMNS, *_ENDS, *_LATER), rows)


def pairs_table(events: Sequence[SeasonEvent]) -> Table:
    """Return a row for each turned pair and each pair of neighbours, with all digits."""
    names = [one.name for one in fields(Pair)]
    rows = [
        [*_words(event, ranking), *(_pair_value(pair, name) for name in names), event.event_id]
        for event in events
        for ranking in event.rankings
        for pair in ranking.pairs
    ]
    return Table("pairs", (*_OF_EVENT, *names, "event_id"), rows)


def bundles_table(events: Sequence[SeasonEvent], rows: Sequence[Row]) -> Table:
    """Return a row for each bundle and set of rules: its state, with the reason if it has no rank.

    `reproduces` is missing where the rules are not the bundle's own.
    """
    why = {one["file"]: one["reason"] for one in left_out(rows, events)}
    marks = {one["file"]: one["differs"] for one in not_alike(events)}
    heads = (
        "file",
        "event",
        "station",
        "team",
        *_OF_BUNDLE,
        "rules",
        "verdict",
        "emulated",
        "reason",
        "differs",
        "event_id",
        "team_id",
    )
    values = []
    for row in rows:
        names, keys = _of_session(row)
        old = dict(row["old"] or {})
        values.append(
            [
                row["file"],
                *names,
                *(dict(row)[name] for name in _OF_BUNDLE),
                rules_of(row),
                old.get("verdict"),
                old.get("emulated"),
                row["reason"] or why.get(row["file"]),
                marks.get(row["file"]),
                *keys,
            ]
        )
    return Table("bundles", heads, values)


def _of_session(row: Row) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
    """Return event, station and team of a row as the rankings have them, and the keys."""
    team, track, truth = row["team"], row["track"], row["truth_sha256"]
    if team is None or track is None:  # A broken bundle tells nothing.
        return (None, None, None), (None, None)
    names = (event_name(row["event"]), row["station"], harmless(team))
    return names, (event_key(row["event"], row["station"], track, truth), team_key(team))


def _value(entrant: Entrant, name: str) -> object:
    if name == "missing":
        return "; ".join(f"{field}: {why}" for field, why in entrant.missing.items())
    return getattr(entrant, name)


def _pair_value(pair: Pair, name: str) -> object:
    return "; ".join(pair.not_alike) if name == "not_alike" else getattr(pair, name)


def _words(event: SeasonEvent, ranking: ComparedRanking) -> tuple[str | None, ...]:
    return (
        event.name,
        event.station,
        event.track,
        event.truth_sha256,
        event.first_utc,
        ranking.rules,
    )
