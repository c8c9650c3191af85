# SPDX-License-Identifier: Apache-2.0
"""`python -m power rescue`: fetch the energy that a meter still holds, and judge it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from power.clock import real_elapsed_s
from power.commands.interrupt import Interrupt, Job, listening
from power.commands.options import add_meter_options, chosen_meter, guard_of
from power.commands.output import print_json, result_text
from power.energy.verdict import Verdict, result_to_json
from power.errors import MeterRefused, MeterUnreachable
from power.logs.journal import journal
from power.meter import Reading
from power.transports.transport import utc_now
from power.values import settings_to_json
from power.wipe_guard import look

if TYPE_CHECKING:
    from power.bench.rescue import Rescued

_DESCRIPTION = """\
Fetch the energy that a meter still holds after `record` was killed, or after the computer lost its
power: the meter keeps integrating by itself, and its timer ends the run. The command follows a
running integration to its end. It reads the result, finishes the log that the killed program left,
and judges the energy. The journal of this computer knows the log; --log names another one.

A result that belongs to no known run goes into a new log. It is SUSPECT at best, because nobody saw
its course. The command never resets the meter, and never ends an integration without --stop. After
Ctrl-C the meter keeps integrating, and `rescue` can be run again. With --discard nothing is
fetched: what the meter holds is noted as given up, so every program may reset the meter. Exit code
1 when the energy is INVALID, when the meter holds nothing, or when it was left running.

  python -m power rescue TCPIP::10.0.0.5::INSTR
"""
# After Ctrl-C a call to the meter may take this long; then it counts as hanging.
_GRACE_S = 1.4


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "rescue",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_meter_options(parser)
    parser.add_argument("--log", metavar="LOG.csv", type=Path, help="the log of the run to finish")
    parser.add_argument(
        "--out",
        metavar="LOG.csv",
        type=Path,
        help="a new log for a result of no known run (default: rescued-TIME.csv in this folder)",
    )
    parser.add_argument("--stop", action="store_true", help="end a running integration now")
    parser.add_argument(
        "--discard", action="store_true", help="give up the finished result that the meter holds"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Rescue once, and print energy and verdict."""
    from power.bench.rescue import Rescuer
    from power.commands.progress import progress_line

    if options.discard:
        return _discard(options)
    new_log = options.out or Path(f"rescued-{utc_now():%Y%m%dT%H%M%SZ}.csv")
    if new_log.exists():
        raise FileExistsError(f"{new_log} already exists; choose a new file")
    interrupt = Interrupt()
    interrupt.abort = False
    rescued: list[Rescued] = []
    with (
        listening(interrupt.ask),
        chosen_meter(options, sleep=interrupt.sleep, asked_s=interrupt.since_s) as meter,
        progress_line(1.0, quiet=options.quiet) as draw,
    ):
        newest: list[tuple[Reading, float, float]] = []

        def keep(reading: Reading, elapsed_s: float, timer_s: float) -> None:
            newest[:] = [(reading, elapsed_s, timer_s)]

        rescuer = Rescuer(
            meter,
            journal(),
            options.resource,
            clock=real_elapsed_s,
            sleep=interrupt.sleep,
            utc=utc_now,
            progress=keep,
        )

        def work() -> None:
            rescued.append(
                rescuer.rescue(options.log, new_log, stop=options.stop, should_stop=interrupt.asked)
            )

        def look() -> None:
            if newest:
                reading, elapsed_s, timer_s = newest[0]
                draw(elapsed_s, f"{reading.power_w or 0.0:.4g} W", timer_s)

        if not Job(work, "rescue").wait(
            lambda: interrupt.asked_s + _GRACE_S, lambda: interrupt.ordered, look
        ):
            raise MeterUnreachable(
                "interrupted while the meter did not answer; it keeps its energy, so rescue it "
                "again later"
            )
    return _print(options, rescued[0])


def _discard(options: argparse.Namespace) -> int:
    """Note that nobody needs what the meter holds; it is neither fetched nor reset."""
    if options.stop or options.log or options.out:
        raise ValueError("--discard fetches nothing: leave --stop, --log and --out out")
    with chosen_meter(options) as meter:
        result = look(meter)
        if result is None:
            raise MeterRefused("the meter holds no result: there is nothing to give up")
        guard_of(meter, options).leave()
    if options.json:
        print_json({"given_up": {"energy_wh": result.energy_wh, "state": result.state.value}})
    else:
        print(f"given up {result.words()}")
    return 0


def _print(options: argparse.Namespace, rescued: Rescued) -> int:
    if options.json:
        print_json(
            {
                "log": str(rescued.log),
                "settings": settings_to_json(rescued.facts.settings),
                **result_to_json(rescued.result),
            }
        )
    else:
        print(f"log      {rescued.log}")
        print(result_text(rescued.result))
    good = rescued.complete and rescued.result.verdict is not Verdict.INVALID
    return 0 if good else 1
