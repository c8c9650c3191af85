# SPDX-License-Identifier: Apache-2.0
"""`python -m power range`: watch a device at work and propose fixed ranges."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from power.bench.ranging import Extremes, RangeChoice, extremes_of, propose
from power.clock import real_elapsed_s
from power.commands.as_found import as_found
from power.commands.options import (
    add_condition_options,
    add_discard_option,
    add_element_option,
    add_meter_options,
    chosen_meter,
    conditions_of,
    guard_of,
)
from power.commands.output import print_json, say
from power.commands.seconds import some_seconds
from power.errors import MeterRefused
from power.follow import Schedule
from power.meter import InputMode, Leave, MeterFlag, MeterSettings, Reading
from power.wt310.driver import WT310

if TYPE_CHECKING:
    from power.commands.progress import Draw

_DESCRIPTION = """\
Watch a device at its hardest work on auto-range, and propose fixed ranges with the uncertainty of
each. The smallest ranges that measure rms values and peaks come first. Official runs use fixed
ranges. While auto-range switches, the meter measures nothing; a range that is too small cuts
crests. Where it switched, the device is watched again for as long, on fixed ranges. It resets the
meter, so it is refused while an integration runs.
Exit code 1 when no range fits.

  python -m power range TCPIP::192.168.1.5::INSTR --seconds 30
"""
_UPDATE_S = 0.5
_OVER = {MeterFlag.OVER_RANGE, MeterFlag.VOLTAGE_PEAK_OVER, MeterFlag.CURRENT_PEAK_OVER}


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "range",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_meter_options(parser)
    parser.add_argument(
        "--seconds",
        type=some_seconds,
        default=30.0,
        metavar="DURATION",
        help="how long to watch (default: 30)",
    )
    parser.add_argument(
        "--mode", choices=[mode.value for mode in InputMode], default="RMS", help="input mode"
    )
    parser.add_argument(
        "--crest-factor", type=int, choices=(3, 6), default=3, help="3 or 6 (default: 3)"
    )
    add_discard_option(parser)
    add_element_option(parser)
    add_condition_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the proposal, the alternatives, and the uncertainty of each."""
    from power.commands.progress import progress_line
    from power.energy.uncertainty import Measuring

    mode = InputMode(options.mode)
    again = _Watched()
    with chosen_meter(options) as meter, progress_line(options.seconds) as draw:
        guard = guard_of(meter, options)
        leave = guard.leave()
        settings = MeterSettings(
            timer_s=0,
            update_interval_s=_UPDATE_S,
            mode=mode,
            crest_factor=options.crest_factor,
            element=options.element,
        )
        with as_found(meter, guard):
            settings = meter.prepare(settings, leave)
            watched = _watch(meter, settings, options.seconds, draw)
            if watched.blank:
                say(
                    "auto-range switched, and measures nothing meanwhile; watching again on fixed "
                    "ranges"
                )
                again = _watch_fixed(meter, settings, leave, watched, options.seconds, draw)
            model, identity = meter.model, meter.identify()
    readings = [*watched.readings, *again.readings]
    _require_peaks(readings)
    choices = propose(
        readings,
        model.voltage_ranges(options.crest_factor),
        model.current_ranges(options.crest_factor),
        Measuring(identity, settings, conditions_of(options)),
        even=again.readings,
    )
    seen = extremes_of(readings, again.readings)
    if options.json:
        print_json(
            {
                "seen": vars(seen),
                "readings": len(readings),
                "readings_without_values": watched.blank,
                "readings_on_fixed_ranges": len(again.readings),
                "choices": [vars(choice) for choice in choices],
            }
        )
    else:
        _print(seen, choices)
        if watched.blank:
            print(_note(watched, again))
    return 0 if choices else 1


