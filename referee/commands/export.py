# SPDX-License-Identifier: Apache-2.0
"""Write the evidence bundle of a session, or of all. This works while the servers run.

For example:

  referee export 3 --out session3.zip --config event/contest.toml
  referee export 1 --out rehearsal.zip --data practice-data
  referee export --all --out bundles --config event/contest.toml

--all writes session1.zip, session2.zip and so on into a folder, one for each session that has a
verdict. A file that is there already and is still what its session gives stays as it is. So give
the same command again after an interruption, or after the next session.

The energy and the score follow some seconds after a session's end. The command waits for them. If
they do not come, it writes no file and ends with exit code 1. It writes none either if somebody has
changed a stored row. With --partial it writes at once, whatever is missing or changed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import sleep

from power.commands.seconds import any_seconds
from power.commands.written_file import file_to_write
from referee.commands.options import declare_config, environment_config
from referee.errors import InputError, Refusal, Unavailable
from referee.programs.practice_folder import config_in
from referee.programs.progress import StatusLine
from referee.service.evidence.completeness import (
    all_numbers,
    bundle_name,
    has_verdict,
    missing_from,
    wait_until_complete,
)
from referee.service.evidence.facts import refuse_changed
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.folder_lock import is_hosted
from referee.service.setup.opened import opened_contest
from referee.service.setup.private_files import make_folder
from referee.store.scores import newest_scoring_run

# The desk waits 120 s for a meter that is lost at the end of a session, then judges the energy.
_WAIT_S = 150.0
# When standard error is not a terminal, a line of progress is printed this often.
_PROGRESS_S = 10.0
_KINDS = (_WRITTEN, _KEPT, _NONE, _FAILED) = ("written", "there already", "none yet", "failed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "session", nargs="?", type=int, metavar="SESSION", help="number of the session, from 1"
    )
    what.add_argument("--all", action="store_true", help="each session that has a verdict")
    add(
        "--out",
        type=file_to_write,
        required=True,
        metavar="FILE.zip|DIR",
        help="file to write; with --all the folder, which is made if it is not there",
    )
    place = parser.add_mutually_exclusive_group(required=environment_config() is None)
    declare_config(place)
    place.add_argument(
        "--data", type=Path, metavar="DIR", help="the --data folder of a rehearsal, or a copy of it"
    )
    add(
        "--wait",
        type=any_seconds,
        default=_WAIT_S,
        metavar="DURATION",
        help="longest wait for the energy and the score (default: %(default)g)",
    )
    add(
        "--partial",
        action="store_true",
        help="write at once; name what is missing, and write null for it into the bundle",
    )


def run(args: argparse.Namespace) -> int:
    """Write the bundle, or all of them."""
    from referee.service.evidence.bundle import write_bundle

    config = _config(args)
    if not config.database.exists():
        raise InputError(f"{config.database} does not exist: no session has been run here yet.")
    if not args.out.parent.is_dir():
        raise InputError(f"{args.out.parent} is not a folder. Make it first.")
    if args.all:
        make_folder(args.out)
    with opened_contest(config) as contest:
        if args.all:
            return _write_all(contest, args)
        if not args.partial:
            _wait(contest, args.session, args.wait)
        tell = _warn if args.partial else refuse_changed
        digests = write_bundle(contest, args.session, args.out, tell)
        print(f"Wrote {args.out}, {len(digests) + 1} members.", file=sys.stderr)
        complete = _tell_result(contest, args.session)
    return 0 if complete or args.partial else 1


def _write_all(contest: Contest, args: argparse.Namespace) -> int:
    """Write the bundles that are not there; return 1 if one of them could not be written."""
    done: Counter[str] = Counter()
    numbers = all_numbers(contest)
    for place, number in enumerate(numbers, 1):
        try:
            kind, words = _write_one(contest, number, args)
        except (Refusal, Unavailable) as error:
            kind, words = _FAILED, f"FAILED: {error}"
        done[kind] += 1
        print(f"{place} of {len(numbers)}: session {number}: {words}", file=sys.stderr, flush=True)
    counts = ", ".join(f"{kind} {done[kind]}" for kind in _KINDS)
    print(f"{args.out}: {counts}", file=sys.stderr)
    return 1 if done[_FAILED] else 0


def _write_one(contest: Contest, number: int, args: argparse.Namespace) -> tuple[str, str]:
    """Write a session's bundle into the folder unless it is there; return what was done, in words.

    Raises `Unavailable` for a session that has run and whose energy or score does not come, and
    `Refusal` for one with a row that was changed.
    """
    from referee.service.evidence.bundle import write_bundle
    from referee.service.evidence.kept_bundle import fault_of_kept

    path = args.out / bundle_name(number)
    missing = missing_from(contest, number)
    if missing is not None and not args.partial:
        if missing.to_come_s == 0.0:
            _wait(contest, number, args.wait)
        elif not has_verdict(contest, number):
            return _NONE, f"no bundle. {missing.text}"
    there = path.exists()
    tell = _warn if args.partial else refuse_changed
    fault = fault_of_kept(contest, number, path, tell)
    if fault is None:
        return _KEPT, f"{path.name} is there and whole."
    write_bundle(contest, number, path, tell)
    return _WRITTEN, f"{path.name} is written{f' again: {fault}' if there else ''}."


def _warn(fault: str) -> None:
    print(f"referee export: warning: {fault}", file=sys.stderr)


def _config(args: argparse.Namespace) -> Config:
    """Read the configuration; with --data, read the database of exactly that folder."""
    return load_config(args.config) if args.data is None else config_in(args.data)


def _wait(contest: Contest, session_id: int, wait_s: float) -> None:
    status = StatusLine(every_s=_PROGRESS_S)
    try:
        wait_until_complete(
            contest,
            session_id,
            wait_s=wait_s,
            is_hosted=_hosted_in(contest),
            pause=sleep,
            tell=status.show,
        )
    finally:
        status.clear()


def _hosted_in(contest: Contest) -> Callable[[], bool]:
    return lambda: is_hosted(contest.config.storage.folder)


def _tell_result(contest: Contest, session_id: int) -> bool:
    """Print the result, or what is missing from it; return whether it is complete."""
    from referee.service.results.result_text import result_line

    missing = missing_from(contest, session_id)
    run = newest_scoring_run(contest.database.connection, session_id)
    if missing is not None:
        print(f"The bundle is not complete. {missing.text}", file=sys.stderr)
    elif run is not None:
        print(f"Session {session_id}: {result_line(run, contest.track)}.", file=sys.stderr)
    return missing is None
