# SPDX-License-Identifier: Apache-2.0
"""The shared options of the commands: the meter, and its settings."""

from __future__ import annotations

import argparse
from pathlib import Path

from power.connect import open_wt310
from power.meter import InputMode, MeterSettings
from power.wt310.driver import WT310


def add_meter_options(parser: argparse.ArgumentParser) -> None:
    """Add the resource string, the wire log and the JSON switch."""
    parser.add_argument("resource", metavar="RESOURCE", help="PyVISA resource string of the meter")
    parser.add_argument(
        "--wire-log",
        metavar="FILE",
        type=Path,
        help="append the conversation with the meter to this file",
    )
    parser.add_argument(
        "--timeout", type=float, default=2.0, help="seconds to wait for a reply (default 2)"
    )
    parser.add_argument(
        "--baud", type=int, default=9600, help="speed of a serial line (default 9600)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def add_setting_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make up `MeterSettings`, except the timer."""
    parser.add_argument("--update", type=float, default=1.0, help="update interval, s (default 1)")
    parser.add_argument(
        "--mode", choices=[mode.value for mode in InputMode], default="RMS", help="input mode"
    )
    parser.add_argument("--volts", type=float, help="fixed voltage range, V (default: auto-range)")
    parser.add_argument("--amps", type=float, help="fixed current range, A (default: auto-range)")
    parser.add_argument(
        "--crest-factor", type=int, choices=(3, 6), default=3, help="3 or 6 (default 3)"
    )
    parser.add_argument("--line-filter", action="store_true", help="switch the line filter on")
    parser.add_argument(
        "--frequency-filter", action="store_true", help="switch the frequency filter on"
    )


def settings_of(options: argparse.Namespace, timer_s: int) -> MeterSettings:
    """Return the settings that the options ask for."""
    return MeterSettings(
        timer_s=timer_s,
        update_interval_s=options.update,
        mode=InputMode(options.mode),
        voltage_range_v=options.volts,
        current_range_a=options.amps,
        crest_factor=options.crest_factor,
        line_filter=options.line_filter,
        frequency_filter=options.frequency_filter,
    )


def open_chosen(options: argparse.Namespace) -> WT310:
    """Return a driver for the meter that the options name.

    Raises OSError if the wire log cannot be opened, so a mistyped name is found before the run.
    """
    if options.wire_log is not None:
        options.wire_log.touch(0o600)
        options.wire_log.open("a").close()
    return open_wt310(
        options.resource,
        wire_log=options.wire_log,
        timeout_s=options.timeout,
        baud=options.baud,
    )
