# SPDX-License-Identifier: Apache-2.0
"""Score logs of AIoTBench: valid images per second (VIPS) and valid operations per second (VOPS).

For example:

  referee aiotbench score board.csv
  referee aiotbench score board.csv --configuration board.toml --chart board.svg
  referee aiotbench score part1.csv part2.csv --json
  referee aiotbench rank phone.csv tablet.csv board.csv --html ranking.html

'python -m client_sample.aiotbench' writes such logs on a board. docs/aiotbench.md shows all.
"""

from __future__ import annotations

import argparse

from referee.extras.aiotbench.commands.aiotbench import rank, score

_ACTIONS = (score, rank)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for module in _ACTIONS:
        module.add_parser(actions)


def run(args: argparse.Namespace) -> int:
    """Run the action and return its exit code: 0, or 1 without an official workload."""
    code: int = args.act(args)
    return code
