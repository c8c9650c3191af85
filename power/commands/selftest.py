# SPDX-License-Identifier: Apache-2.0
"""`python -m power selftest`: try a meter out before an event."""

from __future__ import annotations

import argparse
import time
from contextlib import closing

from power.bench.selftest import Outcome, SelfTest
from power.commands.options import add_meter_options, open_chosen
from power.commands.output import print_json

_DESCRIPTION = """\
Check identity, error queue, settings, update rate, the behaviour right after START, the
integrator's clock against this computer's, and a short integration. Then put the settings back. It
takes some seconds more than --seconds. It is refused while an integration runs. Exit code 1 when a
check fails.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "selftest", help="try a meter out before an event", description=_DESCRIPTION
    )
    add_meter_options(parser)
    parser.add_argument(
        "--seconds", type=int, default=5, help="length of the integration (default 5)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print one line for each check when it is done."""
    if options.seconds < 1:
        raise ValueError("--seconds must be at least 1")
    checks = []
    with closing(open_chosen(options)) as meter:
        test = SelfTest(meter, clock=time.monotonic, sleep=time.sleep, seconds=options.seconds)
        for check in test.run():
            checks.append(check)
            if not options.json:
                print(f"{check.outcome.value:5} {check.name:12} {check.text}", flush=True)
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
