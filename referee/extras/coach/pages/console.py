# SPDX-License-Identifier: Apache-2.0
"""The coach on the console of a rehearsal: a card, and the report that the rehearsal has made.

The control desk loads this at its start, and computes nothing here.
"""

from __future__ import annotations

from flask import Flask, Response, request

from referee.errors import Refusal
from referee.service.results.session_reports import report_file
from referee.service.setup.contest import Contest
from referee.service.setup.extra import ConsoleBox
from referee.service.setup.pages import page
from referee.store.database import Connection
from referee.store.scores import newest_scoring_run
from referee.store.sessions import all_sessions
from referee.web.server.headers import ALONE

_NAME = "coach"
# Older sessions have the command.
_LOOKED_AT = 20


def box(connection: Connection) -> ConsoleBox:
    """Return the card of a rehearsal's console: the newest scored session's report."""
    scored = (
        session.session_id
        for session in all_sessions(connection, _LOOKED_AT)
        if newest_scoring_run(connection, session.session_id) is not None
    )
    number = next(scored, None)
    if number is None:
        return ConsoleBox(title="Coach", text="After a session: where its joules went.")
    return ConsoleBox(
        title="Coach",
        text=f"Session {number}: where its joules went, and what would have raised its score.",
        link=f"/coach/{number}",
        link_text="Open the report",
    )


def add_console_routes(app: Flask, contest: Contest) -> None:
    """Add the page of a rehearsal's session, which the rehearsal made when it was scored."""

    @app.get("/coach/<int:number>")
    def coach_page(number: int) -> Response:
        file = report_file(contest.config, _NAME, number)
        if file.exists():
            return _html(file.read_bytes())
        text = (
            f"There is no report of session {number} yet. A rehearsal makes it once the session "
            f"is scored, and 'referee coach {number}' makes it at any time."
        )
        # The card leads here as soon as there is a score, which is some seconds before the report.
        if "text/html" in request.headers.get("Accept", ""):
            return _html(page("extras/coach/waiting.html", number=number, text=text), 409)
        raise Refusal("no_report", text)


def _html(content: bytes | str, status: int = 200) -> Response:
    return Response(content, status, ALONE, content_type="text/html; charset=utf-8")
