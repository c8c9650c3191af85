# SPDX-License-Identifier: Apache-2.0
"""`python -m power read`: print readings without touching an integration."""

from __future__ import annotations

import argparse
import time

from power.clock import real_elapsed_s
from power.commands.any_meter import any_meter
from power.commands.options import add_meter_options
from power.commands.output import print_json
from power.errors import MeterRefused
from power.follow import Schedule
from power.meter import Meter, Reading
from power.values import reading_to_json

_DESCRIPTION = """\
Print voltage, current, power, energy, integration time and state. It never starts, stops or resets
an integration. If another program has changed the meter's output items, it sets them right, but
only while no integration runs.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("read", description=_DESCRIPTION)
    add_meter_options(parser)
    parser.add_argument("--count", type=int, default=1, help="how many readings (default 1)")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds apart (default 1)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print one line, or one JSON object, for each reading."""
    if options.count < 1 or options.interval <= 0:
        raise ValueError("--count must be at least 1 and --interval more than 0")
    with any_meter(options) as meter:
        _attach(meter)
        schedule = Schedule(real_elapsed_s(), options.interval)
        for index in range(options.count):
            if index:
                now_s = real_elapsed_s()
                time.sleep(schedule.next_after(now_s) - now_s)
            reading = meter.read()
            if options.json:
                print_json(reading_to_json(reading))
            else:
                print(line(reading), flush=True)
    return 0


def line(reading: Reading) -> str:
    """Return a reading as one line for people; a dash stands for a missing value."""
    fields = (
        (reading.voltage_v, "V"),
        (reading.current_a, "A"),
        (reading.power_w, "W"),
        (reading.energy_wh, "Wh"),
        (reading.integration_s, "s"),
    )
    values = (f"{'-' if value is None else f'{value:.5g}':>10} {unit}" for value, unit in fields)
    return " ".join((reading.utc.isoformat(timespec="milliseconds"), *values, reading.state.value))


def _attach(meter: Meter) -> None:
    try:
        meter.attach()
    except MeterRefused:
        meter.arrange()
