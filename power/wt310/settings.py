# SPDX-License-Identifier: Apache-2.0
"""Every setting that an integration depends on: write it, and read it back."""

from __future__ import annotations

from dataclasses import replace

from power.errors import MeterRefused
from power.meter import InputMode, MeterFlag, MeterSettings
from power.scpi import parse_flag, parse_setting, parse_timer, parse_word, without_header
from power.wt310.link import LANGUAGES, ScpiLink
from power.wt310.models import same_number

HOLDS = (":HOLD", ":NUMeric:HOLD")
"""What freezes the values that the meter sends (pages 6-11 and 6-23)."""

# Settings of earlier users that change power or energy without a trace (pages 6-11 to 6-23).
_LEFTOVERS = (
    *HOLDS,
    ":MEASure:AVERaging:STATe",
    ":MEASure:MHOLd",
    ":INPut:SCALing:STATe",
)


def write(link: ScpiLink, settings: MeterSettings) -> None:
    """Write all settings, and check the error queue after each.

    The integrator must be RESET, or the meter answers error 813. The crest factor comes first,
    because the ranges depend on it. AUTO OFF comes before each range, because no manual says that
    setting a range ends auto-range.
    """
    link.command(":COMMunicate:REMote ON")
    for leftover in _LEFTOVERS:
        link.command(f"{leftover} OFF")
    link.command(f":INPut:MODE {_MODE_WORDS[settings.mode]}")
    link.command(f":INPut:CFACtor {settings.crest_factor}")
    link.command(f":INPut:FILTer:LINE {_switch(settings.line_filter)}")
    link.command(f":INPut:FILTer:FREQuency {_switch(settings.frequency_filter)}")
    for quantity, unit, value in (
        ("VOLTage", "V", settings.voltage_range_v),
        ("CURRent", "A", settings.current_range_a),
    ):
        link.command(f":INPut:{quantity}:AUTO {_switch(value is None)}")
        if value is not None:
            link.command(f":INPut:{quantity}:RANGe {value:g}{unit}")
    link.command(f":RATE {_interval(settings.update_interval_s)}")
    link.command(":INTEGrate:MODE NORMal")
    hours, rest = divmod(int(settings.timer_s), 3600)
    link.command(f":INTEGrate:TIMer {hours},{rest // 60},{rest % 60}")


def read_back(link: ScpiLink, element: str = "1") -> MeterSettings:
    """Return the settings that the meter has now.

    The element is a choice of the output items and no setting of the meter, so it is passed in.
    Single-element models have one wiring, so they are not asked for it.
    """
    voltage_auto = parse_flag(link.ask(":INPut:VOLTage:AUTO?"))
    current_auto = parse_flag(link.ask(":INPut:CURRent:AUTO?"))
    mode = parse_word(link.ask(":INPut:MODE?"), ("RMS", "VMEan", "DC"))
    return MeterSettings(
        timer_s=parse_timer(link.ask(":INTEGrate:TIMer?")),
        update_interval_s=read_interval(link),
        mode=InputMode(mode),
        voltage_range_v=None if voltage_auto else read_range(link, "VOLTage")[0],
        current_range_a=None if current_auto else read_range(link, "CURRent")[0],
        crest_factor=_crest_factor(link.ask(":INPut:CFACtor?")),
        line_filter=parse_flag(link.ask(":INPut:FILTer:LINE?")),
        frequency_filter=parse_flag(link.ask(":INPut:FILTer:FREQuency?")),
        element=element,
        wiring=read_wiring(link) if link.model.elements > 1 else None,
    )


def read_wiring(link: ScpiLink) -> str:
    """Return the wiring system, which somebody chose at the panel (page 6-15)."""
    return parse_word(link.ask(":INPut:WIRing?"), ("P1W2", "P1W3", "P3W3", "P3W4", "V3A3"))


def read_range(link: ScpiLink, quantity: str) -> tuple[float, bool]:
    """Return the range of `VOLTage` or `CURRent` in V or A, and whether it has a hyphen.

    Auto-range adds a hyphen when it changes a range during an integration (IM WT310E-01EN, page
    5-12). The hyphen does not change the number.
    """
    reply = without_header(link.ask(f":INPut:{quantity}:RANGe?")).strip()
    bare = reply.strip("-").strip()
    return parse_setting(bare), bare != reply


def read_interval(link: ScpiLink) -> float:
    """Return the update interval in seconds; refuse RATE AUTO, which has no fixed interval."""
    reply = link.ask(":RATE?")
    if without_header(reply).upper() == "AUTO":
        raise MeterRefused("the meter is on automatic update rate; set a fixed one")
    return parse_setting(reply)


def compare(wanted: MeterSettings, found: MeterSettings) -> None:
    """Raise `MeterRefused` for the first setting that reads back differently."""
    for name in MeterSettings.__dataclass_fields__:
        asked, got = getattr(wanted, name), getattr(found, name)
        if name == "wiring" and asked is None:
            continue
        if asked != got and not (_is_number(asked) and _is_number(got) and same_number(asked, got)):
            raise MeterRefused(
                f"the meter kept {name} at {got} instead of {asked}; choose a value that this "
                "model has, and prepare it again"
            )


def check_leftovers(link: ScpiLink) -> None:
    """Raise `MeterRefused` when hold, averaging, MAX hold or scaling cannot be switched off."""
    for leftover in _LEFTOVERS:
        if parse_flag(link.ask(f"{leftover}?")):
            raise MeterRefused(f"the meter still has {leftover} on; switch it off at its panel")
    if parse_word(link.ask(":INTEGrate:MODE?"), ("NORMal", "CONTinuous")) != "NORMAL":
        raise MeterRefused("the meter stays in continuous integration; choose normal at its panel")


# Settings that change power or energy, found on after a run (pages 6-15 and 6-18).
_SWITCHED_ON = (
    (":INPut:SCALing:STATe", MeterFlag.SCALING),
    (":MEASure:AVERaging:STATe", MeterFlag.AVERAGING),
    (":MEASure:MHOLd", MeterFlag.MAX_HOLD),
)


def changed_flags(link: ScpiLink, prepared: MeterSettings | None) -> frozenset[MeterFlag]:
    """Return what somebody changed during a run: scaling, averaging, MAX hold, language, others.

    `prepared` are the settings before the run; with None the others are not compared. Ranges and
    auto-range have flags of their own.
    """
    flags = {flag for name, flag in _SWITCHED_ON if parse_flag(link.ask(f"{name}?"))}
    if parse_word(link.ask(":SYSTem:COMMunicate:COMMand?"), LANGUAGES) == "WT200":
        flags.add(MeterFlag.OTHER_LANGUAGE)
    if prepared is not None:
        now = read_back(link, prepared.element)
        same = replace(
            now,
            voltage_range_v=prepared.voltage_range_v,
            current_range_a=prepared.current_range_a,
            quantities=prepared.quantities,
            both_ways=prepared.both_ways,
        )
        if same != prepared:
            flags.add(MeterFlag.SETTINGS_CHANGED)
    return frozenset(flags)


_MODE_WORDS = {InputMode.RMS: "RMS", InputMode.VMEAN: "VMEan", InputMode.DC: "DC"}


def _switch(on: bool) -> str:
    return "ON" if on else "OFF"


def _interval(seconds: float) -> str:
    return f"{round(1000 * seconds)}MS" if seconds < 1 else f"{seconds:g}S"


def _crest_factor(reply: str) -> int:
    # A6 is crest factor 6 with wider auto-range (page 6-12); prepare writes only 3 or 6.
    return 6 if without_header(reply).upper() == "A6" else round(parse_setting(reply))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))
