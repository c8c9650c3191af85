# SPDX-License-Identifier: Apache-2.0
"""`python -m power list`: list the meters that PyVISA finds, and say what is missing."""

from __future__ import annotations

import argparse
import sys

from power.commands.output import print_json
from power.transports.discovery import look

_DESCRIPTION = """\
List the resource strings that PyVISA finds. Hints on stderr name a missing library or udev rule. A
meter on Ethernet is found only if its portmapper answers a broadcast. Exit code 1 when nothing is
found.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("list", description=_DESCRIPTION)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print each resource string on stdout, hints on stderr."""
    found = look()
    if options.json:
        print_json({"resources": found.resources, "hints": found.hints})
    else:
        for resource in found.resources:
            print(resource)
        for hint in found.hints:
            print(f"hint: {hint}", file=sys.stderr)
    return 0 if found.resources else 1
