# SPDX-License-Identifier: Apache-2.0
"""The coach's report of a session: for the explanation, for a rehearsal, and for a team."""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest

from flask import Flask, Response, request

from referee.core.blocking import BlockingRunner
from referee.errors import Refusal
from referee.extras.coach.page import report_page
from referee.extras.coach.reading import read_session
from referee.extras.coach.report import report_of
from referee.scoring import GroundTruth
from referee.service.evidence.slip import slip_link, slip_of
from referee.service.scoreboard.team_sessions import TeamSessions, require_final
from referee.service.scoreboard.view import PublicView
from referee.service.setup.contest import Contest
from referee.service.setup.extra import SessionReport
from referee.store.inputs_in_force import proposal_in_force
from referee.web.server.headers import ALONE

_HTML = "text/html; charset=utf-8"


def session_report(contest: Contest, session_id: int, truth: GroundTruth) -> SessionReport | None:
    """Return what the coach says of a session, None where it has nothing to say."""
    try:
        coached = read_session(contest, session_id, truth)
    except Refusal:
        return None
    report = report_of(coached)
    advice = report.advice()
    return SessionReport("Coach", advice.headline, advice.parts, report_page([report]))


def add_scoreboard_routes(
    app: Flask,
    sessions: TeamSessions,
    view_of: Callable[[], PublicView],
    run_blocking: BlockingRunner,
) -> None:
    """Add the report of a session: for everybody once it is final, before for who has its slip."""
    # By session and by the files that it was scored with.
    made: dict[tuple[int, int | None], bytes] = {}

    @app.get("/sessions/<int:number>/coach")
    def coach_of_session(number: int) -> Response:
        if not _has_slip(sessions.contest, number, request.args.get("chain", "")):
            require_final(view_of(), number, "The coach's report is shown")
        with sessions.contest.database.read() as connection:
            key = number, proposal_in_force(connection)
        page = made.get(key) or run_blocking(lambda: _page(sessions, number))
        made.clear()  # A page is a few ten kilobytes, and seldom asked for twice.
        made[key] = page
        return Response(page, content_type=_HTML, headers=ALONE)


def _page(sessions: TeamSessions, number: int) -> bytes:
    coached = read_session(sessions.contest, number, sessions.truth(number))
    return report_page([report_of(coached)]).encode("utf-8")


def _has_slip(contest: Contest, number: int, chain: str) -> bool:
    """Tell whether somebody knows the chain of the session's newest slip."""
    with contest.database.read() as connection:
        slip = slip_of(connection, number)
    told = slip_link(chain)
    return slip is not None and bool(told) and compare_digest(told, slip_link(slip.split()[-1]))
