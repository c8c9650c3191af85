# SPDX-License-Identifier: Apache-2.0
"""Open a meter by its resource string: the one entry point for programs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from power.clock import real_elapsed_s
from power.errors import MeterError
from power.meter import Meter
from power.resource import parse_resource, split_resource
from power.transports.transport import Clock, LoggedTransport, Transport, UtcClock, WireLog, utc_now
from power.wt310.driver import WT310


def open_meter(
    resource: str,
    *,
    clock: Clock = real_elapsed_s,
    sleep: Callable[[float], None] = time.sleep,
    utc: UtcClock = utc_now,
    wire_log: Path | WireLog | None = None,
    timeout_s: float = 2.0,
    element: str | None = None,
) -> Meter:
    """Return a driver for the meter at a resource string: PyVISA's, or `KIND:ADDRESS?OPTIONS`.

    The kinds are those of `power.meters.kinds`. Behind PyVISA's string of a serial line stand its
    settings, as `ASRL/dev/ttyUSB0::INSTR@38400,7E1` (`power.resource`). Raises ValueError for a
    kind, an option or a setting that nobody knows.

    The first call opens the link. So a meter that is off raises `MeterError` there and not here.
    `wire_log` is a file of JSON lines, one for every message and reply; a file that cannot be
    written never fails the conversation. Programs that open one driver after the other pass the
    same `WireLog`, which counts the lines that it could not write. `timeout_s` is the wait for one
    reply. `element` is the expected element of a WT332 or WT333, or `SIGMA`; None takes what the
    meter sends.
    """
    other = parse_resource(resource)
    if other is not None:
        from power.meters.kinds import kind_named
        from power.sampled.source import Tools

        if element not in (None, "1"):
            raise ValueError(f"a {other.kind} has no element {element}; leave it out")
        log = WireLog(wire_log, clock, utc) if isinstance(wire_log, Path) else wire_log
        tools = Tools(clock, sleep, utc, log, timeout_s)
        return kind_named(other.kind).open(other, tools)
    return open_wt310(
        resource,
        clock=clock,
        sleep=sleep,
        utc=utc,
        wire_log=wire_log,
        timeout_s=timeout_s,
        element=element,
    )


def open_wt310(
    resource: str,
    *,
    clock: Clock = real_elapsed_s,
    sleep: Callable[[float], None] = time.sleep,
    utc: UtcClock = utc_now,
    wire_log: Path | WireLog | None = None,
    timeout_s: float = 2.0,
    element: str | None = None,
) -> WT310:
    """Return the driver of `open_meter` as its own type, which has more methods than `Meter`."""
    split_resource(resource)  # Settings that no line has are found before the first question.
    log = WireLog(wire_log, clock, utc) if isinstance(wire_log, Path) else wire_log

    def open_transport() -> Transport:
        from power.transports.visa import VisaTransport

        if log is None:
            return VisaTransport(resource)
        try:
            return LoggedTransport(VisaTransport(resource), log)
        except MeterError as error:
            log.note("failed", f"{type(error).__name__}: {error}")
            log.close()
            raise

    return WT310(
        open_transport, clock=clock, sleep=sleep, utc=utc, timeout_s=timeout_s, element=element
    )