@dataclass
class _Watched:
    """What a device showed: the readings with data, the number of those without, and the ranges.

    `volts` and `amperes` are the largest ranges that the meter was on. `cut` tells whether
    something was over its range there.
    """

    readings: list[Reading] = field(default_factory=list)
    blank: int = 0
    volts: float = 0.0
    amperes: float = 0.0
    cut: bool = False

    def take(self, reading: Reading) -> None:
        """Note a reading."""
        self.volts = max(self.volts, reading.voltage_range_v or 0.0)
        self.amperes = max(self.amperes, reading.current_range_a or 0.0)
        self.cut |= bool(reading.flags & _OVER)
        self.cut |= any("over" in reason for reason in reading.missing.values())
        if None in (reading.voltage_v, reading.current_a, reading.power_w):
            self.blank += 1
        else:
            self.readings.append(reading)


def _watch(meter: WT310, settings: MeterSettings, seconds: float, draw: Draw) -> _Watched:
    """Return what a device shows in that time."""
    update_s = settings.update_interval_s
    schedule = Schedule(real_elapsed_s(), update_s)
    end_s = real_elapsed_s() + seconds
    watched = _Watched()
    while (now_s := real_elapsed_s()) < end_s:
        time.sleep(schedule.next_after(now_s) - now_s)
        reading = meter.read()
        draw(real_elapsed_s() + seconds - end_s, f"{reading.power_w or 0.0:.4g} W")
        watched.take(reading)
    return watched


def _watch_fixed(
    meter: WT310,
    settings: MeterSettings,
    leave: Leave,
    before: _Watched,
    seconds: float,
    draw: Draw,
) -> _Watched:
    """Watch on the largest ranges that auto-range took, or on larger ones while something is cut.

    A meter that does not tell its ranges is watched on its largest ones.
    """
    factor = settings.crest_factor
    ladders = (meter.model.voltage_ranges(factor), meter.model.current_ranges(factor))
    pair = [
        [size for size in sorted(ladder) if size >= (least or max(ladder))]
        for ladder, least in zip(ladders, (before.volts, before.amperes), strict=True)
    ]
    watched = _Watched()
    for step in range(max(map(len, pair))):
        volts, amperes = (sizes[min(step, len(sizes) - 1)] for sizes in pair)
        fixed = replace(settings, voltage_range_v=volts, current_range_a=amperes)
        try:
            meter.prepare(fixed, leave)
        except MeterRefused:
            continue  # Over range already: the next pair is larger.
        watched = _watch(meter, fixed, seconds, draw)
        if not watched.cut:
            break
    return watched


def _require_peaks(readings: Sequence[Reading]) -> None:
    """Refuse a meter that showed no data, or no peaks."""
    if not readings:
        raise MeterRefused("the meter showed no values; check the wiring and switch the device on")
    if all(row.current_peak_a is None for row in readings):
        raise MeterRefused(
            "the meter shows no peaks, so nobody can tell which ranges hold them; choose ranges by "
            "hand, or update the meter's firmware"
        )


def _note(watched: _Watched, again: _Watched) -> str:
    whole = watched.blank + len(watched.readings)
    return (
        f"note     {watched.blank} of {whole} readings had no values, because auto-range switched. "
        f"On fixed ranges {len(again.readings)} of {again.blank + len(again.readings)} had. Record "
        "on fixed ranges: auto-range would fill such times with estimates"
    )


def _print(seen: Extremes, choices: list[RangeChoice]) -> None:
    print(
        f"seen     {seen.voltage_v:.4g} V (peak {seen.voltage_peak_v:.4g} V), "
        f"{seen.current_a:.4g} A (peak {seen.current_peak_a:.4g} A)"
    )
    print(
        f"power    {seen.least_power_w:.4g} to {seen.most_power_w:.4g} W, "
        f"mean {seen.mean_power_w:.4g} W"
    )
    for index, choice in enumerate(choices):
        print(
            f"{'propose' if index == 0 else 'or':8} --volts {choice.voltage_range_v:g} "
            f"--amps {choice.current_range_a:g}   ± {choice.uncertainty_w:.2g} W {_share(choice)}"
        )
    if not choices:
        print("error: no range of this meter is large enough for the device", file=sys.stderr)


def _share(choice: RangeChoice) -> str:
    from power.energy.certainty_checks import SPEC_BOUND

    if choice.share is None:
        return "(the device drew no power)"
    text = f"{100 * choice.share:.2f} % of the mean power"
    return f"({text})" if choice.share <= SPEC_BOUND else f"({text}, SPEC asks for 1 %)"
