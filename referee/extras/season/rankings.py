# SPDX-License-Identifier: Apache-2.0
"""The rankings of a season under old and new rules, and which pairs of teams turn.

An event is what one station measured under one ground truth. Its old ranking is that of the scores
in the bundles, its new one that of the same sessions under other rules.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from referee.core.dates import day_text
from referee.core.places import shared_places
from referee.extras.season.alike import marks_of
from referee.extras.season.choices import BY_MAP, BY_SCORE
from referee.extras.season.entrants import Entrant, Pair, entrant_of, exact_values, has_turned
from referee.extras.season.joint import joint_uncertainty
from referee.extras.season.keys import event_key, event_name
from referee.extras.season.orders import Orders, orders_of, turned_after
from referee.extras.season.rows import (
    SCORED,
    OldResult,
    Row,
    ScoredRow,
    reproduced,
    rules_of,
)
from referee.extras.season.score_energy import divisor_or_why
from referee.scoring import Comparison, Energy, MapUncertainty, Spread, compare, spread_of
from referee.scoring.pairwise import Together

# Each pair has an interval, and there are half as many pairs as the square of teams.
_COMPARED_MOST = 300


@dataclass(frozen=True)
class ComparedRanking:
    """An event's rankings under the old rules and one set of new ones; the best new one is first.

    `comparable` counts the pairs of teams that have both values, `turned` those among them whose
    order is another. `tau` is Kendall's tau-b of the two rankings: 1 for equal ones, also with
    ties, and None for the reason `tau_missing`. `pairs` has all turned pairs, and the neighbours of
    the new ranking.
    """

    rules: str
    old_rules: tuple[str, ...]
    entrants: tuple[Entrant, ...]
    comparable: int
    turned: int
    tau: float | None
    tau_missing: str | None
    pairs: tuple[Pair, ...]

    def first(self, side: str) -> list[str]:
        """Return the teams on the first place of the ranking `old` or `new`."""
        return [one.team for one in self.entrants if getattr(one, f"{side}_rank") == 1]


@dataclass(frozen=True)
class SeasonEvent:
    """An event with its key and its rankings, one for each set of new rules in the file."""

    name: str
    station: str | None
    track: str
    truth_sha256: str
    first_utc: str | None
    rankings: tuple[ComparedRanking, ...] = field(default=())
    event_id: str = ""

    @property
    def title(self) -> str:
        """Return the event's name, its day and its station, as far as they are known."""
        day = "" if self.first_utc is None else f", {day_text(self.first_utc)}"
        return (
            f"{self.name}{day}, station {'unknown' if self.station is None else self.station[:8]}"
        )


def events_of(rows: Sequence[Row], by: str = BY_SCORE) -> list[SeasonEvent]:
    """Return the events of a season's rows, by their first session, each with its rankings.

    Broken rows and void sessions take no part. `by` is `BY_SCORE` or `BY_MAP`.
    """
    groups: dict[tuple[str, ...], list[ScoredRow]] = defaultdict(list)
    for row in rows:
        if row["status"] == SCORED and row["voided_utc"] is None:
            words = (row["event"], row["station"], row["track"], row["truth_sha256"])
            groups[tuple(map(str, words))].append(row)
    events = [_event(groups[words], by) for words in sorted(groups)]
    return sorted(events, key=lambda one: one.first_utc or "")


def _event(rows: Sequence[ScoredRow], by: str) -> SeasonEvent:
    first = rows[0]
    by_rules: dict[str, list[ScoredRow]] = defaultdict(list)
    known = reproduced(rows)
    several = len({_made_by(row) for row in rows}) > 1
    for row in rows:
        made_by = f" ({_made_by(row)})" if several else ""
        by_rules[f"{rules_of(row)}{made_by}"].append(row)
    return SeasonEvent(
        name=event_name(first["event"]),
        event_id=event_key(first["event"], first["station"], first["track"], first["truth_sha256"]),
        station=first["station"],
        track=first["track"],
        truth_sha256=first["truth_sha256"],
        first_utc=min((row["started_utc"] for row in rows if row["started_utc"]), default=None),
        rankings=tuple(_ranking(rules, by_rules[rules], by, known) for rules in sorted(by_rules)),
    )


def _made_by(row: Row) -> str:
    """Return what beside the rules makes another ranking: another program, seed or number."""
    return f"program {row['referee_version']}, seed {row['seed']}, {row['resamples']} draws"


