# SPDX-License-Identifier: Apache-2.0
"""`python -m power list`: list the meters that are found, and say what is missing."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field

from power.commands.output import print_json
from power.errors import MeterError
from power.meters.kinds import MeterKind, Seen, kind_named, kind_names
from power.transports.discovery import look

_DESCRIPTION = """\
List the resource strings of the meters that are found: those of PyVISA, and those of other kinds
that can be looked for. Hints on stderr name a missing library or udev rule, how to write the
resource string of each other kind, and the serial ports, behind which a meter may be. A meter on
Ethernet is found only if its portmapper answers a broadcast. Exit code 1 when nothing is found.

  python -m power list
  python -m power list --json
"""


@dataclass
class _Others(Seen):
    """What was found of the meters of other kinds, and the kinds."""

    known: dict[str, MeterKind] = field(default_factory=dict)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("list", description=_DESCRIPTION)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print each resource string on stdout, hints on stderr."""
    look_result, kinds = look(), _look_for_others()
    look_result.resources += kinds.resources
    look_result.hints += kinds.hints
    if options.json:
        written = {
            name: {"summary": kind.summary, "syntax": kind.syntax}
            for name, kind in kinds.known.items()
        }
        print_json(
            {
                "resources": look_result.resources,
                "serial_ports": look_result.serial_ports,
                "hints": look_result.hints,
                "kinds": written,
            }
        )
    else:
        for resource in look_result.resources:
            print(resource)
        for hint in look_result.hints:
            print(f"hint: {hint}", file=sys.stderr)
        for kind in kinds.known.values():
            print(f"kind: {kind.syntax}\n      {kind.summary}", file=sys.stderr)
    return 0 if look_result.resources else 1


def _look_for_others() -> _Others:
    """Ask each kind; one that somebody else's broken package brings is a hint."""
    others = _Others()
    for name in kind_names():
        try:
            kind = kind_named(name)
            seen = kind.find()
        except MeterError as error:
            others.hints.append(str(error))
            continue
        others.known[name] = kind
        others.resources += seen.resources
        others.hints += seen.hints
    return others
