# SPDX-License-Identifier: Apache-2.0
"""What the meter sends: the items of a reading, and the signs of a run whose energy is wrong."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from power.errors import MeterError, MeterRefused, MeterReplyError
from power.meter import SIGMA, ElementValues, IntegrationState, MeterFlag, MeterSettings
from power.quantities import MOST, item_of, unit_of
from power.scpi import (
    Absent,
    decode,
    parse_fields,
    parse_flag,
    parse_floats,
    parse_register,
    parse_setting,
    parse_word,
    split_block,
    split_units,
    without_header,
)
from power.wt310 import settings
from power.wt310.link import ScpiLink

_log = logging.getLogger(__name__)

# One message, so values, state and condition belong to one moment. Real meters answer such
# compound queries; semicolons join the units (page 5-2).
READ_QUERY = ":NUMeric:NORMal:VALue?;:INTEGrate:STATe?;:STATus:CONDition?"
STATES = ("RESet", "STARt", "STOP", "TIMeup", "ERRor")
_MOST_ITEMS = 19
_MOST_SENT = _MOST_ITEMS + MOST
# The last item that a meter has (page 6-20); nobody's output goes so far.
_SPARE_ITEM = 255

_NEEDED = ("U", "I", "P", "WH", "TIME")
_RANGES = ("URANGE", "IRANGE")
# Functions of page 6-24: power factor, frequency of the voltage, and the positive and negative
# peaks (not peak to peak). They make a reply about 70 bytes longer: 12 ms at 57600 baud.
_QUALITIES = ("LAMBda", "FU", "UPPeak", "UMPeak", "IPPeak", "IMPeak")
_NO_ELEMENT = ("TIME", *_RANGES)
# Every spelling of a function that a meter may answer, and the one name that we use.
_NAMES = {
    **{name: name for name in (*_NEEDED, *_RANGES)},
    **{name.upper(): name.upper() for name in _QUALITIES},
    **{"URAN": "URANGE", "IRAN": "IRANGE", "LAMB": "LAMBDA"},
    **{"UPP": "UPPEAK", "UMP": "UMPEAK", "IPP": "IPPEAK", "IMP": "IMPEAK"},
}
_ELEMENTS = {"1": "1", "2": "2", "3": "3", "4": SIGMA, "SIGM": SIGMA, "SIGMA": SIGMA}
# Bits of the condition register and, latched, of the extended event register (page 7-5).
_BITS = (
    (6, MeterFlag.OVER_RANGE),
    (7, MeterFlag.VOLTAGE_PEAK_OVER),
    (8, MeterFlag.CURRENT_PEAK_OVER),
)
_BEGUN = 1 << 1  # latched when an integration begins

LATCHED = {1: "FALL", 2: "RISE", 7: "RISE", 8: "RISE", 9: "RISE"}
"""Which change of a condition is latched, by the number of its transition filter (page 6-31):
updates, the begin of an integration, and everything that goes over its range."""


@dataclass(frozen=True)
class ReadReply:
    """One reply to `READ_QUERY`, its values by item name.

    `hyphen` is true if a range had a hyphen, the mark of auto-range during the integration.
    """

    values: dict[str, float | Absent]
    state: IntegrationState
    condition: int
    hyphen: bool


def write_items(
    link: ScpiLink, element: str = "1", quantities: Sequence[str] = ()
) -> tuple[str, ...]:
    """Set ASCII output and the items of a reading, and return their names in order.

    Items that the firmware does not know are left out, except those that a reading needs, and the
    chosen `quantities`. With the sum of all elements the items P and WH of each element follow.
    """
    link.command(":NUMeric:FORMat ASCii")
    names: list[str] = []
    single = link.model.element_numbers if element == SIGMA else ()
    wanted = [
        *((name, element) for name in (*_NEEDED, *_RANGES, *_QUALITIES)),
        *((name, str(number)) for number in single for name in ("P", "WH")),
    ]
    for name, of in wanted:
        where = "" if name in _NO_ELEMENT else f",{'SIGMa' if of == SIGMA else of}"
        try:
            link.command(f":NUMeric:NORMal:ITEM{len(names) + 1} {name}{where}")
        except MeterRefused:
            if name in _NEEDED:
                raise
            continue
        names.append(name.upper() if of == element else f"{name}{of}")
    for name in quantities:
        wanted_item = item_of(name, "SIGMa" if element == SIGMA else element)
        try:
            link.command(f":NUMeric:NORMal:ITEM{len(names) + 1} {wanted_item}")
        except MeterRefused as error:
            raise MeterRefused(
                f"this meter does not show {name}: {error}. Harmonics need its option G5"
            ) from None
        names.append(name)
    link.command(f":NUMeric:NORMal:NUMber {len(names)}")
    items = read_items(link, element)
    if items != tuple(names):
        raise MeterRefused(
            f"the meter sends {', '.join(items)} instead of {', '.join(names)}: another program "
            "changes its output items; end that program"
        )
    return items


def read_charge(link: ScpiLink, element: str) -> float | None:
    """Return the charge of an element in Ah, None if the meter shows none; no reading has it."""
    item = f":NUMeric:NORMal:ITEM{_SPARE_ITEM}"
    link.command(f"{item} AH,{'SIGMa' if element == SIGMA else element}")
    (value,) = parse_fields(link.ask(f":NUMeric:NORMal:VALue? {_SPARE_ITEM}"), 1)
    link.command(f"{item} NONE")
    return value if isinstance(value, float) else None


def read_items(link: ScpiLink, element: str = "1") -> tuple[str, ...]:
    """Return the names of the items that the meter sends; refuse a list without all of ours.

    The items of a single element, beside the sum of all, are called P1, WH1, P2 and so on.
    """
    return _names_of(_sent(link), element)


def read_any_items(link: ScpiLink) -> tuple[str, tuple[str, ...]]:
    """Return the element whose values the meter sends, and the names as in `read_items`."""
    sent = _sent(link)
    element = next((where for name, where in sent if name == "U"), "1")
    return element, _names_of(sent, element)


def _sent(link: ScpiLink) -> list[tuple[str, str]]:
    """Return function and element of each item that the meter sends, up to our longest list."""
    reply = without_header(link.ask(":NUMeric:NORMal:NUMber?"))
    # ALL means 255 items (page 6-19). We never set so many.
    count = 255 if reply.upper() == "ALL" else round(parse_setting(reply))
    items = [_item(link, number) for number in range(1, min(count, _MOST_SENT) + 1)]
    return items + [("", "")] * (count - len(items))


def _names_of(sent: Sequence[tuple[str, str]], element: str) -> tuple[str, ...]:
    names = tuple(_name(item, where, element) for item, where in sent)
    if any(name not in names for name in _NEEDED) or len(names) > _MOST_SENT:
        raise MeterRefused(
            f"the meter's {len(names)} output items are not those of a reading; they can be set "
            "right when no integration runs"
        )
    return names


def take_apart(raw: bytes, names: tuple[str, ...]) -> ReadReply:
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
    return ReadReply(
        named,
        IntegrationState(parse_word(units[1], STATES)),
        parse_register(units[2]),
        hyphen,
    )


def _without_hyphens(data: str, names: tuple[str, ...]) -> tuple[str, bool]:
    """Remove hyphens anywhere in the range fields, since their place is not documented."""
    fields = data.split(",")
    any_hyphens = False
    for index, name in enumerate(names[: len(fields)]):
        if name in _RANGES:
            bare = fields[index].strip().strip("-")
            any_hyphens = any_hyphens or bare != fields[index].strip()
            fields[index] = bare
    return ",".join(fields), any_hyphens


def qualities(sample: ReadReply) -> dict[str, float | Absent]:
    """Return power factor, frequency and peaks of a sample, as far as the meter sends them.

    A peak is the larger of the positive and the negative one, without sign.
    """
    quality: dict[str, float | Absent] = {}
    for item, name in (("LAMBDA", "power_factor"), ("FU", "frequency_hz")):
        if item in sample.values:
            quality[name] = sample.values[item]
    for first, name in (("U", "voltage_peak_v"), ("I", "current_peak_a")):
        pair = [
            sample.values[item]
            for item in (f"{first}PPEAK", f"{first}MPEAK")
            if item in sample.values
        ]
        sizes = [abs(value) for value in pair if isinstance(value, float)]
        if sizes:
            quality[name] = max(sizes)
        elif pair:
            quality[name] = pair[0]
    return quality


def quantities(sample: ReadReply) -> dict[str, float | None]:
    """Return the chosen quantities of a sample; None where the meter had no number."""
    return {
        name: value if isinstance(value, float) else None
        for name, value in sample.values.items()
        if unit_of(name) is not None
    }


def elements(sample: ReadReply) -> tuple[ElementValues, ...]:
    """Return power and energy of the single elements in a sample of the sum of all."""

    def number(name: str) -> float | None:
        value = sample.values.get(name)
        return value if isinstance(value, float) else None

    return tuple(
        ElementValues(element, number(f"P{element}"), number(f"WH{element}"))
        for element in (1, 2, 3)
        if f"P{element}" in sample.values
    )


def _item(link: ScpiLink, number: int) -> tuple[str, str]:
    """Return an item's function and its element, "" for a function without one."""
    fields = without_header(link.ask(f":NUMeric:NORMal:ITEM{number}?")).upper().split(",")
    name = _NAMES.get(fields[0], fields[0])
    if len(fields) == 3 and fields[2].isdecimal():
        return f"{name}{fields[2]}", _ELEMENTS.get(fields[1], fields[1])
    if len(fields) > 2:
        return ",".join(fields), ""
    if name in _NO_ELEMENT and not fields[1:]:
        return name, ""
    # Element 1 is left out where a meter has no other (page 6-20).
    return name, _ELEMENTS.get(fields[1] if fields[1:] else "1", fields[-1])


