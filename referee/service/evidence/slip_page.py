# SPDX-License-Identifier: Apache-2.0
"""The page of a session's slip, to be printed for the team."""

from __future__ import annotations

import shlex
from dataclasses import replace
from html import escape
from pathlib import Path

import segno

from referee.errors import Refusal
from referee.service.evidence.inputs import inputs_of
from referee.service.evidence.slip import slip_of
from referee.service.setup.config import ImagesSection
from referee.service.setup.contest import Contest
from referee.store.scores import newest_scoring_run
from referee.store.sessions import load_session


def slip_page_of(contest: Contest, session_id: int) -> str:
    """Return the page of a session's slip.

    Raises `Refusal` (code `session_unknown`), and (code `no_score`) before the session's score.
    """
    with contest.database.read() as connection:
        session = load_session(connection, session_id)
        slip = slip_of(connection, session_id)
        run = newest_scoring_run(connection, session_id)
        inputs = inputs_of(connection, run)
    if slip is None:
        raise Refusal("no_score", f"Session {session_id} has no score, and so it has no slip yet.")
    images = contest.config.images
    listed = (images.blacklist or Path("blacklist.csv")) if "blacklist" in inputs else None
    command = verify_command(session_id, replace(images, blacklist=listed), slip)
    return slip_page(contest.config.contest.name, session.team, slip, command)


def verify_command(session_id: int, images: ImagesSection, slip: str) -> str:
    """Return the command that proves a slip, with every file that it needs by name."""
    words = ["referee", "verify", f"session{session_id}.zip"]
    words += ["--ground-truth", images.ground_truth.name]
    if images.blacklist is not None:
        words += ["--blacklist", images.blacklist.name]
    return shlex.join([*words, "--slip", slip])


def slip_page(contest: str, team: str, slip: str, command: str) -> str:
    """Return the console's page, with the slip as text and as a QR code."""
    code = segno.make(slip, error="m", micro=False).svg_inline(scale=4, border=2, light="white")
    texts = {"contest": contest, "team": team, "slip": slip, "command": command}
    return _PAGE.format(code=code, **{name: escape(text) for name, text in texts.items()})


_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{contest}: slip of {team}</title>
<link rel="stylesheet" href="/static/event/slip.css">
<p class="note">Print this page, cut along the dashed line, and give the slip to the team.</p>
<section>
{code}
<div>
<p>{contest}</p>
<h1>{team}</h1>
<p class="slip"><code>{slip}</code></p>
<p>Keep this slip. It proves the session to anybody who has its evidence bundle, which the operators
export, and the files that it was scored with:</p>
<p><code>{command}</code></p>
</div>
</section>
</html>
"""
