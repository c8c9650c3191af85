# SPDX-License-Identifier: Apache-2.0
"""`referee ovic baselines`: a contest's entries as baselines of the next frontier."""

from __future__ import annotations

import argparse
import csv
import sys

from referee.core.spreadsheet import plain_cell
from referee.extras.ovic.commands.ovic.contest_site import add_operators_config, operators_site
from referee.extras.ovic.commands.ovic.options import add_task
from referee.extras.ovic.submission.tasks import require_task
from referee.extras.ovic.submission.views import baselines_of

_DESCRIPTION = """\
Print the entries of a contest that have a score as lines name,latency_ms,accuracy, for
'referee ovic frontier --baselines'. Each entry has the measurement that counts. Entries that are
too slow to be valid are baselines too. The name is the team's, with the entry's number.

  referee ovic baselines --task detection --config event/contest.toml > baselines.csv
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "baselines",
        help="an operator: print the entries as baselines of the next frontier",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_task(parser)
    add_operators_config(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Print the baselines."""
    with operators_site(args.config) as (_, database, tasks):
        found = baselines_of(database.connection, require_task(tasks, args.task))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("name", "latency_ms", "accuracy"))
    for it in found:
        writer.writerow((plain_cell(it.name), repr(it.latency_ms), repr(it.accuracy)))
    return 0
