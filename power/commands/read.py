# SPDX-License-Identifier: Apache-2.0
"""`python -m power read`: print readings without touching an integration."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from typing import NoReturn

from power.clock import real_elapsed_s
from power.commands.any_meter import any_meter
from power.commands.options import add_meter_options
from power.commands.output import print_json, say
from power.commands.seconds import some_seconds
from power.errors import MeterRefused
from power.follow import LOST, Follower, Schedule
from power.meter import Meter, Reading
from power.values import reading_to_json

_DESCRIPTION = """\
Print voltage, current, power, energy, integration time and state. It never starts, stops or resets
an integration. If another program has changed the meter's output items, it sets them right, but
only while no integration runs. With --follow it goes on until Ctrl-C, and opens a lost meter again.
With --json each reading is one line.

  python -m power read TCPIP::192.168.1.5::INSTR
  python -m power read TCPIP::192.168.1.5::INSTR --follow --interval 10
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("read", description=_DESCRIPTION)
    add_meter_options(parser)
    many = parser.add_mutually_exclusive_group()
    many.add_argument(
        "--count", type=int, metavar="N", default=1, help="how many readings (default: 1)"
    )
    many.add_argument("--follow", action="store_true", help="read until Ctrl-C")
    parser.add_argument(
        "--interval",
        type=some_seconds,
        default=1.0,
        metavar="DURATION",
        help="time from one to the next (default: 1)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print one line, or one JSON object, for each reading."""
    if options.count < 1:
        raise ValueError("--count must be at least 1")
    if options.follow:
        # An interrupt is the end that somebody asked for.
        with suppress(KeyboardInterrupt), any_meter(options) as meter:
            _follow(meter, options)
        return 0
    with any_meter(options) as meter:
        _attach(meter)
        schedule = Schedule(real_elapsed_s(), options.interval)
        for index in range(options.count):
            if index:
                now_s = real_elapsed_s()
                time.sleep(schedule.next_after(now_s) - now_s)
            _print(meter.read(), options)
    return 0


def _follow(meter: Meter, options: argparse.Namespace) -> NoReturn:
    """Print readings until an interrupt; a meter that is lost is opened again, after a pause."""

    def take_up() -> Meter:
        _attach(meter)
        return meter

    take_up()
    schedule = Schedule(real_elapsed_s(), options.interval)
    follower = Follower(take_up, schedule, clock=real_elapsed_s, meter=meter)
    lost = False
    while True:
        time.sleep(max(0.0, follower.due_s - real_elapsed_s()))
        try:
            reading = follower.step()
        except LOST as error:
            # One sentence for the first failure; the following ones say nothing new.
            if not lost:
                say(f"{error}; the meter is tried again")
            lost = True
            continue
        if reading is None:
            continue
        if lost:
            say("the meter answers again")
            lost = False
        _print(reading, options)


def _print(reading: Reading, options: argparse.Namespace) -> None:
    if options.json:
        print_json(reading_to_json(reading))
    else:
        print(line(reading))
    sys.stdout.flush()


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
