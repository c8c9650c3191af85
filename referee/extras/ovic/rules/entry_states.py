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
    "voided",
]
"""What happens to an entry.

`interrupted` is the referee's own fault and counts as a try. `stopped` is a restart by an operator
and does not. `again` and `voided` are an operator's decisions.
"""


class EntryState(Enum):
    """Where an entry is. Only RECEIVED and WAITING entries stand in a line."""

    RECEIVED = "received"
    VALIDATING = "validating"
    REFUSED = "refused"
    WAITING = "waiting"
    MEASURING = "measuring"
    SCORED = "scored"
    FAILED = "failed"
    VOID = "void"


BUSY = (EntryState.VALIDATING, EntryState.MEASURING)
"""The states in which a model runs; at most one entry is in one of them."""

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
    EntryState.SCORED: _OVER_MOVES,
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


def line(entries: Sequence[E], state: EntryState) -> list[E]:
    """Return the entries in one state in the order in which their turns come.

    Earlier entries come first. But an entry that was interrupted goes behind those that were
    interrupted less often, so a model that brings the queue down delays the others only once.
    """
    standing = [entry for entry in entries if entry.state is state]
    return sorted(standing, key=lambda entry: (entry.tries, entry.entry_id))


def next_entry(entries: Sequence[E], last: EntryState) -> E | None:
    """Return the entry whose turn it is, or None if nobody stands in a line.

    Validations and measurements take turns; `last` is the line that was served last. So a flood
    of new entries delays no measurement by more than one validation each, and the reverse.
    """
    first, second = EntryState.WAITING, EntryState.RECEIVED
    if last is EntryState.WAITING:
        first, second = second, first
    return next(iter([*line(entries, first), *line(entries, second)]), None)
