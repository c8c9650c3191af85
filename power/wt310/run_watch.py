# SPDX-License-Identifier: Apache-2.0
"""Watch one run for silent errors of the energy: cut peaks, and ranges that change."""

from __future__ import annotations

import logging

from power.errors import MeterError
from power.meter import Flag, IntegrationState
from power.scpi import parse_flag, parse_register
from power.wt310 import settings
from power.wt310.link import Link
from power.wt310.output import Sample

_log = logging.getLogger(__name__)

# Bits of the condition register and, latched, of the extended event register (page 7-5).
_BITS = ((6, Flag.OVER_RANGE), (7, Flag.VOLTAGE_PEAK_OVER), (8, Flag.CURRENT_PEAK_OVER))


class RunWatch:
    """The watch over one run: it collects flags, and reads the ranges after the run.

    `end_ranges` are the voltage and the current range after the run, None before its end.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self.flags: frozenset[Flag] = frozenset()
        self.end_ranges: tuple[float | None, float | None] = (None, None)
        self.running = False

    def forget(self) -> None:
        """Clear the latched bits, so all later bits come from the new run."""
        self.take_events()
        self._link.events = 0
        self.flags = frozenset()
        self.end_ranges = (None, None)

    def take_events(self) -> int:
        """Read and keep the extended events; reading clears them in the meter."""
        events = parse_register(self._link.ask(":STATus:EESR?"))
        self._link.events |= events
        return events

    def note_sample(self, sample: Sample) -> None:
        """Note the flags of a sample, and whether the run has ended."""
        self.flags |= _flags_of(sample.condition | self._link.events)
        if sample.hyphen:
            self.flags |= {Flag.RANGE_SWITCHED}
        self.note_end(sample.state)

    def note_end(self, state: IntegrationState) -> None:
        """Read ranges and latched bits once after a run; after a failure the next call retries."""
        if not self.running or state is IntegrationState.START:
            return
        try:
            self.take_events()
            ends = [settings.read_range(self._link, name) for name in ("VOLTage", "CURRent")]
            automatic = [
                parse_flag(self._link.ask(f":INPut:{name}:AUTO?"))
                for name in ("VOLTage", "CURRent")
            ]
        except MeterError as error:
            _log.warning("the check after the run is still to be done: %s", error)
            return
        self.end_ranges = (ends[0][0], ends[1][0])
        if any(hyphen for _, hyphen in ends):
            self.flags |= {Flag.RANGE_SWITCHED}
        if any(automatic):
            self.flags |= {Flag.AUTO_RANGE}
        self.flags |= _flags_of(self._link.events)
        self.running = False


def _flags_of(register: int) -> frozenset[Flag]:
    return frozenset(flag for bit, flag in _BITS if register >> bit & 1)
