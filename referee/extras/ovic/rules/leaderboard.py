# SPDX-License-Identifier: Apache-2.0
"""OVIC's leaderboard: the best entry of each team, and their ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from referee.core.places import shared_places
from referee.extras.ovic.rules.score import OvicRules, OvicScore, ovic_score


@dataclass(frozen=True)
class ScoredEntry:
    """A measured entry: its number, its team, its accuracy in percent, its latency."""

    entry_id: int
    team: str
    accuracy: float
    latency_ms: float


@dataclass(frozen=True)
class Row:
    """A team's row: its rank from 1, None without a valid entry, and its best of `entries`."""

    rank: int | None
    entry: ScoredEntry
    score: OvicScore
    entries: int


_Scored = tuple[ScoredEntry, OvicScore]


def leaderboard(rules: OvicRules, entries: Iterable[ScoredEntry]) -> list[Row]:
    """Return a row for each team, the best first; all are scored with the same frontier.

    A team's best entry has the highest metric; of equals the earliest counts. Teams with equal
    metrics share a rank, and the ranks after them are left out; the one that came first stands
    first. Teams without a valid entry follow without a rank, the fastest first.
    """
    teams: dict[str, list[_Scored]] = {}
    for entry in entries:
        score = ovic_score(rules, entry.accuracy, entry.latency_ms)
        teams.setdefault(entry.team, []).append((entry, score))
    best = sorted((min(mine, key=_place) for mine in teams.values()), key=_place)
    ranks = shared_places([score.metric for _, score in best])
    return [
        Row(rank, entry, score, len(teams[entry.team]))
        for rank, (entry, score) in zip(ranks, best, strict=True)
    ]


def _place(scored: _Scored) -> tuple[bool, float, int]:
    """Return the key of the order: valid entries by metric, then the others by latency."""
    entry, score = scored
    if score.metric is None:
        return True, score.latency_ms, entry.entry_id
    return False, -score.metric, entry.entry_id
