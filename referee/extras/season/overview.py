# SPDX-License-Identifier: Apache-2.0
"""What a season's file holds as a whole, before any table: counts, and bundles to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.extras.season.entrants import Entrant
from referee.extras.season.rankings import SeasonEvent
from referee.extras.season.rows import BROKEN, SCORED, Row, ScoredRow, reproduced, rules_of
from referee.service.event.conditions import difference_text


@dataclass(frozen=True)
class Overview:
    """Counts of bundles and rankings; copies of a bundle count once.

    A bundle is in `broken` if it could not be scored for one of the ground truths or rules. It is
    in `not_reproduced` if its own rules gave another mAP, and in `not_checked` if the file has no
    row that could tell. `left_out` counts bundles that were scored and are in no ranking.
    """

    bundles: int
    scored: int
    broken: int
    left_out: int
    emulated: int
    not_alike: int
    reproduced: int
    not_reproduced: int
    not_checked: int
    rules: tuple[str, ...]
    events: int
    rankings: int
    comparable_pairs: int
    turned_pairs: int
    rankings_with_turned_pairs: int
    rankings_with_another_first: int


def overview_of(rows: Sequence[Row], events: Sequence[SeasonEvent]) -> Overview:
    """Return the counts of a season's rows and of the rankings made of them."""
    scored = _scored(rows)
    names = {_bundle(row) for row in scored}
    known_of, is_reproduced = reproduced(rows), dict[str, bool]()
    for row in scored:
        known = known_of.get((row["bundle_sha256"], row["truth_sha256"]))
        if known is not None:
            is_reproduced[_bundle(row)] = is_reproduced.get(_bundle(row), True) and known
    rankings = [ranking for event in events for ranking in event.rankings]
    return Overview(
        bundles=len({_bundle(row) for row in rows}),
        scored=len(names),
        broken=len({_bundle(row) for row in rows if row["status"] == BROKEN}),
        left_out=len(left_out(rows, events)),
        emulated=len({_bundle(row) for row in scored if row["old"] and row["old"].get("emulated")}),
        not_alike=len(not_alike(events)),
        reproduced=sum(is_reproduced.values()),
        not_reproduced=len(is_reproduced) - sum(is_reproduced.values()),
        not_checked=len(names - is_reproduced.keys()),
        rules=tuple(sorted({rules_of(row) for row in scored})),
        events=len(events),
        rankings=len(rankings),
        comparable_pairs=sum(one.comparable for one in rankings),
        turned_pairs=sum(one.turned for one in rankings),
        rankings_with_turned_pairs=sum(one.turned > 0 for one in rankings),
        rankings_with_another_first=sum(one.first("old") != one.first("new") for one in rankings),
    )


def broken_bundles(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return file and reason of each bundle that could not be scored."""
    reasons = {(row["file"], row["reason"]) for row in rows if row["status"] == BROKEN}
    return [{"file": file, "reason": reason} for file, reason in sorted(reasons)]


def left_out(rows: Sequence[Row], events: Sequence[SeasonEvent]) -> list[dict[str, object]]:
    """Return file and reason of each bundle that was scored and is in no ranking."""
    ranked = {one.file for one in _ranked(events)}
    reasons = {
        row["file"]: _why_left_out(row) for row in _scored(rows) if row["file"] not in ranked
    }
    return [{"file": file, "reason": reasons[file]} for file in sorted(reasons)]


def not_alike(events: Sequence[SeasonEvent]) -> list[dict[str, object]]:
    """Return file and words of each ranked bundle that was not run as the others of its event."""
    found = {
        entrant.file: "; ".join(map(difference_text, entrant.differs))
        for entrant in _ranked(events)
        if entrant.differs
    }
    return [{"file": file, "differs": found[file]} for file in sorted(found)]


def not_told(events: Sequence[SeasonEvent]) -> list[dict[str, object]]:
    """Return file and words of each ranked bundle that does not tell how it was run."""
    found = {one.file: one.not_told for one in _ranked(events) if one.not_told}
    return [{"file": file, "not_told": found[file]} for file in sorted(found)]


def _ranked(events: Sequence[SeasonEvent]) -> Iterator[Entrant]:
    for event in events:
        for ranking in event.rankings:
            yield from ranking.entrants


def not_reproduced(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return each bundle whose own rules gave another mAP: its file, the rules, and both mAPs."""
    return [
        {
            "file": row["file"],
            "rules": rules_of(row),
            "truth_sha256": row["truth_sha256"],
            "old_mean_ap": row["old"]["mean_ap"],
            "new_mean_ap": row["new"]["mean_ap"],
        }
        for row in sorted(_scored(rows), key=lambda row: (row["file"], rules_of(row)))
        if row["reproduces"] is False and row["old"] is not None
    ]


def _scored(rows: Sequence[Row]) -> list[ScoredRow]:
    return [row for row in rows if row["status"] == SCORED]


def _why_left_out(row: ScoredRow) -> str:
    if row["voided_utc"] is not None:
        return "The session is void."
    if row["old"] is None:
        return "The bundle was exported before its first score."
    if row["old"]["verdict"] is None:
        return "Its energy has no verdict."
    return "A newer session of the team counts."


def _bundle(row: Row) -> str:
    return str(row["bundle_sha256"] or row["file"])
