# SPDX-License-Identifier: Apache-2.0
"""The control desk's application: the operators' page, its live board, and their actions."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from flask import Flask, Response, jsonify, request, send_from_directory
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from referee.core.states import EndCause, SessionState, state_of
from referee.errors import RefereeError, Refusal
from referee.service.board.board import Board
from referee.service.desk.control_desk import ControlDesk
from referee.service.entry.teams import registered_teams
from referee.service.setup.contest import Contest
from referee.store.sessions import load_session
from referee.web.desk.assets import static_folder
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.same_origin import admit_own_pages_only

_OPERATOR = "operator"
_log = logging.getLogger(__name__)

# Scripts and styles come from here alone, and nobody else may frame the page or send its forms.
_POLICY = "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"


def console_app(contest: Contest, desk: ControlDesk, board: Board, broadcast: Broadcast) -> Flask:
    """Build the application of the control desk."""
    app = Flask("referee.console", static_folder=None)
    key = hmac.new(contest.secrets.console_key, b"console form", sha256).hexdigest()
    admit_own_pages_only(app, contest.config.server.console)
    _register_pages(app, key)
    _register_board(app, board, broadcast)
    _register_actions(app, contest, desk, broadcast, key)

    @app.after_request
    def protect(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers.setdefault("Cache-Control", "no-cache")
        return response

    @app.errorhandler(Refusal)
    def refused(refusal: Refusal) -> tuple[Response, int]:
        return jsonify(code=refusal.code, text=str(refusal)), 409

    @app.errorhandler(RefereeError)
    def unavailable(error: RefereeError) -> tuple[Response, int]:
        return jsonify(code="unavailable", text=str(error)), 503

    @app.errorhandler(Exception)
    def failed(error: Exception) -> Response | HTTPException | tuple[Response, int]:
        if isinstance(error, HTTPException):
            return error
        _log.exception("%s %s failed", request.method, request.path, exc_info=error)
        return jsonify(code="failed", text="The desk failed to do it; its log says why."), 500

    return app


def _register_pages(app: Flask, key: str) -> None:
    @app.get("/")
    def page() -> Response:
        return send_from_directory(static_folder() / "console", "console.html")

    @app.get("/static/<path:name>")
    def static(name: str) -> Response:
        return send_from_directory(static_folder(), name)

    @app.get("/form-key")
    def form_key() -> Response:
        # Readable by this origin's pages alone: no cross-origin header is ever sent.
        return jsonify(key=key)


def _register_board(app: Flask, board: Board, broadcast: Broadcast) -> None:
    @app.get("/board")
    def one_board() -> Response:
        return jsonify(board.show())

    @app.get("/sessions/<int:session_id>")
    def one_session(session_id: int) -> Response:
        return jsonify(board.session(session_id))

    @app.get("/sessions/<int:session_id>/power")
    def power(session_id: int) -> Response:
        after = request.args.get("after", 0, type=int)
        return jsonify(samples=board.power(session_id, after))

    @app.route("/events", methods=["GET"], provide_automatic_options=False)
    def events() -> Response:
        if request.method != "GET":  # Flask adds HEAD, which has no use for a stream.
            raise MethodNotAllowed(["GET"])
        return Response(
            broadcast.stream(),
            content_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


def _register_actions(
    app: Flask, contest: Contest, desk: ControlDesk, broadcast: Broadcast, key: str
) -> None:
    def act(action: Callable[[dict[str, Any]], dict[str, Any]]) -> Response:
        """Run an operator's action if it comes from our own page, and show its effect at once."""
        sent = request.headers.get("X-Form-Key", "").encode("utf-8", "replace")
        if not hmac.compare_digest(sent, key.encode()):
            raise Refusal("form_key_wrong", "The page is out of date: reload it and try again.")
        arguments = request.get_json(silent=True)
        answer = action(arguments if isinstance(arguments, dict) else {})
        broadcast.publish_now()
        return jsonify(answer)

    @app.post("/sessions")
    def new_session() -> Response:
        return act(lambda args: {"session": _new_session(contest, desk, args)})

    @app.post("/sessions/<int:session_id>/arm")
    def arm(session_id: int) -> Response:
        return act(lambda args: _moved(contest, session_id, args, lambda: _arm(desk, session_id)))

    @app.post("/sessions/<int:session_id>/stop")
    def stop(session_id: int) -> Response:
        def do() -> None:
            desk.end(session_id, EndCause.STOP, _OPERATOR)

        return act(lambda args: _moved(contest, session_id, args, do))

    @app.post("/sessions/<int:session_id>/void")
    def void(session_id: int) -> Response:
        def do(args: dict[str, Any]) -> dict[str, Any]:
            reason = str(args.get("reason", ""))
            return _moved(
                contest, session_id, args, lambda: desk.void(session_id, _OPERATOR, reason)
            )

        return act(do)


def _arm(desk: ControlDesk, session_id: int) -> None:
    desk.arm(session_id, _OPERATOR)


def _new_session(contest: Contest, desk: ControlDesk, arguments: dict[str, Any]) -> int:
    team = str(arguments.get("team", ""))
    if contest.config.contest.mode == "practice":
        raise Refusal("practice", "In practice every login makes its own session.")
    if team not in registered_teams(contest.config.teams):
        raise Refusal(
            "team_unknown", f"'{team}' is not registered: run 'referee team add' with its name."
        )
    return desk.new_session(team, _OPERATOR)


def _moved(
    contest: Contest, session_id: int, arguments: dict[str, Any], action: Callable[[], None]
) -> dict[str, Any]:
    """Act only if the session is still in the state that the operator saw on the page."""

    def state() -> SessionState:
        facts = load_session(contest.database.connection, session_id).facts
        return state_of(facts, contest.clock.now())

    seen = arguments.get("seen_state")
    if seen is not None and seen != state().value:
        raise Refusal(
            "state_moved",
            f"Session {session_id} is {state().value} by now, not {json.dumps(seen)}; look again.",
        )
    action()
    return {"session": session_id, "state": state().value}
