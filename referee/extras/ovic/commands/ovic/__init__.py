# SPDX-License-Identifier: Apache-2.0
"""Score the OVIC track: a TensorFlow Lite model's accuracy against its latency.

For example:

  referee ovic validate model.tflite --task detection
  referee ovic benchmark model.tflite --images photos --task detection --out result.json
  referee ovic run model.tflite --task detection --images photos --ground-truth annotations.json
  referee ovic score --task detection --accuracy 25.0 --latency-ms 28.4
  referee ovic frontier --task detection --baselines baselines.csv --out frontier.json

A contest takes models from its teams, and judges them one after the other:

  referee ovic submit model.tflite --task detection --url http://192.168.1.2:8000 --team ants
  referee ovic queue --config event/contest.toml
  referee ovic leaderboard --config event/contest.toml
  referee ovic round --config event/contest.toml

docs/ovic.md has the rules, and what is measured.
"""

from __future__ import annotations

import argparse

from referee.extras.ovic.commands.ovic import (
    benchmark,
    decisions,
    entries,
    entry,
    handouts,
    score,
    validate,
)

_ACTIONS = (validate, benchmark, score, entry, handouts, entries, decisions)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for module in _ACTIONS:
        module.add_parser(actions)


def run(args: argparse.Namespace) -> int:
    """Run the action and return its exit code: 0 good, 1 the answer is no, 2 wrong use."""
    code: int = args.act(args)
    return code
