# SPDX-License-Identifier: Apache-2.0
"""When the bytes of a request came, as far as the kernel tells."""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Iterable, Mapping

from referee.core.instant import Instant, shifted
from referee.service.setup.clock import elapsed_s

# Python has no name for it. It is 35 on all of Linux's machines but SPARC and PA-RISC, which then
# send no stamps.
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@ll")

STAMP_BYTES = socket.CMSG_SPACE(_TIMESPEC.size)
"""The room for a stamp beside the data that `recvmsg` returns."""

# No byte waits so long for a worker: one that hangs is replaced after ten seconds. A stamp that
# says more is of a clock that somebody has set since.
_AGE_MOST_S = 60.0

Ancillary = Iterable[tuple[int, int, bytes]]


def stamp_arrivals(listener: socket.socket) -> None:
    """Let the kernel stamp what comes over a listener's connections, which inherit that."""
    if sys.platform == "linux":
        listener.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)


def age_of(ancillary: Ancillary, wall_s: float) -> float:
    """Return how long ago the last segment of what was read came; 0 without a stamp to believe."""
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS:
            if len(content) == _TIMESPEC.size:
                seconds, nanoseconds = _TIMESPEC.unpack(content)
                age_s = float(wall_s - seconds - 1e-9 * nanoseconds)
                return age_s if abs(age_s) <= _AGE_MOST_S else 0.0
    return 0.0


def arrival_s(ancillary: Ancillary, missing_s: float) -> float:
    """Return when the bytes that were just read were there to be read, on the sessions' clock.

    `missing_s` is the last moment at which they were certainly not all there. The stamp is that of
    the last segment, and a sender may keep an earlier one back: then they were there only when that
    one came, which is after `missing_s`. The stamp is the wall clock's, which somebody may set: if
    that is seen, the bytes came now.
    """
    now_s, wall_s = elapsed_s(), time.time()
    return min(now_s, max(missing_s, now_s - age_of(ancillary, wall_s)))


def arrived(environ: Mapping[str, object], now: Instant) -> Instant:
    """Return when the last byte that was read of a request came; `now` if nobody noted it."""
    came_s: float | None = getattr(environ.get("gunicorn.socket"), "arrived_s", None)
    if came_s is None:
        return now
    return shifted(now, min(0.0, came_s - now.monotonic_s))
