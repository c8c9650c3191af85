# SPDX-License-Identifier: Apache-2.0
"""When an answer came: in time, late, or when its session takes none."""

from __future__ import annotations

from enum import Enum

from referee.core.instant import Instant
from referee.core.states import SessionFacts, accepts, elapsed_s

LATE_S = 60.0
"""Seconds past the deadline for which late answers are still stored; later ones are refused."""


class Arrival(Enum):
    """Name what an answer's moment means for it."""

    IN_TIME = "it is stored and scored"
    LATE = "it is stored, marked late, and never scored"
    REFUSED = "it is not stored"


def arrival_of(facts: SessionFacts, received: Instant) -> Arrival:
    """Judge an answer by the moment at which its last byte was read.

    A session takes late answers from its end, which may be early, until `LATE_S` after its
    deadline. It takes none before its start, and none when it is void.
    """
    if accepts(facts, received):
        return Arrival.IN_TIME
    elapsed = elapsed_s(facts, received)
    if elapsed is None or elapsed < 0.0 or facts.voided is not None:
        return Arrival.REFUSED
    return Arrival.LATE if elapsed <= facts.length_s + LATE_S else Arrival.REFUSED
