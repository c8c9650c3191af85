# SPDX-License-Identifier: Apache-2.0
"""Ask before each reset: look at the integrator, and apply the rule of `power.wipe_rule`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

from power.errors import MeterBusy, MeterError, MeterRefused, MeterReplyError
from power.meter import NOTHING_HELD, HeldResult, Identity, IntegrationState, Leave, Meter, Reading
from power.wipe_rule import RunEvent, Runs, ending, leave_to_wipe, refusal, unfinished

_log = logging.getLogger(__name__)

# The longest update interval of older models; a meter with longer ones shows its values later.
_LONGEST_WAIT_S = 5.0


@runtime_checkable
class WatchedMeter(Meter, Protocol):
    """A `Meter` with an integrator of its own, which goes on when this program ends."""

    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        ...

    def charge_ah(self) -> float | None:
        """Return the charge of a result, None if the meter shows none."""
        ...

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Wait for the next update of the values; raise `MeterReplyError` if there is none."""
        ...


def look(meter: Meter) -> HeldResult | None:
    """Return what the integrator holds or counts, None if that is nothing; it resets nothing.

    A result of 0 s is nothing. A meter whose power this program integrates holds nothing. If
    another program changed the meter's output items, they are set right, but only while no
    integration runs.
    """
    if not isinstance(meter, WatchedMeter):
        return None
    identity = meter.identify()
    if meter.state() is IntegrationState.RESET:
        return None
    try:
        reading = meter.read()
    except (MeterRefused, MeterReplyError):
        try:
            meter.arrange()
        except MeterBusy:
            return HeldResult(identity, IntegrationState.START, None, None)
        reading = meter.read()
    if reading.state is not IntegrationState.START and reading.integration_s == 0:
        reading = _fresh(meter)
        if reading.integration_s == 0:
            return None
    return None if reading.state is IntegrationState.RESET else result_of(meter, identity, reading)


def result_of(meter: Meter, identity: Identity, reading: Reading) -> HeldResult:
    """Return what a reading shows, with the charge of a result if the meter tells it."""
    result = HeldResult.of(identity, reading)
    if result.state is not IntegrationState.START and isinstance(meter, WatchedMeter):
        with suppress(MeterError):
            return replace(result, charge_ah=meter.charge_ah())
    return result


def _fresh(meter: WatchedMeter) -> Reading:
    """End holds, and return what the integrator really holds: a held display shows the past."""
    meter.arrange()
    with suppress(MeterReplyError):  # without an update the values are those from before
        meter.await_update(_LONGEST_WAIT_S)
    return meter.read()


class Guard:
    """Who asks, before each reset of one meter, whether it may be wiped.

    `resource` is how people name the meter. `discard` gives one finished result up that is not
    spare, and notes that; it never ends an integration.
    """

    def __init__(
        self,
        meter: Meter,
        runs: Runs,
        resource: str,
        *,
        utc: Callable[[], datetime] = lambda: datetime.now(UTC),
        discard: bool = False,
    ) -> None:
        self._meter = meter
        self._runs = runs
        self._resource = resource
        self._utc = utc
        self._discard = discard

    def leave(self) -> Leave:
        """Return leave to reset the meter now.

        Raises `MeterHolds` if that would wipe an energy that nobody has fetched.
        """
        result, entries = look(self._meter), self._runs.entries()
        leave = leave_to_wipe(result, entries)
        if result is None or leave is not None:
            return leave or NOTHING_HELD
        if result.state is not IntegrationState.START:
            result = self._really(result)
            leave = leave_to_wipe(result, entries, discard=self._discard)
            if leave is not None:
                if self._discard and leave_to_wipe(result, entries) is None:
                    self._discard = False
                    _log.warning("given up by will: %s", result.words())
                    self._give_up(result)
                return leave
        raise refusal(result, unfinished(entries, result.identity.serial), self._resource)

    def give_up(self, run: str = "") -> None:
        """Note that nobody needs what the meter holds: the caller's own run, which it has ended."""
        result = look(self._meter)
        if result is not None and result.state is not IntegrationState.START:
            self._give_up(result, run)

    def _give_up(self, result: HeldResult, run: str = "") -> None:
        utc = self._utc().isoformat(timespec="seconds")
        try:
            self._runs.append(ending(RunEvent.GIVEN_UP, result, self._resource, run, utc))
        except OSError as error:
            _log.warning("the journal of runs is not written: %s", error)

    def _really(self, result: HeldResult) -> HeldResult:
        """Return what the integrator holds, whatever a held display shows."""
        if not isinstance(self._meter, WatchedMeter):
            return result
        return result_of(self._meter, result.identity, _fresh(self._meter))
