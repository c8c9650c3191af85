# SPDX-License-Identifier: Apache-2.0
"""The meter's error codes and its queue (pages App-1 to App-4, 6-31, 7-6)."""

from __future__ import annotations

TEXTS = {
    0: "No error",
    50: "*OPC/? exists in message",
    102: "Syntax error",
    103: "Invalid separator",
    104: "Data type error",
    108: "Parameter not allowed",
    109: "Missing parameter",
    111: "Header separator error",
    113: "Undefined header",
    114: "Header suffix out of range",
    120: "Numeric data error",
    123: "Exponent too large",
    131: "Invalid suffix",
    138: "Suffix not allowed",
    141: "Invalid character data",
    148: "Character data not allowed",
    150: "String data error",
    221: "Setting conflict",
    222: "Data out of range",
    224: "Illegal parameter value",
    225: "OverFlow",
    241: "Hardware missing",
    350: "Queue overflow",
    390: "Overrun error (only RS-232)",
    410: "Query INTERRUPTED",
    420: "Query UNTERMINATED",
    430: "Query DEADLOCKED",
    440: "Query UNTERMINATED after indefinite response",
    # For 812-886 the manual gives only groups. Users of real meters found what 813, 842, 844 and
    # 845 mean. The meanings of 841, 843, 846 and 847 are guesses.
    813: "Invalid operation",
    841: "Integrator execute error",
    842: "Integrator execute error",
    843: "Integrator execute error",
    844: "Integrator execute error",
    845: "Integrator execute error",
    846: "Integrator execute error",
    847: "Integrator execute error",
}

OPC_WITHIN = 50
"""The message about *OPC before the end of a program message, which is no error (App-3)."""

# The true length is not documented; 16 is a guess.
QUEUE_LENGTH = 16


class CommandRefused(Exception):
    """A command was refused: it does nothing and answers nothing; its code goes to the queue."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class ErrorQueue:
    """The queue of error codes, first in, first out; in a full queue the last is 350 (page 7-6)."""

    def __init__(self) -> None:
        self._codes: list[int] = []

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, code: int) -> None:
        """Append a code."""
        if len(self._codes) < QUEUE_LENGTH:
            self._codes.append(code)
        else:
            self._codes[-1] = 350

    def take(self) -> int:
        """Remove and return the oldest code, or 0."""
        return self._codes.pop(0) if self._codes else 0

    def clear(self) -> None:
        """Forget all codes."""
        self._codes.clear()


def event_bit(code: int) -> int:
    """Return a code's bit of the standard event register: CME, EXE, DDE or QYE (page 7-4).

    A message that is no error has none.
    """
    if code == OPC_WITHIN:
        return 0
    if 100 <= code < 200:
        return 1 << 5
    if code in (410, 420, 430, 440):
        return 1 << 2
    if 300 <= code < 400:
        return 1 << 3
    return 1 << 4