def _ranking(
    rules: str, rows: Sequence[ScoredRow], by: str, known: Mapping[tuple[str | None, str], bool]
) -> ComparedRanking:
    counted = _counted(rows)
    marks = marks_of([row for _, row in counted])
    entrants = [
        replace(
            entrant_of(row, old, by),
            reproduces=known.get((row["bundle_sha256"], row["truth_sha256"])),
            differs=marked.differs,
            not_told=marked.not_told,
        )
        for (old, row), marked in zip(counted, marks, strict=True)
    ]
    of_rows = [row for _, row in counted]
    old, new = (shared_places(exact_values(of_rows, side, by)) for side in ("old", "new"))
    ranked = [
        (replace(one, old_rank=old[place], new_rank=new[place]), counted[place][1])
        for place, one in enumerate(entrants)
    ]
    last = len(ranked) + 1  # While it is sorted, the list itself is empty.
    ranked.sort(key=lambda place: (place[0].new_rank or last, place[0].team))
    compared = _Compared([one for one, _ in ranked], [row for _, row in ranked], by)
    orders = orders_of([one for one, _ in ranked])
    tau, tau_missing = _tau(orders)
    old_rules = {f"{old['rules']} {old['rules_version']}" for old, _ in counted}
    return ComparedRanking(
        rules=rules,
        old_rules=tuple(sorted(old_rules)),
        entrants=tuple(compared.with_places()),
        comparable=orders.pairs,
        turned=orders.turned,
        tau=tau,
        tau_missing=tau_missing,
        pairs=tuple(compared.pairs()),
    )


def _counted(rows: Sequence[ScoredRow]) -> list[tuple[OldResult, ScoredRow]]:
    """Return each team's session that counts, the newest with a verdict, after its old result."""
    newest: dict[str, tuple[OldResult, ScoredRow]] = {}
    for row in sorted(
        rows, key=lambda row: (row["started_utc"] or "", row["session"], row["file"])
    ):
        if row["old"] is not None and row["old"]["verdict"] is not None:
            newest[row["team"]] = (row["old"], row)
    return [newest[team] for team in sorted(newest)]


def _tau(orders: Orders) -> tuple[float | None, str | None]:
    """Return Kendall's tau-b, which leaves each ranking's ties out, or why there is none."""
    if not orders.pairs:
        return None, "fewer than two teams have both values"
    if not (orders.old_apart and orders.new_apart):
        return None, f"the {'new' if orders.old_apart else 'old'} values are all equal"
    return (orders.same - orders.turned) / math.sqrt(orders.old_apart * orders.new_apart), None


