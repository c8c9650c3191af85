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
    """A link to one meter; it carries messages to the meter and replies back.

    `write`, `read` and `clear` raise `MeterSilent` after the time-out and `MeterUnreachable` when
    the link is lost. Only one thread may use a transport.
    """

    name: str

    def write(self, message: str) -> None:
        """Send one program message; the transport adds the terminator."""
        ...

    def read(self, timeout_s: float) -> bytes:
        """Return one whole reply, terminator included, within the time-out."""
        ...

    def clear(self) -> None:
        """Discard unread messages and replies, as far as the wire can."""
        ...

    def close(self) -> None:
        """Release the link; never raises, and may be called twice."""
        ...
