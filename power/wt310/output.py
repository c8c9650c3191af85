# SPDX-License-Identifier: Apache-2.0
"""What the meter sends: the items of a reading, and the signs of a run whose energy is wrong."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from power.errors import MeterError, MeterRefused, MeterReplyError
from power.meter import Flag, IntegrationState
from power.scpi import (
    Absent,
    decode,
    parse_fields,
    parse_flag,
    parse_floats,
    parse_number,
    parse_register,
    parse_setting,
    parse_word,
    split_block,
    split_units,
    without_header,
)
from power.wt310 import settings
from power.wt310.link import Link

_log = logging.getLogger(__name__)

# One message, so values, state and condition belong to one moment. Real meters answer such
# compound queries; semicolons join the units (page 5-2).
READ_QUERY = ":NUMeric:NORMal:VALue?;:INTEGrate:STATe?;:STATus:CONDition?"
STATES = ("RESet", "STARt", "STOP", "TIMeup", "ERRor")

_NEEDED = ("U", "I", "P", "WH", "TIME")
_RANGES = ("URANGE", "IRANGE")
# Functions of page 6-24: positive and negative peaks, not peak to peak.
_PEAKS = ("UPPeak", "UMPeak", "IPPeak", "IMPeak")
_FIRST_PEAK = 11
_LONG_NAMES = {"URAN": "URANGE", "IRAN": "IRANGE"}
# Bits of the condition register and, latched, of the extended event register (page 7-5).
_BITS = ((6, Flag.OVER_RANGE), (7, Flag.VOLTAGE_PEAK_OVER), (8, Flag.CURRENT_PEAK_OVER))


@dataclass(frozen=True)
class Sample:
    """One reply to `READ_QUERY`, its values by item name.

    `hyphen` is true if a range had a hyphen, the mark of auto-range during the integration.
    """

    values: dict[str, float | Absent]
    state: IntegrationState
    condition: int
    hyphen: bool


def write_items(link: Link) -> tuple[str, ...]:
    """Set ASCII output and the items of a reading, and return their names in order.

    If the firmware does not know the range items, they are left out.
    """
    link.command(":NUMeric:FORMat ASCii")
    names = list(_NEEDED)
    for number, name in enumerate(_NEEDED, start=1):
        link.command(f":NUMeric:NORMal:ITEM{number} {name}" + ("" if name == "TIME" else ",1"))
    for name in _RANGES:
        try:
            link.command(f":NUMeric:NORMal:ITEM{len(names) + 1} {name}")
        except MeterRefused:
            continue
        names.append(name)
    link.command(f":NUMeric:NORMal:NUMber {len(names)}")
    found = read_items(link)
    if found != tuple(names):
        raise MeterRefused(
            f"the meter sends {', '.join(found)} instead of {', '.join(names)}: another program "
            "changes its output items; end that program"
        )
    return found


def read_items(link: Link) -> tuple[str, ...]:
    """Return the names of the items that the meter sends; refuse a list without all of ours."""
    reply = without_header(link.ask(":NUMeric:NORMal:NUMber?"))
    # ALL means 255 items (page 6-19). We never set so many.
    count = 255 if reply.upper() == "ALL" else round(parse_setting(reply))
    names = tuple(_item(link, number) for number in range(1, min(count, len(_NEEDED) + 2) + 1))
    missing = [name for name in _NEEDED if name not in names]
    if missing or count > len(names):
        raise MeterRefused(
            f"the meter's {count} output items are not those of a reading; they can be set right "
            "when no integration runs"
        )
    return names


def take_apart(raw: bytes, names: tuple[str, ...]) -> Sample:
    """Return the sample in a reply to `READ_QUERY`; its values may be text or a block."""
    values: list[float | Absent]
    hyphen = False
    if raw[:1] == b"#":
        block, rest = split_block(raw)
        values = parse_floats(block, len(names))
        units = split_units(decode(rest))
    else:
        units = split_units(decode(raw))
        data, hyphen = _without_hyphens(units[0], names)
        values = parse_fields(data, len(names))
    if len(units) != 3:
        raise MeterReplyError(f"the meter gave {len(units)} answers to three questions")
    named = dict(zip(names, values, strict=True))
    for name in _RANGES:
        value = named.get(name)
        if isinstance(value, float) and value < 0:
            named[name], hyphen = -value, True
    return Sample(
        named,
        IntegrationState(parse_word(units[1], STATES)),
        parse_register(units[2]),
        hyphen,
    )


def _without_hyphens(data: str, names: tuple[str, ...]) -> tuple[str, bool]:
    """Remove hyphens anywhere in the range fields, since their place is not documented."""
    fields = data.split(",")
    found = False
    for index, name in enumerate(names[: len(fields)]):
        if name in _RANGES:
            bare = fields[index].strip().strip("-")
            found = found or bare != fields[index].strip()
            fields[index] = bare
    return ",".join(fields), found


def write_peak_items(link: Link) -> None:
    """Set the peaks as items after those of a reading; readings do not send them."""
    for number, name in enumerate(_PEAKS, start=_FIRST_PEAK):
        link.command(f":NUMeric:NORMal:ITEM{number} {name},1")


def read_peaks(link: Link) -> tuple[float, float]:
    """Return the largest peaks of voltage and current; a missing peak counts as 0."""
    numbers = range(_FIRST_PEAK, _FIRST_PEAK + len(_PEAKS))
    reply = link.ask(";".join(f":NUMeric:NORMal:VALue? {number}" for number in numbers))
    units = split_units(reply)
    if len(units) != len(_PEAKS):
        raise MeterReplyError(f"the meter gave {len(units)} answers to {len(_PEAKS)} questions")
    sizes = [0.0 if isinstance(value, Absent) else abs(value) for value in map(parse_number, units)]
    return max(sizes[:2]), max(sizes[2:])


def _item(link: Link, number: int) -> str:
    """Return an item's function; an element other than 1 stays in the text, so it never matches."""
    fields = without_header(link.ask(f":NUMeric:NORMal:ITEM{number}?")).upper().split(",")
    name = _LONG_NAMES.get(fields[0], fields[0])
    return name if fields[1:] in ([], ["1"]) else ",".join(fields)


class RunWatch:
    """The watch over one run for silent errors: it collects flags, and reads the ranges at the end.

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