class _Compared:
    """The differences between the teams of a ranking, the best one first."""

    def __init__(self, entrants: Sequence[Entrant], rows: Sequence[ScoredRow], by: str) -> None:
        self._entrants = entrants
        self._known = [_measured(row, by) for row in rows]
        self._found: dict[tuple[int, int], Comparison | str] = {}
        self._spreads: dict[str, Spread | None] = {}
        self._groups: dict[str, tuple[list[int], Together]] = {}

    def pairs(self) -> Iterator[Pair]:
        """Yield the turned pairs and the neighbours, by the place of the one that is ahead."""
        ranked = [one for one in self._entrants if one.new is not None]
        for i, turned in enumerate(turned_after(ranked)):
            neighbour = [i + 1] if i + 1 < len(ranked) else []
            for j in sorted({*neighbour, *turned}):
                yield self._pair(i, j)

    def with_places(self) -> Iterator[Entrant]:
        """Yield the teams with the ranks that the intervals of all differences leave possible.

        A difference without an interval leaves both orders possible.
        """
        count = sum(entrant.new is not None for entrant in self._entrants)
        best, worst = [1] * count, [count] * count
        decided = [count == 1 and not isinstance(entrant, str) for entrant in self._known[:count]]
        why = [f"there are more than {_COMPARED_MOST} teams"] * count
        for i, j in combinations(range(count if count <= _COMPARED_MOST else 0), 2):
            compared = self._compared(i, j)
            if isinstance(compared, str):
                why[i] = why[j] = compared
                continue
            decided[i] = decided[j] = True
            if compared.interval.low > 0:
                best[j] += 1
                worst[i] -= 1
        for place, entrant in enumerate(self._entrants):
            if place < count and decided[place]:
                yield replace(entrant, best=best[place], worst=worst[place])
                continue
            known = self._known[place]
            reason = known if isinstance(known, str) else why[place] if place < count else ""
            yield replace(
                entrant, missing={**entrant.missing, "best": entrant.missing.get("new", reason)}
            )

    def _pair(self, i: int, j: int) -> Pair:
        a, b = self._entrants[i], self._entrants[j]
        tied, turned = a.new_rank == b.new_rank, has_turned(a, b)
        difference = 0.0 if tied else (a.new or 0.0) - (b.new or 0.0)
        compared = self._compared(i, j)
        spread = None if isinstance(compared, str) else self._spread(i)
        other = tuple(one.team for one in (a, b) if one.differs)
        if isinstance(compared, str) or spread is None:
            why = str(compared)
            return Pair(
                a.team,
                b.team,
                difference,
                None,
                None,
                None,
                turned,
                why,
                None,
                other,
                a.team_id,
                b.team_id,
            )
        ends, turns = (compared.interval.low, compared.interval.high), compared.turns_among(spread)
        return Pair(
            a.team,
            b.team,
            difference,
            *ends,
            turns,
            turned,
            None,
            spread.teams,
            other,
            a.team_id,
            b.team_id,
        )

    def _spread(self, place: int) -> Spread | None:
        """Return the spread of the teams that can be compared with this one, itself included.

        Of very many teams it is that of some, evenly along the ranking.
        """
        known = self._known[place]
        key = known if isinstance(known, str) else known[0]
        if key not in self._spreads:
            same = [i for i, one in enumerate(self._known) if not isinstance(one, str)]
            same = [i for i in same if self._known[i][0] == key]
            same = same[:: -(-len(same) // _COMPARED_MOST)]
            pairs = [self._compared(i, j) for i, j in combinations(same, 2)]
            compared = [one for one in pairs if not isinstance(one, str)]
            self._spreads[key] = spread_of(compared, len(same))
        return self._spreads[key]

    def _compared(self, i: int, j: int) -> Comparison | str:
        """Return the comparison of two teams, or why there is none.

        Where all pairs are asked for, those of a team are made together.
        """
        if (i, j) not in self._found and len(self._known) <= _COMPARED_MOST:
            self._compare_row(i)
        if (i, j) not in self._found:
            self._found[i, j] = self._why_not(i, j) or self._compare(i, j)
        return self._found[i, j]

    def _compare_row(self, i: int) -> None:
        """Compare a team with all behind it."""
        for j in range(i + 1, len(self._known)):
            why = self._why_not(i, j)
            if why:
                self._found[i, j] = why
        known = self._known[i]
        if not isinstance(known, str):
            places, together = self._group(known[0])
            place = places.index(i)
            behind = together.with_those_behind(place)
            self._found |= {
                (i, j): _told(one) for j, one in zip(places[place + 1 :], behind, strict=True)
            }

    def _group(self, key: str) -> tuple[list[int], Together]:
        """Return the places of the teams that saw the same images, and their comparisons."""
        if key not in self._groups:
            known = {n: one for n, one in enumerate(self._known) if not isinstance(one, str)}
            same = {n: one[1:] for n, one in known.items() if one[0] == key}
            self._groups[key] = list(same), Together(list(same.values()))
        return self._groups[key]

    def _compare(self, i: int, j: int) -> Comparison | str:
        first, second = self._known[i], self._known[j]
        if isinstance(first, str) or isinstance(second, str):
            return self._why_not(i, j)
        return _told(compare(first[1], second[1], first[2], second[2]))

    def _why_not(self, i: int, j: int) -> str:
        """Return why two teams cannot be compared, or ''."""
        first, second = self._known[i], self._known[j]
        for place, known in ((i, first), (j, second)):
            if isinstance(known, str):
                return f"{self._entrants[place].team}: {known}"
        if isinstance(first, str) or isinstance(second, str) or first[0] != second[0]:
            return "the two sessions have other images or other draws"
        return ""


def _told(comparison: Comparison) -> Comparison | str:
    """Return a comparison, or why it tells nothing."""
    if math.isnan(comparison.standard_error):  # The halves cannot tell.
        return "there are too few images or draws"
    return comparison


def _measured(row: ScoredRow, by: str) -> tuple[str, MapUncertainty, Energy] | str:
    """Return what a comparison needs of a row, or why not; only equal keys may be compared."""
    measured, joint = joint_uncertainty(row), row["joint"]
    if measured is None or joint is None:
        return "no draws of the mAP"
    energy = Energy(1.0) if by == BY_MAP else divisor_or_why(row["old"])
    return energy if isinstance(energy, str) else (joint["key"], measured, energy)
