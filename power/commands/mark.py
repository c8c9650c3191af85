# SPDX-License-Identifier: Apache-2.0
"""`python -m power mark`: name what begins now in a recording that runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from power.clock import real_elapsed_s
from power.commands.output import print_json
from power.logs.journal import journal
from power.transports.transport import utc_now

_DESCRIPTION = """\
Name what begins now in the recording that runs on this computer, from a second terminal or from the
program that is measured. The time until the next mark is a phase: `record` and `audit` print the
seconds, the energy and the mean power of each. The mark goes into a file beside the log.

  python -m power mark warm
  python -m power mark "batch of 32" --log run.csv
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser(
        "mark",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("text", metavar="TEXT", help="what begins now")
    parser.add_argument(
        "--log",
        metavar="LOG",
        type=Path,
        help="the log of the recording, where several run or the journal of runs is switched off",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write one mark."""
    from power.logs.marks import add_mark, marks_path

    now_s, utc = real_elapsed_s(), utc_now()
    log = _chosen(options.log)
    mark = add_mark(log, options.text, now_s, utc)
    if options.json:
        print_json({"log": str(log), "elapsed_s": mark.at_s, "text": mark.text})
    else:
        print(f"mark     {mark.text}, {mark.at_s:.3f} s after the start, in {marks_path(log)}")
    return 0


def _chosen(named: Path | None) -> Path:
    """Return the log of the recording that runs; a ValueError says what else there is."""
    from power.logs.marks import is_written, running_logs

    if named is not None:
        if not is_written(named):
            raise ValueError(f"no program on this computer writes {named} now")
        return named
    running = running_logs(journal().entries())
    if not running:
        raise ValueError(
            "no recording is running on this computer; start one with: python -m power record"
        )
    if len(running) > 1:
        listed = ", ".join(str(log) for log in running)
        raise ValueError(f"several recordings are running; choose one with --log: {listed}")
    return running[0]
