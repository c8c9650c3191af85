# SPDX-License-Identifier: Apache-2.0
"""Show what became of each detection of a session: pictures of the mistakes, and curves.

For example, after a rehearsal:

  referee explain 1
  referee explain 3 --config event/contest.toml --out why

The folder gets a page index.html, pictures of the worst mistakes on the images, a precision-recall
curve for each class, and a CSV with the fate of each detection. This works while the servers run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from referee.commands.options import declare_config
from referee.errors import InputError
from referee.programs.practice_folder import PRACTICE_DATA, config_in
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.opened import opened_contest
from referee.store.sessions import load_session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("session", type=int, metavar="SESSION", help="number of the session, from 1")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder to write (default: explained-SESSION)",
    )
    place = parser.add_mutually_exclusive_group()
    declare_config(place, "an event's contest.toml")
    place.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help=f"the --data folder of a rehearsal (default: {PRACTICE_DATA}, without a --config)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the explanation."""
    if args.data is None and args.config is not None:
        config = load_config(args.config)
    else:
        config = config_in(args.data or PRACTICE_DATA)
    if not config.database.exists():
        raise InputError(f"{config.database} does not exist: no session has been run here yet.")
    folder = args.out or Path(f"explained-{args.session}")
    with opened_contest(config) as contest:
        _explain(contest, args.session, folder)
    print(f"Open {folder / 'index.html'}", file=sys.stderr)
    return 0


def _explain(contest: Contest, session_id: int, folder: Path) -> None:
    """Write the explanation of a session's answers in time; images have the contest's ids."""
    from referee.core.detections import Detections
    from referee.formats.truth_file import GroundTruthFile
    from referee.scoring.ilsvrc import evaluate
    from referee.service.results.final_score import scored_answer
    from referee.service.results.score_explanation import write_explanation
    from referee.service.setup.contest_truth import read_truth_of_session
    from referee.service.setup.extra import all_extras

    session = load_session(contest.database.connection, session_id)
    detections = scored_answer(contest, session)
    if not isinstance(detections, Detections):
        raise InputError(f"The track '{session.track}' has no boxes that could be explained.")
    truth_file = GroundTruthFile(
        read_truth_of_session(contest, session_id),
        file_names={entry.image_id: Path(entry.path).name for entry in contest.images},
        sizes={entry.image_id: (entry.width, entry.height) for entry in contest.images},
    )
    result = evaluate(truth_file.truth, detections)
    subject = f"session {session_id} of '{session.team}'"
    pictures = contest.config.images.folder
    reports = [
        (extra.name, report)
        for extra in all_extras()
        for report in [extra.session_report(contest, session_id, truth_file.truth)]
        if report is not None
    ]
    write_explanation(folder, result, truth_file, detections, pictures, subject, dict(reports))
