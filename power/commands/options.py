# SPDX-License-Identifier: Apache-2.0
"""The shared options of the commands: the meter, and its settings."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from power.clock import real_elapsed_s
from power.commands.interrupt import LAST_S, Job
from power.commands.output import say
from power.commands.seconds import some_seconds
from power.connect import open_wt310
from power.energy.conditions import AmbientConditions, parse_ambient, parse_calibrated
from power.logs.journal import journal
from power.meter import SIGMA, InputMode, Meter, MeterSettings
from power.quantities import BOTH_WAYS, parse_quantities
from power.resource import is_official, split_resource
from power.transports.transport import utc_now
from power.wipe_guard import Guard
from power.wt310.driver import WT310

BIDIRECTIONAL = "bidirectional"
"""The load that may give power back, as `--expect` names it."""

# How long the meter may take to answer a first question at the end of a command, and then for the
# dozen others. On a serial line at 9600 baud they take 0.4 s.
_ANSWER_S = 2.0
_LAST_WORDS_S = 2.0
# The same after a wish for an end.
_HASTY_ANSWER_S = 0.3
_HASTY_WORDS_S = 0.5


def add_meter_options(parser: argparse.ArgumentParser) -> None:
    """Add the resource string, the wire log and the JSON switch."""
    parser.add_argument(
        "resource",
        metavar="RESOURCE",
        type=resource_text,
        help="the meter: KIND:ADDRESS (python -m power list), or a PyVISA resource string; a serial"
        " line's settings stand behind it, as ASRL/dev/ttyUSB0::INSTR@38400,7E1,RTS-CTS,LF"
        " (python -m power --help)",
    )
    parser.add_argument(
        "--wire-log",
        metavar="FILE",
        type=Path,
        help="append the conversation with the meter to this file",
    )
    parser.add_argument(
        "--timeout",
        type=some_seconds,
        default=2.0,
        metavar="DURATION",
        help="how long to wait for a reply (default: 2)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def resource_text(text: str) -> str:
    """Return a resource string whose settings of a serial line exist; an `argparse` type."""
    try:
        split_resource(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def add_setting_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make up `MeterSettings`, except the timer."""
    parser.add_argument(
        "--update",
        type=some_seconds,
        default=1.0,
        metavar="DURATION",
        help="update interval (default: 1)",
    )
    parser.add_argument(
        "--mode", choices=[mode.value for mode in InputMode], default="RMS", help="input mode"
    )
    parser.add_argument(
        "--volts", type=float, metavar="X", help="fixed voltage range, V (default: auto-range)"
    )
    parser.add_argument(
        "--amps", type=float, metavar="X", help="fixed current range, A (default: auto-range)"
    )
    parser.add_argument(
        "--crest-factor", type=int, choices=(3, 6), default=3, help="3 or 6 (default: 3)"
    )
    parser.add_argument("--line-filter", action="store_true", help="switch the line filter on")
    parser.add_argument(
        "--frequency-filter", action="store_true", help="switch the frequency filter on"
    )
    add_element_option(parser)


def add_element_option(parser: argparse.ArgumentParser) -> None:
    """Add the choice of an element of a meter that has several."""
    parser.add_argument(
        "--element",
        choices=("1", "2", "3", SIGMA),
        type=str.upper,
        default="1",
        help="measured element of a WT332 or WT333, or SIGMA for the sum of all (default: 1)",
    )


def add_condition_options(parser: argparse.ArgumentParser) -> None:
    """Add the questions that only people can answer."""
    parser.add_argument(
        "--ambient-c", metavar="C", type=_ambient, help="ambient temperature, °C, for the ±"
    )
    parser.add_argument(
        "--calibrated",
        metavar="DATE",
        type=_calibrated,
        help="day of the meter's last calibration, such as 2026-01-31; the ± holds for 12 months",
    )


def conditions_of(options: argparse.Namespace) -> AmbientConditions:
    """Return the answers of `add_condition_options`."""
    return AmbientConditions(options.ambient_c, options.calibrated)


