# SPDX-License-Identifier: Apache-2.0
"""Write the evidence bundle of a session, or of all. This works while the servers run.

For example:

  referee export 3 --out session3.zip --config event/contest.toml
  referee export 1 --out rehearsal.zip --data practice-data
  referee export --all --out bundles --config event/contest.toml

--all writes session1.zip, session2.zip and so on into a folder, one for each session that has a
verdict. A file that already exists and is still what its session gives stays as it is. So give
the same command again after an interruption, or after the next session.

Another session's bundle is never replaced, for example that of a team that ran before a backup was
restored. With --all, or a folder as --out, the new one gets a name of its own beside it, such as
session3-9f3a77c1.zip. An existing FILE.zip is refused, unless it is this session's own earlier
state; --force replaces it.

The energy and the score follow some seconds after a session's end. The command waits for them. If
they do not come, it writes no file and ends with exit code 1. Nor does it write one if somebody has
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
from referee.core.restored import RESTORED_REMEDY, restored_text
from referee.errors import InputError, Refusal, Unavailable
from referee.programs.practice_folder import config_in
from referee.programs.progress import StatusLine
from referee.service.evidence.completeness import (
    all_numbers,
    bundle_path,
    has_verdict,
    missing_from,
    own_name,
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
        help="file to write, or a folder; with --all the folder, made if it does not exist",
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
        "--force",
        action="store_true",
        help="with a SESSION: replace FILE.zip, whatever it is",
    )
    add(
        "--partial",
        action="store_true",
        help="write at once; name what is missing, and write null for it into the bundle",
    )


def run(args: argparse.Namespace) -> int:
    """Write the bundle, or all of them."""
    if args.force and (args.all or args.out.is_dir()):
        raise InputError("--force replaces one file: name the session and the file.")
    config = _config(args)
    if not config.database.exists():
        raise InputError(f"{config.database} does not exist: no session has been run here yet.")
    if not args.out.parent.is_dir():
        raise InputError(f"{args.out.parent} is not a folder. Make it first.")
    if args.all:
        make_folder(args.out)
    with opened_contest(config) as contest:
        _warn_if_restored(contest)
        _warn_if_unsigned(contest)
        if args.all:
            return _write_all(contest, args)
        if not args.partial:
            _wait(contest, args.session, args.wait)
        if args.out.is_dir():
            _, words = _write_into(contest, args.session, args)
        else:
            words = _write_file(contest, args.session, args)
        print(words, file=sys.stderr)
        complete = _tell_result(contest, args.session)
    return 0 if complete or args.partial else 1


def _write_file(contest: Contest, number: int, args: argparse.Namespace) -> str:
    """Write a session's bundle to a file; return what was done, in words.

    Raises `Refusal` (code `file_exists`) for a file of anything else, unless --force is given.
    """
    from referee.service.evidence.bundle import write_bundle
    from referee.service.evidence.kept_bundle import Kind, standing_of

    path: Path = args.out
    tell = _warn if args.partial else refuse_changed
    if not args.force:
        standing = standing_of(contest, number, path, tell)
        if standing.kind is Kind.KEPT:
            return f"{path} already exists, and is what session {number} gives."
        if standing.kind in (Kind.OTHER, Kind.AHEAD):
            raise Refusal(
                "file_exists",
                f"{path} is there, and stays: {standing.why.rstrip('.')}. Give another name, or "
                "--force to replace it.",
            )
    digests = write_bundle(contest, number, path, tell)
    return f"Wrote {path}, {len(digests) + 1} members."


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
    missing = missing_from(contest, number)
    if missing is not None and not args.partial:
        if missing.to_come_s == 0.0:
            _wait(contest, number, args.wait)
        elif not has_verdict(contest, number):
            return _NONE, f"no bundle. {missing.text}"
    return _write_into(contest, number, args)


def _write_into(contest: Contest, number: int, args: argparse.Namespace) -> tuple[str, str]:
    """Write a session's bundle into the folder --out; return what was done, in words.

    Where another session's bundle has its name it gets one of its own. Raises `Refusal` (code
    `file_exists`) where that is taken too, and for a file that has more facts than the database.
    """
    from referee.service.evidence.bundle import write_bundle
    from referee.service.evidence.kept_bundle import Kind, standing_of

    tell = _warn if args.partial else refuse_changed
    paths = [bundle_path(contest, number, args.out), args.out / own_name(contest, number)]
    stays = ""
    for path in dict.fromkeys(paths):
        standing = standing_of(contest, number, path, tell)
        if standing.kind is Kind.KEPT:
            return _KEPT, f"{path.name} is there and whole.{stays}"
        if standing.kind in (Kind.ABSENT, Kind.EARLIER):
            write_bundle(contest, number, path, tell)
            again = f" again: {standing.why}" if standing.kind is Kind.EARLIER else ""
            return _WRITTEN, f"{path.name} is written{again}.{stays}"
        stays += f" {path.name} stays: {standing.why.rstrip('.')}."
        if standing.kind is Kind.AHEAD:
            break
    raise Refusal("file_exists", f"{stays.strip()} Export into another folder.")


def _warn_if_restored(contest: Contest) -> None:
    """Warn of a folder that knows less than the bundles or slips beside it."""
    from referee.service.evidence.newer_evidence import newer_evidence

    newer = newer_evidence(contest.config, contest.database.connection)
    if newer:
        _warn(f"{restored_text(newer)} {RESTORED_REMEDY}")


def _warn_if_unsigned(contest: Contest) -> None:
    """Warn of a folder without the event's key, whose bundles nobody signs."""
    from referee.service.setup.signing_key import PRIVATE

    key = contest.config.storage.folder / PRIVATE
    if not key.exists():
        _warn(f"{key} is not there, so no new bundle is signed. Restore it, and export again.")


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
