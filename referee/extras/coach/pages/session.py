# SPDX-License-Identifier: Apache-2.0
"""The coach's report of a session: for the explanation, for a rehearsal, and for a team."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from flask import Flask, Response, request

from referee.core.blocking import BlockingRunner
from referee.errors import Refusal
from referee.extras.coach.page import report_page
from referee.extras.coach.reading import read_session
from referee.extras.coach.report import report_of
from referee.scoring import GroundTruth
from referee.service.evidence.slip import is_chain_of
from referee.service.scoreboard.team_sessions import TeamSessions, require_final
from referee.service.scoreboard.view import PublicView
from referee.service.setup.contest import Contest
from referee.service.setup.extra import SessionReport
from referee.store.inputs_in_force import proposal_in_force
from referee.web.server.headers import ALONE

# The address may hold the chain of a slip, which opens the page for a team alone: no cache keeps
# it, and no other site learns its address.
_OWN = ALONE | {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
_WHOSE = "A team opens its own before, with ?chain= and the chain of its slip in the address"
# A page is a few ten kilobytes, and takes seconds in a long session.
_KEPT = 100
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
    made: OrderedDict[tuple[int, int | None], bytes] = OrderedDict()

    @app.get("/sessions/<int(max=999999999):number>/coach")
    def coach_of_session(number: int) -> Response:
        with sessions.contest.database.read() as connection:
            own = is_chain_of(connection, number, request.args.get("chain", ""))
            key = number, proposal_in_force(connection)
        if not own:
            _require_final(view_of(), number)
        if key not in made:
            made[key] = run_blocking(lambda: _page(sessions, number))
            if len(made) > _KEPT:
                made.popitem(last=False)
        return Response(made[key], content_type=_HTML, headers=_OWN)


def _page(sessions: TeamSessions, number: int) -> bytes:
    coached = read_session(sessions.contest, number, sessions.truth(number))
    return report_page([report_of(coached)]).encode("utf-8")


def _require_final(view: PublicView, number: int) -> None:
    """Raise `Refusal` for a session that not everybody may see; it says what its team may do."""
    try:
        require_final(view, number, "The coach's report is shown")
    except Refusal as refusal:
        raise Refusal(refusal.code, f"{refusal} {_WHOSE}.") from None