def _ambient(text: str) -> float:
    try:
        return parse_ambient(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _calibrated(text: str) -> date:
    try:
        return parse_calibrated(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_quantity_options(parser: argparse.ArgumentParser) -> None:
    """Add the choice of more quantities, and of the load that is expected."""
    parser.add_argument(
        "--items",
        metavar="NAME,…",
        type=_quantities,
        default=(),
        help="more quantities of the meter, each a column: S, Q, PHI, URMS, UTHD, IK3 and so on "
        "(docs/power.md, Power logs)",
    )
    parser.add_argument(
        "--expect",
        choices=(BIDIRECTIONAL,),
        help="the load may give power back: the energies of both directions are told apart, and "
        "negative power is not a fault",
    )


def chosen_quantities(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the quantities that `add_quantity_options` chose."""
    chosen: tuple[str, ...] = getattr(options, "items", ())
    both_ways = getattr(options, "expect", None) == BIDIRECTIONAL
    return tuple(dict.fromkeys((*(BOTH_WAYS if both_ways else ()), *chosen)))


def _quantities(text: str) -> tuple[str, ...]:
    try:
        return parse_quantities(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


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
        element=options.element,
        quantities=chosen_quantities(options),
        both_ways=getattr(options, "expect", None) == BIDIRECTIONAL,
    )


def add_discard_option(parser: argparse.ArgumentParser) -> None:
    """Add the switch that gives a held result up by will."""
    parser.add_argument(
        "--discard",
        action="store_true",
        help="discard the finished result that the meter holds, even if nobody has fetched it",
    )


def guard_of(meter: Meter, options: argparse.Namespace) -> Guard:
    """Return who must be asked before each reset of the meter that the options name."""
    return Guard(meter, journal(), options.resource, utc=utc_now, discard=options.discard)


@contextmanager
def chosen_meter(
    options: argparse.Namespace,
    *,
    sleep: Callable[[float], None] = time.sleep,
    asked_s: Callable[[], float] = lambda: math.inf,
) -> Iterator[WT310]:
    """Yield a driver for the meter that the options name; at every exit give the panel back.

    `asked_s` says since when somebody wants the end, on the monotonic clock. After that, or after
    Ctrl-C, a meter that does not answer costs little time, otherwise two seconds. Then a sentence
    says that the panel may still be locked.
    """
    meter = open_chosen(options, sleep=sleep)
    try:
        yield meter
    except KeyboardInterrupt:
        hand_back(meter, -math.inf)
        raise
    except BaseException:
        hand_back(meter, asked_s())
        raise
    hand_back(meter, asked_s())


def hand_back(meter: WT310, asked_s: float = math.inf) -> None:
    """Unlock the panel and release the link; tell what did not work.

    `asked_s` is since when somebody wants the end; minus infinity means at once. A meter that
    gives no answer in time is left as it is, even if another thread hangs in a call to it.
    """
    troubles: list[str] = []
    hasty = asked_s < math.inf
    now_s = real_elapsed_s()
    end_s = [max(asked_s + LAST_S, now_s + _HASTY_ANSWER_S) if hasty else now_s + _ANSWER_S]

    def more_time() -> None:
        end_s[0] = max(end_s[0], real_elapsed_s() + (_HASTY_WORDS_S if hasty else _LAST_WORDS_S))
        meter.hasten(_ANSWER_S, end_s[0])

    def last_words() -> None:
        troubles.append(meter.give_back(more_time))
        meter.close()

    meter.hasten(_HASTY_ANSWER_S if hasty else _ANSWER_S, end_s[0])
    Job(last_words, "last words").wait(lambda: end_s[0], lambda: False)
    if meter.touched and (not troubles or troubles[0]):
        why = troubles[0] if troubles else "the meter does not answer"
        say(f"the panel may still be locked ({why}); press SHIFT and LOCAL at the meter")


def make_wire_log(options: argparse.Namespace) -> None:
    """Make the file of the wire log, so that a mistyped name is found before the run.

    Raises OSError if it cannot be opened.
    """
    if options.wire_log is not None:
        options.wire_log.touch(0o600)
        options.wire_log.open("a").close()


def open_chosen(
    options: argparse.Namespace, *, sleep: Callable[[float], None] = time.sleep
) -> WT310:
    """Return a driver for the meter that the options name.

    Raises ValueError for a meter of another kind, which has no panel, no ranges and no memory.
    """
    if not is_official(options.resource):
        raise ValueError(
            f"{options.command} is for a WT310 and its relatives. With {options.resource} use "
            "identify, read or record"
        )
    make_wire_log(options)
    meter = open_wt310(
        options.resource,
        sleep=sleep,
        wire_log=options.wire_log,
        timeout_s=options.timeout,
        element=getattr(options, "element", None),
    )
    meter.remember()
    return meter
