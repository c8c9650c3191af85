# SPDX-License-Identifier: Apache-2.0
"""`python -m power selftest`: try a meter out before an event."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from power.bench.priority import hurried
from power.bench.selftest import Check, Outcome, SelfTest
from power.checklist.steps import table
from power.clock import real_elapsed_s
from power.commands.as_found import in_time
from power.commands.options import (
    add_discard_option,
    add_meter_options,
    chosen_meter,
    guard_of,
)
from power.commands.output import print_json, say
from power.commands.progress import progress_line, tell, ticking
from power.commands.real_meter import walk_real_meter
from power.wt310.driver import WT310

_DESCRIPTION = """\
Check identity, error queue, settings, update rate, the behaviour right after START, the
integrator's clock against this computer's, and a short integration. Then put every setting back,
and read it again. It takes some seconds more than --seconds. It is refused while an integration
runs, or while the meter holds a result that nobody has fetched. Exit code 1 when a check fails.

With --real, walk through what only a real meter can tell, about 15 minutes with a person beside it.
Each step says what to do at the meter, does what the program can do, shows what it saw, and asks.
After each step the report is saved. The same command goes on where the walk ended. At the end, and
after Ctrl-C, the meter has its settings back. Exit code 1 while steps are open.

  python -m power selftest TCPIP::192.168.1.5::INSTR --real
  python -m power selftest TCPIP::192.168.1.5::INSTR --real --only lockout --only keys
  python -m power selftest --checklist      (the steps; no meter needed)
"""
# The test takes about this long beside its integration.
_BESIDE_S = 5.0


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "selftest",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_meter_options(parser)
    parser.add_argument(
        "--seconds", type=int, default=5, help="length of the integration (default 5)"
    )
    real = parser.add_argument_group("what only a real meter can tell")
    real.add_argument(
        "--real", action="store_true", help="walk through the checklist, with a person at the meter"
    )
    real.add_argument(
        "--report",
        metavar="FILE.json",
        type=Path,
        default=Path("checklist.json"),
        help="the report; its text and the conversation go beside it (default checklist.json)",
    )
    real.add_argument(
        "--only", metavar="STEP", action="append", default=[], help="this step alone, also again"
    )
    real.add_argument("--checklist", action=_PrintChecklist, help="print the steps, and end")
    add_discard_option(parser)
    parser.set_defaults(run=run)


class _PrintChecklist(argparse.Action):
    """The option that prints the checklist; it needs no meter."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "nargs": 0})

    def __call__(self, parser: argparse.ArgumentParser, *given: object) -> None:
        """Print the checklist and end the program."""
        print(table(), end="")
        parser.exit()


def run(options: argparse.Namespace) -> int:
    """Print one line for each check when it is done, or walk through the checklist."""
    if options.real:
        return walk_real_meter(options)
    if options.only:
        raise ValueError("--only chooses steps of the checklist; add --real")
    if options.seconds < 1:
        raise ValueError("--seconds must be at least 1")
    checks: list[Check] = []
    with (
        progress_line(options.seconds + _BESIDE_S, quiet=options.json) as draw,
        chosen_meter(options) as meter,
        hurried(),
    ):
        guard = guard_of(meter, options)
        leave = guard.leave()
        sleep = ticking(time.sleep, draw)
        test = SelfTest(meter, guard, clock=real_elapsed_s, sleep=sleep, seconds=options.seconds)
        try:
            for check in test.run(leave):
                checks.append(check)
                if not options.json:
                    tell(f"{check.outcome.value:5} {check.name:12} {check.text}")
        except KeyboardInterrupt:
            _put_back(meter, test)
            raise
    if options.json:
        print_json(
            {
                "checks": [
                    {"name": check.name, "outcome": check.outcome.value, "text": check.text}
                    for check in checks
                ]
            }
        )
    return 1 if any(check.outcome is Outcome.FAIL for check in checks) else 0


def _put_back(meter: WT310, test: SelfTest) -> None:
    """Put the settings back after an interrupt, unless the meter does not answer at once."""
    checks: list[Check] = []
    why = in_time(meter, lambda: checks.append(test.put_back()), hasty=True)
    if why or checks[0].outcome is not Outcome.OK:
        say(f"the meter did not get its settings back: {why or checks[0].text}")
