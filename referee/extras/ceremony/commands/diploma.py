# SPDX-License-Identifier: Apache-2.0
"""Make a diploma for each team that took part: a page of A4 with its place, figures and prizes.

The results must be final. A QR code holds the SHA-256 of the bundle that 'referee export' writes,
so the paper and the evidence belong together. Open the page in a browser, and print it.

  referee diploma --out diplomas.html --config event/contest.toml
  referee diploma --out rocket.html 'Team Rocket' --config event/contest.toml
  referee diploma --rehearsal --out rehearsal.html --config event/contest.toml
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import page_to_write
from referee.commands.options import add_config
from referee.core.counts import counted
from referee.core.logins import TeamWords
from referee.errors import InputError
from referee.programs.progress import progress_bar
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.opened import opened_contest
from referee.service.setup.whole_files import replace_file
from referee.store.team_words import other_words

if TYPE_CHECKING:
    from referee.extras.ceremony.diploma import Diploma

_REHEARSAL = "REHEARSAL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("team", nargs="*", metavar="TEAM", help="only these teams (default: all that took part)")
    add(
        "--out",
        type=page_to_write,
        required=True,
        metavar="FILE.html",
        help="page to write, then to print",
    )
    add("--rehearsal", action="store_true", help="with generated results, to try the printer")
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    from referee.extras.ceremony.diploma import diplomas_of, diplomas_page
    from referee.extras.ceremony.rehearsal import rehearsed
    from referee.service.event.results import read_results

    with opened_contest(load_config(args.config)) as contest:
        results = rehearsed(contest)[0] if args.rehearsal else read_results(contest)
        if not results.final:
            raise InputError(
                "The results are PROVISIONAL, so there are no diplomas yet. Make them final first "
                "('referee finalize'), or try the printer with --rehearsal."
            )
        words = other_words(contest.database.connection)
        chosen = _chosen(diplomas_of(results, {}), args.team, words)
        sessions = [one.session for one in chosen.values() if one.session is not None]
        digests = _rehearsed(sessions) if args.rehearsal else _digests(contest, sessions)
    diplomas = [diploma for diploma in diplomas_of(results, digests) if diploma.team in chosen]
    made = diplomas_page(results, diplomas, _REHEARSAL if args.rehearsal else "")
    replace_file(args.out, made.encode("utf-8"), 0o644)
    count = len(diplomas)
    print(f"Wrote {args.out}: {counted(count, 'diploma')} on A4, landscape.")
    return 0


def _chosen(
    diplomas: Sequence[Diploma], teams: Sequence[str], words: Sequence[tuple[str, str]]
) -> dict[str, Diploma]:
    """Return the chosen diplomas by team; raise `InputError` for a team without one.

    `words` has logins and earlier names.
    """
    by_team = {diploma.team: diploma for diploma in diplomas}
    if not by_team:
        raise InputError("No team has a session that counts, so there are no diplomas.")
    known = TeamWords(by_team, words)
    chosen = [known.find(team) or team for team in teams]
    for team in chosen:
        if team not in by_team:
            raise InputError(
                f"'{team}' has no session that counts and no model with a place, so there is no "
                "diploma for it."
            )
    return {team: by_team[team] for team in chosen or by_team}


def _digests(contest: Contest, sessions: Sequence[int]) -> dict[int, str]:
    """Return the SHA-256 of the bundle of each session: equal facts give equal bytes."""
    from referee.service.evidence.bundle import write_bundle

    digests = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        progress_bar("bundles hashed") as progress,
    ):
        path = Path(folder) / "bundle.zip"
        for done, session in enumerate(sessions, start=1):
            write_bundle(contest, session, path)
            with path.open("rb") as file:
                digests[session] = file_digest(file, "sha256").hexdigest()
            progress(done, len(sessions))
    return digests


def _rehearsed(sessions: Sequence[int]) -> dict[int, str]:
    """Return hashes that are none of a bundle, as long as those."""
    return {session: sha256(b"rehearsal").hexdigest() for session in sessions}
