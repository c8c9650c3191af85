# SPDX-License-Identifier: Apache-2.0
"""Write the evidence bundle of a session; it works while the servers run.

For example:

  referee export 3 --out session3.zip --config event/contest.toml
  referee export 1 --out rehearsal.zip --data practice-data
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from referee.errors import InputError
from referee.service.evidence.bundle import write_bundle
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("session", type=int, metavar="SESSION", help="number of the session, from 1")
    add("--out", type=Path, required=True, metavar="FILE.zip", help="file to write")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--config", type=Path, metavar="FILE", help="the event's contest.toml")
    place.add_argument("--data", type=Path, metavar="DIR", help="the --data folder of a rehearsal")


def run(args: argparse.Namespace) -> int:
    """Write the bundle."""
    path = args.config if args.config is not None else args.data / "contest.toml"
    config = load_config(path)
    if not config.database.exists():
        raise InputError(f"{config.database} is not there: nothing has been run here yet.")
    if not args.out.parent.is_dir():
        raise InputError(f"{args.out.parent} is not a folder; make it first.")
    contest = open_contest(config)
    try:
        digests = write_bundle(contest, args.session, args.out)
    finally:
        contest.database.close()
    print(f"Wrote {args.out}, {len(digests) + 1} members.", file=sys.stderr)
    return 0
