# SPDX-License-Identifier: Apache-2.0
"""The plan of a drill: which fault comes in which session, and when; a seed decides."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from referee.extras.drill.rules.faults import DrillFault

# A fault comes in the first half of its session, so that there is time to act.
_EARLIEST, _LATEST = 0.15, 0.5
# Faults of one session are apart by this share of it.
_APART = 0.2


@dataclass(frozen=True)
class Planned:
    """A fault that comes in the `turn`-th new session, at this share of its length."""

    fault: DrillFault
    turn: int
    share: float


def draw_plan(
    named: Sequence[DrillFault], possible: Sequence[DrillFault], sessions: int, seed: int
) -> list[Planned]:
    """Return the plan of a drill of this many sessions, in its order.

    The named faults come in their order, one a session, or more where they are more than the
    sessions. Without named faults each session has one of the possible faults, and none comes
    twice before all have come.
    """
    chance = random.Random(f"drill {seed}")
    faults = list(named) or _drawn(possible, sessions, chance)
    turns = [1 + n * sessions // max(sessions, len(faults)) for n in range(len(faults))]
    plan: list[Planned] = []
    for fault, turn in zip(faults, turns, strict=True):
        earlier = sum(one.turn == turn for one in plan)
        latest = _LATEST if turns.count(turn) == 1 else _EARLIEST + _APART / 2
        share = chance.uniform(_EARLIEST, latest)
        plan.append(Planned(fault, turn, round(min(0.9, share + _APART * earlier), 3)))
    return plan


def _drawn(possible: Sequence[DrillFault], count: int, chance: random.Random) -> list[DrillFault]:
    drawn: list[DrillFault] = []
    while len(drawn) < count and possible:
        drawn += chance.sample(list(possible), len(possible))
    return drawn[:count]


def due(plan: Sequence[Planned], done: int, turn: int, ran_share: float) -> Planned | None:
    """Return the next fault of the plan if its time has come.

    `done` is how many have come. `turn` is the number of the newest new session and `ran_share`
    the part of it that has run. A fault whose session ended too early comes in a later one.
    """
    if done >= len(plan):
        return None
    waiting = plan[done]
    late = turn > waiting.turn
    at = min(waiting.share, _EARLIEST) if late else waiting.share
    return waiting if turn >= waiting.turn and ran_share >= at else None
