# SPDX-License-Identifier: Apache-2.0
"""`python -m power identify`: say which meter answers."""

from __future__ import annotations

import argparse

from power.commands.any_meter import any_meter
from power.commands.options import add_meter_options
from power.commands.output import print_json
from power.values import identity_to_json

_DESCRIPTION = """\
Ask which instrument answers at a resource string, and refuse an unsupported one. It changes only
the form of the meter's replies, so it is safe while an integration runs.

  python -m power identify TCPIP::192.168.1.5::INSTR
  python -m power identify shelly:192.0.2.7
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("identify", description=_DESCRIPTION)
    add_meter_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print maker, model, serial number and firmware."""
    with any_meter(options) as meter:
        identity = meter.identify()
    if options.json:
        print_json(identity_to_json(identity))
    else:
        print(f"{identity.maker} {identity.model} {identity.serial} firmware {identity.firmware}")
    return 0
