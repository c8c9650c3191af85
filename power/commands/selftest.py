# SPDX-License-Identifier: Apache-2.0
"""`python -m power selftest`: try a meter out before an event."""

from __future__ import annotations

import argparse
import time

from power.bench.priority import hurried
from power.bench.selftest import Check, Outcome, SelfTest
from power.clock import real_elapsed_s
from power.commands.as_found import in_time
from power.commands.options import (
    add_discard_option,
    add_meter_options,
    chosen_meter,
    require_spare,
)
from power.commands.output import print_json, say
from power.commands.progress import progress_line, tell, ticking
from power.wt310.driver import WT310

_DESCRIPTION = """\
Check identity, error queue, settings, update rate, the behaviour right after START, the
integrator's clock against this computer's, and a short integration. Then put every setting back,
and read it again. It takes some seconds more than --seconds. It is refused while an integration
runs, or while the meter holds a result that nobody has fetched. Exit code 1 when a check fails.
"""
# The test takes about this long beside its integration.
_BESIDE_S = 5.0


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("selftest", description=_DESCRIPTION)
    add_meter_options(parser)
    parser.add_argument(
        "--seconds", type=int, default=5, help="length of the integration (default 5)"
    )
    add_discard_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print one line for each check when it is done."""
    if options.seconds < 1:
        raise ValueError("--seconds must be at least 1")
    checks: list[Check] = []
    with (
        progress_line(options.seconds + _BESIDE_S, quiet=options.json) as draw,
        chosen_meter(options) as meter,
        hurried(),
    ):
        require_spare(meter, options)
        sleep = ticking(time.sleep, draw)
        test = SelfTest(meter, clock=real_elapsed_s, sleep=sleep, seconds=options.seconds)
        try:
            for check in test.run():
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
