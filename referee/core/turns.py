# SPDX-License-Identifier: Apache-2.0
"""The turns of an event's teams: the lottery, who is next, and which session counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from referee.core.states import SessionState

LOTTERY_RULE = (
    "Each team's number is the SHA-256 digest of the seed, a line feed (byte 10), and the team's "
    "name, all in UTF-8. The teams run by ascending number."
)
"""The rule of the lottery, in words from which a stranger can repeat it."""

SESSION_RULE = (
    "The newest session that a team has started and that is not void counts. "
    "An earlier session with a better score does not count."
)
"""The rule that chooses a team's session for the ranking."""

_LIVE = (SessionState.ARMED, SessionState.RUNNING)


@dataclass(frozen=True)
class Lot:
    """A team's lot: the hexadecimal digest that decides its place."""

    name: str
    digest: str


def draw_lots(names: Iterable[str], seed: str) -> list[Lot]:
    """Return the teams in the order that the seed draws, see `LOTTERY_RULE`.

    The order depends on the seed and the names alone, and not on the order in which they come.
    """
    lots = [Lot(name, hashlib.sha256(f"{seed}\n{name}".encode()).hexdigest()) for name in names]
    return sorted(lots, key=lambda lot: lot.digest)


@dataclass(frozen=True)
class Attempt:
    """A session of a team; `started` means that the team has logged in to it.

    `reason` is why the session is void, or None. A `rehearsal` is no attempt: it never counts.
    `lane` is the number of its lane, from 1.
    """

    session_id: int
    state: SessionState
    started: bool
    reason: str | None = None
    rehearsal: bool = False
    lane: int = 1


class Turn(Enum):
    """The place of a team in the course of an event."""

    WAITING = "waiting"
    ON = "on"
    """Its session is armed or runs."""
    RAN = "ran"
    MODELS = "models only"
    """It hands in models, and has no place in the running order."""
    WITHDRAWN = "withdrawn"


def started(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts that are counted: started and no rehearsal, void ones included."""
    return [attempt for attempt in attempts if attempt.started and not attempt.rehearsal]


def standing_attempts(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the started attempts that are not void, the oldest first."""
    kept = [one for one in started(attempts) if one.state is not SessionState.VOID]
    return sorted(kept, key=lambda attempt: attempt.session_id)


def counted_attempt(attempts: Sequence[Attempt]) -> Attempt | None:
    """Return the attempt that counts (see `SESSION_RULE`), or None."""
    kept = standing_attempts(attempts)
    return kept[-1] if kept else None


def turn_of(attempts: Sequence[Attempt], *, withdrawn: bool, sessions: bool = True) -> Turn:
    """Return a team's turn; a team whose sessions are all void waits again.

    `sessions` is false for a team that hands in models only.
    """
    if any(attempt.state in _LIVE for attempt in attempts):
        return Turn.ON
    if withdrawn:
        return Turn.WITHDRAWN
    if counted_attempt(attempts) is not None:
        return Turn.RAN
    return Turn.WAITING if sessions else Turn.MODELS


def next_team(order: Sequence[str], turns: Mapping[str, Turn]) -> str | None:
    """Return the first team in the running order that waits, or None."""
    return next((name for name in order if turns[name] is Turn.WAITING), None)


@dataclass(frozen=True)
class WaitingTeam:
    """A team that waits for its turn; `lane` is the only one where it may run, None: any."""

    name: str
    lane: int | None = None


def next_in_lanes(
    waiting: Sequence[WaitingTeam], free: Sequence[int], busy: Sequence[int]
) -> dict[int, str]:
    """Return who is next in each lane where anybody is; `waiting` is in the running order.

    A team is next in one lane only. The free lanes come first, all at once: as many teams as
    possible run now, and of those the first in the order. Then each busy lane takes the first team
    that is left and may run there; `busy` has the lane first that becomes free first.
    """
    chosen: dict[int, str] = {}
    for lanes in (list(free), *([lane] for lane in busy)):
        left = [team for team in waiting if team.name not in chosen.values()]
        chosen |= _filled(left, lanes)
    return chosen


def _filled(waiting: Sequence[WaitingTeam], lanes: Sequence[int]) -> dict[int, str]:
    """Let the first teams that fit together run in these lanes at once."""
    bound: dict[int, str] = {}
    anywhere: list[str] = []
    for team in waiting:
        if len(bound) + len(anywhere) == len(lanes):
            break
        if team.lane is None:
            anywhere.append(team.name)
        elif team.lane in lanes:
            bound.setdefault(team.lane, team.name)
    rest = (lane for lane in lanes if lane not in bound)
    return bound | dict(zip(rest, anywhere, strict=False))


def rearranged(order: Sequence[str], first: Sequence[str]) -> list[str]:
    """Return the order with some teams moved to the front; the others keep their order."""
    return [*first, *(name for name in order if name not in first)]
