# SPDX-License-Identifier: Apache-2.0
"""Show where a session's joules went, and what would have raised its score.

It tells the best moment to log out, the parts of the energy, the dearest images, and what other
ways of working would have given, as far as the session carries it. For example, after a rehearsal:

  referee coach 1
  referee coach 1 2
  referee coach session3.zip --ground-truth truth.json
  referee coach 3 --config event/contest.toml --idle-w 2.1 --out coach.html

Two sessions are set side by side. This works while the servers run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import page_to_write
from referee.commands.numbers import watts
from referee.commands.options import declare_config
from referee.errors import InputError
from referee.programs.practice_folder import PRACTICE_DATA, config_in
from referee.programs.progress import progress_bar
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from referee.service.setup.whole_files import replace_file
from referee.tracks.loading import TRACK_HELP, TRACK_OPTION

if TYPE_CHECKING:
    from referee.extras.coach.reading import Coached


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "session",
        nargs="+",
        metavar="SESSION|BUNDLE",
        help="number of a session, from 1, or a bundle's zip file; two for a comparison",
    )
    place = parser.add_mutually_exclusive_group()
    declare_config(place, "an event's contest.toml")
    place.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help=f"the --data folder of a rehearsal (default: {PRACTICE_DATA}, without a --config)",
    )
    bundles = parser.add_argument_group("for bundles")
    bundles.add_argument(
        "--ground-truth", type=Path, metavar="PATH", help="the ground truth, as of 'verify'"
    )
    bundles.add_argument(
        "--blacklist", type=Path, metavar="PATH", help="the blacklist, for a bundle without its own"
    )
    bundles.add_argument(TRACK_OPTION, metavar="MODULE", help=TRACK_HELP)
    add(
        "--idle-w",
        type=watts,
        metavar="WATTS",
        help="power of the idle device (default: the mean before the first image)",
    )
    add("--json", action="store_true", help="print JSON")
    add("--out", type=page_to_write, metavar="FILE.html", help="write a page, too")


def run(args: argparse.Namespace) -> int:
    """Print the report of a session, or two reports and what differs."""
    if len(args.session) > 2:
        raise InputError("Give one session, or two to compare.")
    with ExitStack() as open_until_printed:
        coached = [open_until_printed.enter_context(_read(args, which)) for which in args.session]
        _tell(args, coached)
    return 0


def _tell(args: argparse.Namespace, coached: list[Coached]) -> None:
    from referee.extras.coach.page import report_page
    from referee.extras.coach.report import report_of
    from referee.extras.coach.rules.side_by_side import side_by_side
    from referee.extras.coach.wording import compared_words

    reports = []
    for one in coached:
        with progress_bar("moments scored") as progress:
            reports.append(report_of(one, args.idle_w, progress))
    compared = None
    if len(coached) == 2:
        first, second = (
            (one.played, report.went) for one, report in zip(coached, reports, strict=True)
        )
        compared = side_by_side(first, second)
    lines = (
        []
        if compared is None
        else [*compared_words(compared, *(f"session {one.session_id}" for one in coached))]
    )
    if args.out is not None:
        replace_file(args.out, report_page(reports, lines).encode("utf-8"), 0o644)
    if args.json:
        objects = [report.to_json() for report in reports]
        both = {"sessions": objects, "compared": lines}
        print(json.dumps(objects[0] if compared is None else both))
        return
    for report in reports:
        print(report.title)
        for title, told in report.advice().parts.items():
            print(f"\n{title}", *(f"  {line}" for line in told), sep="\n")
        print()
    if lines:
        print("Side by side", *(f"  {line}" for line in lines), sep="\n")


@contextmanager
def _read(args: argparse.Namespace, which: str) -> Iterator[Coached]:
    from referee.extras.coach.reading import read_bundle, read_session

    if not which.isdecimal():
        if args.ground_truth is None:
            raise InputError(
                f"{which}: a bundle holds no ground truth. Give it as --ground-truth PATH."
            )
        with read_bundle(Path(which), args.ground_truth, args.blacklist, args.track) as coached:
            yield coached
        return
    config = _config(args)
    if not config.database.exists():
        raise InputError(f"{config.database} does not exist: no session has been run here yet.")
    with opened_contest(config) as contest:
        yield read_session(contest, int(which))


def _config(args: argparse.Namespace) -> Config:
    if args.data is None and args.config is not None:
        return load_config(args.config)
    return config_in(args.data or PRACTICE_DATA)
