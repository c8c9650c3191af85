# SPDX-License-Identifier: Apache-2.0
"""A look at an idle meter: identity, error queue and clock; it changes nothing that is measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from power.errors import MeterError
from power.meter import Identity, Meter, MeterSettings
from referee.service.preflight.finding import CheckResult, fail, ok, warn
from referee.service.preflight.lane_rules import identity_text, with_address
from referee.service.setup.lane_words import of_lane

# The watch lasts two updates at least, and three seconds if updates are short.
_UPDATES_LEAST = 2
_WATCH_S = 3.0
_UPDATES_MOST = 30
# The desk waits this long for one look at most, and an update comes within two intervals.
_INTERVAL_MOST_S = 5.0
# The meter's own clock is good to 0.02 % (IM WT310E); a laptop's to 0.01 %. What is left is the
# error of seeing an update.
_RATE_MOST = 0.01


class _QueuedError(Protocol):
    """An entry of a meter's error queue."""

    @property
    def code(self) -> int: ...

    @property
    def text(self) -> str: ...


@runtime_checkable
class _Inspected(Protocol):
    """A meter that tells more than every meter must: errors, settings, and when it updates."""

    def pending_errors(self) -> Sequence[_QueuedError]: ...

    def settings(self) -> MeterSettings: ...

    def await_update(self, update_interval_s: float) -> tuple[float, float]: ...


@dataclass(frozen=True)
class UpdateClock:
    """The time between two updates by our clock, with its largest error, and as it should be."""

    nominal_s: float
    measured_s: float
    error_s: float


@dataclass(frozen=True)
class MeterLook:
    """What a meter told; None for what this kind of meter does not tell."""

    identity: Identity
    errors: tuple[str, ...] | None
    clock: UpdateClock | None = None
    clock_fault: str = ""


def look_at_meter(meter: Meter) -> MeterLook:
    """Ask an idle meter; takes some seconds. Raises `MeterError` if it does not answer.

    Without a session a meter keeps the update interval that somebody set last, so it is asked.
    """
    identity = meter.identify()
    if not isinstance(meter, _Inspected):
        return MeterLook(identity, None)
    errors = tuple(f'{error.code} "{error.text}"' for error in meter.pending_errors())
    try:
        interval_s = meter.settings().update_interval_s
        if interval_s > _INTERVAL_MOST_S:
            fault = f"it updates each {interval_s:g} s, which is too seldom to check its clock"
            return MeterLook(identity, errors, clock_fault=fault)
        updates = max(_UPDATES_LEAST, min(_UPDATES_MOST, math.ceil(_WATCH_S / interval_s)))
        seen = [meter.await_update(interval_s) for _ in range(updates + 1)]
    except MeterError as error:
        return MeterLook(identity, errors, clock_fault=str(error))
    return MeterLook(identity, errors, _measured(seen, interval_s))


def _measured(seen: Sequence[tuple[float, float]], nominal_s: float) -> UpdateClock:
    """Return the meter's interval from the times of some updates, each with its largest error.

    A missed update would look like a slow clock, so intervals are counted.
    """
    (first_s, first_error_s), (last_s, last_error_s) = seen[0], seen[-1]
    passed = max(1, round((last_s - first_s) / nominal_s))
    error_s = (first_error_s + last_error_s) / passed
    return UpdateClock(nominal_s, (last_s - first_s) / passed, error_s)


def look_findings(look: MeterLook, lane: str) -> list[CheckResult]:
    """Judge what the meter of a lane told; `lane` is the lane's name."""
    return [
        replace(
            ok("meter", of_lane("identity", lane), identity_text(look.identity)),
            meter=look.identity,
        ),
        _errors(look, of_lane("error queue", lane)),
        _clock(look, of_lane("clock", lane)),
    ]


def unanswered(error: Exception, resource: str, lane: str) -> Iterator[CheckResult]:
    """Judge a meter that did not answer."""
    remedy = "Look at its cable and its power. Try: python -m power identify"
    yield fail("meter", of_lane("identity", lane), with_address(resource, str(error)), remedy)
    for name in ("error queue", "clock"):
        item = of_lane(name, lane)
        yield warn("meter", item, "not checked: the meter did not answer", remedy)


def _errors(look: MeterLook, item: str) -> CheckResult:
    if look.errors is None:
        return ok("meter", item, "this meter tells of none")
    if look.errors:
        listed = ", ".join(look.errors)
        remedy = (
            "They are from before, and are read now. If they come again, look up their numbers in "
            "the meter's manual, and run: python -m power selftest"
        )
        return warn("meter", item, f"held {len(look.errors)}: {listed}", remedy)
    return ok("meter", item, "empty")


def _clock(look: MeterLook, item: str) -> CheckResult:
    if look.clock_fault:
        remedy = (
            "Release HOLD at the meter's panel, choose an update interval of 5 s or less there, "
            "then check again."
        )
        return fail("meter", item, look.clock_fault, remedy)
    clock = look.clock
    if clock is None:
        return ok("meter", item, "this meter does not tell when it updates")
    text = f"an update each {clock.measured_s:.3f} s (± {clock.error_s:.3f} s)"
    off = abs(clock.measured_s / clock.nominal_s - 1.0)
    if off > _RATE_MOST + clock.error_s / clock.nominal_s:
        remedy = "Compare its integration time with a stop-watch, and have the meter checked."
        return warn("meter", item, f"{text}; {clock.nominal_s:g} s was expected", remedy)
    return ok("meter", item, text)
