# SPDX-License-Identifier: Apache-2.0
"""Refuse to wipe what nobody has fetched: look at the integrator before anything resets it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol

from power.errors import MeterBusy, MeterHolds, MeterRefused, MeterReplyError
from power.logs.journal import Entry, Event, Held, Journal, ending, is_spare, unfinished
from power.meter import IntegrationState, Meter, Reading

_log = logging.getLogger(__name__)

# The longest update interval of older models; a meter with longer ones shows its values later.
_LONGEST_WAIT_S = 5.0


class WatchedMeter(Meter, Protocol):
    """A `Meter` that tells its integrator's state by itself."""

    def state(self) -> IntegrationState:
        """Return the integrator's state."""
        ...

    def await_update(self, update_interval_s: float) -> tuple[float, float]:
        """Wait for the next update of the values; raise `MeterReplyError` if there is none."""
        ...


def look(meter: WatchedMeter) -> Held | None:
    """Return what the integrator holds or counts, None if that is nothing; it resets nothing.

    A result of 0 s is nothing. If another program changed the meter's output items, they are set
    right, but only while no integration runs.
    """
    identity = meter.identify()
    if meter.state() is IntegrationState.RESET:
        return None
    try:
        reading = meter.read()
    except (MeterRefused, MeterReplyError):
        try:
            meter.arrange()
        except MeterBusy:
            return Held(identity, IntegrationState.START, None, None)
        reading = meter.read()
    if reading.state is IntegrationState.RESET:
        return None
    if reading.state is not IntegrationState.START and reading.integration_s == 0:
        reading = _fresh(meter)
        if reading.integration_s == 0:
            return None
    return Held.of(identity, reading)


def _fresh(meter: WatchedMeter) -> Reading:
    """End holds, and return what the integrator really holds: a held display shows the past."""
    meter.arrange()
    with suppress(MeterReplyError):  # without an update the values are those from before
        meter.await_update(_LONGEST_WAIT_S)
    return meter.read()


def require_spare(
    meter: WatchedMeter,
    journal: Journal,
    resource: str,
    *,
    discard: bool,
    utc: Callable[[], datetime],
) -> None:
    """Raise `MeterHolds` if a reset would wipe an energy that nobody has fetched.

    `discard` gives a finished result up by will, and notes that; it never ends an integration.
    """
    held = look(meter)
    if held is None:
        return
    entries = journal.entries()
    if held.state is not IntegrationState.START:
        if is_spare(held, entries):
            return
        held = Held.of(held.identity, _fresh(meter))
        if is_spare(held, entries):
            return
        if discard:
            _log.warning("given up by will: %s", held.words())
            try:
                journal.note(ending(Event.GIVEN_UP, held, resource, None, utc().isoformat()))
            except OSError as error:
                _log.warning("the journal of runs is not written: %s", error)
            return
    raise refusal(held, unfinished(entries, held.identity.serial), resource)


def refusal(held: Held, runs: Sequence[Entry], resource: str) -> MeterHolds:
    """Return the error for what a meter holds; `runs` are the unfinished runs on it."""
    rescue = f"python -m power rescue {resource}"
    mine = [entry for entry in runs if entry.resource == resource] or list(runs)
    owner = f"; it should be the run of {_shown(mine[0].log)}, begun {mine[0].utc}" if mine else ""
    if held.state is IntegrationState.START:
        return MeterHolds(
            f"the meter integrates: {held.words()} so far{owner}. To follow it to its end and keep "
            f"its energy: {rescue}"
        ).with_remedy(f"if nobody needs that energy, end it: {rescue} --stop")
    return MeterHolds(
        f"the meter holds {held.words()}, which no program on this computer has fetched{owner}. "
        f"To fetch and judge it: {rescue}"
    ).with_remedy("if nobody needs that energy, add --discard")


def _shown(log: str) -> str:
    """Return a log's path, shorter if it lies below the working directory."""
    path = Path(log)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else log
