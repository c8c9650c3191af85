# SPDX-License-Identifier: Apache-2.0
"""The seam between the driver and a wire: write, read, clear, close."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

Clock = Callable[[], float]
UtcClock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the wall clock, aware of its zone."""
    return datetime.now(UTC)


class Transport(Protocol):
    """A link to one meter that carries messages there and replies back.

    `write`, `read` and `clear` raise `MeterSilent` when the time is over and `MeterUnreachable`
    when the link is gone. Not safe for several threads.
    """

    name: str

    def write(self, message: str) -> None:
        """Send one program message; the transport adds the terminator."""
        ...

    def read(self, timeout_s: float) -> bytes:
        """Return one whole reply, terminator included, within the time-out."""
        ...

    def clear(self) -> None:
        """Throw away what was sent or received and is not used yet, as far as the wire can."""
        ...

    def close(self) -> None:
        """Release the link; never raises, and may be called twice."""
        ...
