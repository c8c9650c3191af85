# SPDX-License-Identifier: Apache-2.0
"""`python -m power range`: watch a device at work and propose fixed ranges."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from power.bench.ranging import HEADROOM, Choice, Extremes, extremes_of, propose
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
from power.commands.output import print_json
from power.commands.seconds import some_seconds
from power.errors import MeterRefused
from power.follow import Schedule
from power.meter import InputMode, MeterSettings, Reading
from power.wt310.driver import WT310

if TYPE_CHECKING:
    from power.commands.progress import Draw

_DESCRIPTION = """\
Watch a device at its hardest work on auto-range, and propose fixed ranges with the uncertainty of
each. The smallest ranges that measure rms values and peaks come first. Official runs use fixed
ranges. While auto-range switches, the meter measures nothing; a range that is too small cuts
crests. It resets the meter, so it is refused while an integration runs.
Exit code 1 when no range fits.

  python -m power range TCPIP::192.168.1.5::INSTR --seconds 30
"""
_UPDATE_S = 0.5


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
    parser.add_argument(
        "--headroom",
        type=float,
        metavar="X",
        default=HEADROOM,
        help=f"factor above the peaks seen (default: {HEADROOM})",
    )
    add_discard_option(parser)
    add_element_option(parser)
    add_condition_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the proposal, the alternatives, and the uncertainty of each."""
    from power.commands.progress import progress_line
    from power.energy.uncertainty import Measuring

    if options.headroom < 1:
        raise ValueError("--headroom must be at least 1")
    mode = InputMode(options.mode)
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
            readings, blank = _watch(meter, options.seconds, draw)
            model, identity = meter.model, meter.identify()
    choices = propose(
        readings,
        model.voltage_ranges(options.crest_factor),
        model.current_ranges(options.crest_factor),
        Measuring(identity, settings, conditions_of(options)),
        headroom=options.headroom,
    )
    seen = extremes_of(readings)
    if options.json:
        print_json(
            {
                "seen": vars(seen),
                "readings": len(readings),
                "readings_without_values": blank,
                "choices": [vars(choice) for choice in choices],
            }
        )
    else:
        _print(seen, choices)
        if blank:
            print(
                f"note     {blank} of {blank + len(readings)} readings had no values, because "
                "auto-range switched. What was drawn then was not seen: run on the larger ranges, "
                "and look at the peaks in its log"
            )
    return 0 if choices else 1


def _watch(meter: WT310, seconds: float, draw: Draw) -> tuple[list[Reading], int]:
    """Return the readings with data, and the number of those without.

    A meter that shows no data, or no peaks, is refused.
    """
    schedule = Schedule(real_elapsed_s(), _UPDATE_S)
    end_s = real_elapsed_s() + seconds
    readings: list[Reading] = []
    blank = 0
    while (now_s := real_elapsed_s()) < end_s:
        time.sleep(schedule.next_after(now_s) - now_s)
        reading = meter.read()
        draw(real_elapsed_s() + seconds - end_s, f"{reading.power_w or 0.0:.4g} W")
        if None not in (reading.voltage_v, reading.current_a, reading.power_w):
            readings.append(reading)
        else:
            blank += 1
    if not readings:
        raise MeterRefused("the meter showed no values; check the wiring and switch the device on")
    if all(row.current_peak_a is None for row in readings):
        raise MeterRefused(
            "the meter shows no peaks, so nobody can tell which ranges hold them; choose ranges by "
            "hand, or update the meter's firmware"
        )
    return readings, blank


def _print(seen: Extremes, choices: list[Choice]) -> None:
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


def _share(choice: Choice) -> str:
    from power.energy.certainty_checks import SPEC_BOUND

    if choice.share is None:
        return "(the device drew no power)"
    text = f"{choice.share:.2%} of the mean power"
    return f"({text})" if choice.share <= SPEC_BOUND else f"({text}, SPEC asks for 1 %)"
