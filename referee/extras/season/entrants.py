# SPDX-License-Identifier: Apache-2.0
"""A team of a season under old and new rules: its values, and a pair of such teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from referee.core.conditions import Difference
from referee.extras.season.choices import BY_MAP, BY_SCORE
from referee.extras.season.keys import team_key
from referee.extras.season.rows import NewResult, OldResult, ScoredRow
from referee.extras.season.score_energy import divisor_or_why, no_score
from referee.formats.faults import harmless
from referee.scoring.lpirc import behind_score
from referee.scoring.uncertainty import gives_interval


@dataclass(frozen=True)
class Pair:
    """Two teams under the new rules: `ahead` has the higher value, or an equal one.

    `difference` is what it is ahead by. `low` and `high` are the ends of the 95 % interval of the
    difference on the images that both saw, and `turn_probability` is that of another order in a
    second contest, by the spread of `turn_from_teams` teams (`referee.scoring.compare`). They are
    None where the draws cannot tell, and `missing` says why. `turned` says that the old order is
    the other one. `not_alike` names those of the two that were not run as the others were.
    `ahead_id` and `behind_id` are the teams' keys.
    """

    ahead: str
    behind: str
    difference: float
    low: float | None
    high: float | None
    turn_probability: float | None
    turned: bool
    missing: str | None = None
    turn_from_teams: int | None = None
    not_alike: tuple[str, ...] = ()
    ahead_id: str = ""
    behind_id: str = ""


@dataclass(frozen=True)
class Entrant:
    """A team's session that counts, under old and new rules.

    `old` and `new` are the values that rank, with the ends of their 95 % intervals or None. Ranks
    are None without a value. The new rank is one of `best` to `worst`, as far as the intervals of
    all differences tell; None where none of them can. An `emulated` energy is not official.
    `reproduces` says whether the bundle's own rules gave its own mAP, under whatever rules this
    ranking is; None if the file cannot tell. `missing` says why `old`, `new`, their intervals or
    `best` are None, by the field's name. `differs` is what was not as in the other sessions of the
    event, and `not_told` says in words what of that the bundle does not tell. `team_id` is the
    team's key.
    """

    team: str
    session: int
    file: str
    verdict: str
    energy_wh: float | None
    old: float | None
    old_interval: tuple[float, float] | None
    new: float | None
    new_interval: tuple[float, float] | None
    old_rank: int | None = None
    new_rank: int | None = None
    best: int | None = None
    worst: int | None = None
    emulated: bool = False
    reproduces: bool | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    differs: tuple[Difference, ...] = ()
    not_told: str = ""
    team_id: str = ""


def entrant_of(row: ScoredRow, old_result: OldResult, by: str) -> Entrant:
    """Return a session that counts as an entrant without ranks; `by` is `BY_SCORE` or `BY_MAP`."""
    # A file may have an interval where the energy is SUSPECT.
    sure = by == BY_MAP or gives_interval(old_result["verdict"])
    old, new = (_value(result, by, sure=sure) for result in (old_result, row["new"]))
    entrants = {
        "old": old.value,
        "new": new.value,
        "old_interval": old.ends,
        "new_interval": new.ends,
    }
    return Entrant(
        team=harmless(row["team"]),
        team_id=team_key(row["team"]),
        session=row["session"],
        file=row["file"],
        verdict=harmless(str(old_result["verdict"])),
        energy_wh=old_result["energy_wh"],
        emulated=bool(old_result.get("emulated")),
        missing={
            name: _why_missing(row, by, name)
            for name, entrant in entrants.items()
            if entrant is None
        },
        old=old.value,
        new=new.value,
        old_interval=old.ends,
        new_interval=new.ends,
    )


@dataclass(frozen=True)
class _Value:
    """What ranks a session under one set of rules, with the ends of its interval."""

    value: float | None
    ends: tuple[float, float] | None


def _value(result: OldResult | NewResult, by: str, *, sure: bool) -> _Value:
    if by == BY_SCORE:
        value, ends = result["score"], result["score_interval"]
    else:
        value, ends = result["mean_ap"], result["mean_ap_interval"]
    return _Value(value, _ends(ends) if sure else None)


def _why_missing(row: ScoredRow, by: str, name: str) -> str:
    """Return why a session has no old or new value, or no interval around it."""
    side, _, interval = name.partition("_")
    result = row["old"] if side == "old" else row["new"]
    if result is None or result["mean_ap"] is None:
        return f"no mAP {'in score.json' if side == 'old' else 'under this ground truth'}"
    if by == BY_SCORE and (why := no_score(row["old"])) is not None:
        return why
    divisor = divisor_or_why(row["old"])
    if by == BY_SCORE and interval and isinstance(divisor, str):
        return divisor
    if side == "old":
        return f"score.json has no {interval or 'score'}"
    return "the draws cannot tell"


def _ends(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (interval[0], interval[1])


def exact_values(rows: Sequence[ScoredRow], side: str, by: str) -> list[float | Fraction | None]:
    """Return what ranks each session on the side `old` or `new`, without rounding of a quotient."""
    return [_exact_value(row, row["old"] if side == "old" else row["new"], by) for row in rows]


def _exact_value(
    row: ScoredRow, result: OldResult | NewResult | None, by: str
) -> float | Fraction | None:
    old = row["old"]
    if result is None or old is None or by != BY_SCORE:
        return None if result is None else _value(result, by, sure=False).value
    return behind_score(result["score"], result["mean_ap"], old["energy_wh"])


def order_of(first: int | None, second: int | None) -> int:
    """Return 1 or -1 for the better one of two ranks, and 0 where there is no order."""
    return 0 if first is None or second is None else (first < second) - (first > second)


def has_turned(a: Entrant, b: Entrant) -> bool:
    """Tell whether the ranks of two teams have turned; a tie that is broken does not turn."""
    return order_of(a.old_rank, b.old_rank) * order_of(a.new_rank, b.new_rank) < 0
