# SPDX-License-Identifier: Apache-2.0
"""Score a file of detections against ground truth, offline.

For example:

  referee score --ground-truth annotations.json --detections detections.json
"""

from __future__ import annotations

import argparse
import atexit
import gc
import json
import sys

from referee.commands.score.options import add_arguments
from referee.core.garbage import collections_paused
from referee.errors import InputError

__all__ = ["add_arguments", "run"]

_GOOD, _NO_SCORE, _WRONG_USE = 0, 1, 2


def run(args: argparse.Namespace) -> int:
    """Score and print; return 0, or 1 if there is no score, or 2 for unusable input."""
    # To look for garbage once more among all that was loaded takes as long as to read the truth.
    atexit.register(gc.freeze)
    with collections_paused():  # Only a score needs these, and they are large.
        from referee.commands.score.report import report_of
        from referee.service.results.score_table import score_table
    try:
        report, class_names = report_of(args)
    except InputError as error:
        print(f"referee score: {error}", file=sys.stderr)
        return _WRONG_USE
    for warning in report["warnings"]:
        print(f"referee score: warning: {warning}", file=sys.stderr)
    if args.json:
        print(json.dumps(report))
    else:
        print(score_table(report, class_names))
    if report["mean_ap"] is None:
        print("referee score: no class has ground truth, so there is no mAP", file=sys.stderr)
        return _NO_SCORE
    if args.energy_wh is not None and report["score"] is None:
        return _NO_SCORE  # A warning has said why.
    return _GOOD
