# SPDX-License-Identifier: Apache-2.0
"""The page of a session's slip, to be printed for the team."""

from __future__ import annotations

from html import escape

import segno

from referee.errors import Refusal
from referee.service.evidence.slip import slip_of
from referee.service.setup.contest import Contest
from referee.store.sessions import load_session


def slip_page_of(contest: Contest, session_id: int) -> str:
    """Return the page of a session's slip.

    Raises `Refusal` (code `session_unknown`), and (code `no_score`) before the session's score.
    """
    with contest.database.read() as connection:
        session = load_session(connection, session_id)
        slip = slip_of(connection, session_id)
    if slip is None:
        raise Refusal("no_score", f"Session {session_id} has no score, and so it has no slip yet.")
    return slip_page(contest.config.contest.name, session.team, slip)


def slip_page(contest: str, team: str, slip: str) -> str:
    """Return the console's page, with the slip as text and as a QR code."""
    code = segno.make(slip, error="m", micro=False).svg_inline(scale=4, border=2, light="white")
    return _PAGE.format(contest=escape(contest), team=escape(team), slip=escape(slip), code=code)


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
<p>Keep this slip. It proves the session to anybody who has its evidence bundle:</p>
<p><code>referee verify FILE.zip --ground-truth PATH --slip '{slip}'</code></p>
</div>
</section>
</html>
"""
