# SPDX-License-Identifier: Apache-2.0
"""The states of a submitted model, and which entry of the line is next."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Literal, Protocol, TypeVar

EventKind = Literal[
    "validating",
    "refused",
    "waiting",
    "measuring",
    "scored",
    "interrupted",
    "stopped",
    "failed",
    "again",
    "remeasuring",
    "kept",
    "struck",
    "voided",
]
"""What happens to an entry.

`interrupted` is the referee's own fault and counts as a try. `stopped` is a restart by an operator
and does not. `again`, `struck` and `voided` are an operator's decisions. `kept` ends another
measurement of a scored entry that gave nothing: the scores that it has stay. `struck` takes one of
several measurements out.
"""


class EntryState(Enum):
    """Where an entry is. RECEIVED, WAITING and AGAIN entries stand in a line.

    An entry that is SCORED, AGAIN or REMEASURING has a score, and leaves these states only by an
    operator's `voided`.
    """

    RECEIVED = "received"
    VALIDATING = "validating"
    REFUSED = "refused"
    WAITING = "waiting"
    MEASURING = "measuring"
    SCORED = "scored"
    AGAIN = "again"
    REMEASURING = "remeasuring"
    FAILED = "failed"
    VOID = "void"


BUSY = (EntryState.VALIDATING, EntryState.MEASURING, EntryState.REMEASURING)
"""The states in which a model runs; at most one entry is in one of them."""

LINED = (EntryState.RECEIVED, EntryState.WAITING, EntryState.AGAIN)
"""The states in which an entry stands in a line."""

STANDING = (*LINED, *BUSY)
"""The states of entries that something is still to be done for."""

HAS_SCORE = (EntryState.SCORED, EntryState.AGAIN, EntryState.REMEASURING)
"""The states of entries that have a score which counts."""

_OVER_MOVES: dict[EventKind, EntryState] = {
    "again": EntryState.RECEIVED,
    "voided": EntryState.VOID,
}
MOVES: dict[EntryState, dict[EventKind, EntryState]] = {
    EntryState.RECEIVED: {"validating": EntryState.VALIDATING, "voided": EntryState.VOID},
    EntryState.VALIDATING: {
        "refused": EntryState.REFUSED,
        "waiting": EntryState.WAITING,
        "interrupted": EntryState.RECEIVED,
        "stopped": EntryState.RECEIVED,
        "failed": EntryState.FAILED,
        "voided": EntryState.VOID,
    },
    EntryState.WAITING: {"measuring": EntryState.MEASURING, "voided": EntryState.VOID},
    EntryState.MEASURING: {
        "refused": EntryState.REFUSED,
        "scored": EntryState.SCORED,
        "interrupted": EntryState.WAITING,
        "stopped": EntryState.WAITING,
        "failed": EntryState.FAILED,
        "voided": EntryState.VOID,
    },
    EntryState.REFUSED: _OVER_MOVES,
    EntryState.SCORED: {
        "again": EntryState.AGAIN,
        "struck": EntryState.SCORED,
        "voided": EntryState.VOID,
    },
    EntryState.AGAIN: {"remeasuring": EntryState.REMEASURING, "voided": EntryState.VOID},
    EntryState.REMEASURING: {
        "scored": EntryState.SCORED,
        "kept": EntryState.SCORED,
        "interrupted": EntryState.AGAIN,
        "stopped": EntryState.AGAIN,
        "voided": EntryState.VOID,
    },
    EntryState.FAILED: _OVER_MOVES,
    EntryState.VOID: {},
}
"""The state after each event that may happen in a state; any other event is refused."""


class Lined(Protocol):
    """What the line must know of an entry; `tries` counts its interruptions."""

    @property
    def entry_id(self) -> int:
        """Return the entry's number."""

    @property
    def state(self) -> EntryState:
        """Return its state."""

    @property
    def tries(self) -> int:
        """Return how often it was interrupted since it came, or since an operator's `again`."""


E = TypeVar("E", bound=Lined)


def line(entries: Sequence[E], *states: EntryState) -> list[E]:
    """Return the entries in these states in the order in which their turns come.

    States come in the order in which they are given. Of one state earlier entries come first. But
    an entry that was interrupted goes behind those that were interrupted less often, so a model
    that brings the queue down delays the others only once.
    """
    standing = [entry for entry in entries if entry.state in states]
    return sorted(
        standing, key=lambda entry: (states.index(entry.state), entry.tries, entry.entry_id)
    )


def validation_line(entries: Sequence[E]) -> list[E]:
    """Return the line of those that wait for their validation."""
    return line(entries, EntryState.RECEIVED)


def measurement_line(entries: Sequence[E]) -> list[E]:
    """Return the line for measurements: first those without a score, then those that have one."""
    return line(entries, EntryState.WAITING, EntryState.AGAIN)


def next_entry(entries: Sequence[E], last: EntryState) -> E | None:
    """Return the entry whose turn it is, or None if nobody stands in a line.

    Validations and measurements take turns; `last` is the state of the entry that was served last.
    So a flood of new entries delays no measurement by more than one validation each, and the
    reverse.
    """
    lines = [measurement_line(entries), validation_line(entries)]
    if last is not EntryState.RECEIVED:
        lines.reverse()
    return next(iter([*lines[0], *lines[1]]), None)
