# SPDX-License-Identifier: Apache-2.0
"""What is killed, and when: a plan that follows from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Target(Enum):
    """The thing that a kill hits."""

    WORKER = "contest worker"
    MASTER = "contest master"
    DESK = "control desk"
    SCORER = "live scorer"
    LINK = "meter's link"
    METER = "emulated meter"
    SUPERVISOR = "supervisor"
    EVERYTHING = "everything"
    POWER = "power cut"


class Moment(Enum):
    """The moment to which a kill's seconds relate."""

    LOGIN = "login"
    RUN = "start"
    DEADLINE = "deadline"


@dataclass(frozen=True)
class Kill:
    """One kill, so many seconds after the moment, or before it if the seconds are negative."""

    target: Target
    moment: Moment
    seconds: float


# A killed meter has lost its energy, so it hits few sessions: the verdicts of the others matter.
_OFTEN = {
    Target.WORKER: 6,
    Target.MASTER: 5,
    Target.DESK: 6,
    Target.SCORER: 5,
    Target.LINK: 4,
    Target.METER: 1,
    Target.SUPERVISOR: 2,
    Target.EVERYTHING: 2,
    Target.POWER: 2,
}


def plan_of(
    chance: random.Random, length_s: float, count: int, without: Sequence[Target] = ()
) -> list[Kill]:
    """Return a session's kills: during its login and its run, around its deadline, and after it.

    Settling and scoring follow the deadline within a few seconds.
    """
    often = {target: weight for target, weight in _OFTEN.items() if target not in without}
    targets = chance.choices(list(often), list(often.values()), k=count)
    return [Kill(target, *_moment(chance, length_s)) for target in targets]


def _moment(chance: random.Random, length_s: float) -> tuple[Moment, float]:
    share = chance.random()
    if share < 0.15:
        return Moment.LOGIN, chance.uniform(0.0, 0.8)
    if share < 0.6:
        return Moment.RUN, chance.uniform(0.0, length_s - 0.4)
    if share < 0.8:
        return Moment.DEADLINE, chance.uniform(-0.4, 0.4)
    return Moment.DEADLINE, chance.uniform(0.4, 4.0)