def _name(item: str, where: str, measured: str) -> str:
    """Return an item's name; one of an unexpected element gets a name that never matches."""
    if where in ("", measured):
        return item
    single = measured == SIGMA and where in ("1", "2", "3") and item in ("P", "WH")
    return f"{item}{where}" if single else f"{item},{where}"


class RunWatch:
    """The watch over one run for silent errors: it collects flags, and reads the ranges at the end.

    `end_ranges` are the voltage and the current range after the run, None before its end.
    `prepared` are the settings before the run, None if another program prepared it.
    """

    def __init__(self, link: ScpiLink) -> None:
        self._link = link
        self.flags: frozenset[MeterFlag] = frozenset()
        self.end_ranges: tuple[float | None, float | None] = (None, None)
        self.running = False
        self.prepared: MeterSettings | None = None
        self._begun = False

    def forget(self) -> None:
        """Clear the latched bits, so all later bits come from the new run."""
        self.take_events()
        self._link.events = 0
        self._begun = False
        self.flags = frozenset()
        self.end_ranges = (None, None)

    def arrange_events(self) -> None:
        """Let the event register show what `LATCHED` names."""
        for number, change in LATCHED.items():
            self._link.command(f":STATus:FILTer{number} {change}")

    def show_updates(self) -> None:
        """Let the event register show updates: a meter that was just switched on does not.

        It changes nothing that is measured, so it is allowed during an integration.
        """
        self._link.tell(f":STATus:FILTer1 {LATCHED[1]}")

    def note_start(self) -> None:
        """Take the begin of our own integration out of the events, so another one shows.

        If the meter does not answer now, the first begin that it tells counts as ours.
        """
        self.running = True
        with suppress(MeterError):
            self.take_events()
            self._restarted()

    def take_up(self) -> None:
        """Expect that the begin of a running integration was told to whoever started it."""
        self._restarted()
        self._begun = True

    def take_events(self) -> int:
        """Read and keep the extended events; reading clears them in the meter."""
        events = parse_register(self._link.ask(":STATus:EESR?"))
        self._link.events |= events
        return events

    def note_sample(self, sample: ReadReply) -> None:
        """Note the flags of a sample, and whether the run has ended."""
        self.flags |= self._events_flags() | _flags_of(sample.condition)
        if sample.hyphen:
            self.flags |= {MeterFlag.RANGE_SWITCHED}
        self.note_end(sample.state)

    def note_end(self, state: IntegrationState) -> None:
        """Read ranges, latched bits and settings once after a run; a failure is tried again.

        Until then the flags have `UNCHECKED`.
        """
        if not self.running or state is IntegrationState.START:
            return
        self.flags |= {MeterFlag.UNCHECKED}
        try:
            self._check_end()
        except MeterError as error:
            _log.warning("the check after the run is still to be done: %s", error)
            return
        self.flags -= {MeterFlag.UNCHECKED}
        self.running = False

    def _check_end(self) -> None:
        self.take_events()
        ends = [settings.read_range(self._link, name) for name in ("VOLTage", "CURRent")]
        automatic = [
            parse_flag(self._link.ask(f":INPut:{name}:AUTO?")) for name in ("VOLTage", "CURRent")
        ]
        flags = self._events_flags()
        if any(hyphen for _, hyphen in ends):
            flags |= {MeterFlag.RANGE_SWITCHED}
        if any(automatic):
            flags |= {MeterFlag.AUTO_RANGE}
        self.end_ranges = (ends[0][0], ends[1][0])
        self.flags |= flags | settings.changed_flags(self._link, self.prepared)

    def _events_flags(self) -> frozenset[MeterFlag]:
        again = {MeterFlag.RESTARTED} if self._restarted() else set()
        return _flags_of(self._link.events) | again

    def _restarted(self) -> bool:
        """Tell whether an integration began after our own; the first begin is our own."""
        begun = bool(self._link.events & _BEGUN)
        if begun and not self._begun:
            self._begun = True
            self._link.events &= ~_BEGUN
            return False
        return begun


def _flags_of(register: int) -> frozenset[MeterFlag]:
    return frozenset(flag for bit, flag in _BITS if register >> bit & 1)
