# SPDX-License-Identifier: Apache-2.0
"""The control desk's application: the operators' page, the live board, and the actions.

Two addresses, `/health` and `/metrics`, are for programs that watch the referee.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Sequence
from hashlib import sha256
from itertools import chain

import msgspec
from flask import Flask, Response, jsonify, request, send_from_directory
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.wrappers import Response as PlainResponse

from referee.errors import InputError, RefereeError, Refusal
from referee.service.board.board import Board
from referee.service.board.shown import ShownBoard
from referee.service.desk.control_desk import ControlDesk
from referee.service.observation.metrics import (
    CONTENT_TYPE,
    lane_metrics,
    machine_metrics,
    request_metrics,
    text_of,
)
from referee.service.observation.processes import processes_under
from referee.service.observation.request_counts import RequestCounts
from referee.service.people.logins import Logins
from referee.service.preflight.disk import free_bytes
from referee.service.setup.contest import Contest
from referee.service.setup.extra import all_extras
from referee.service.setup.lane_words import lane_words
from referee.service.setup.pages import static_folder
from referee.web.desk.acting import guard_actions
from referee.web.desk.actions import register_actions
from referee.web.desk.arguments import query_number, session_number
from referee.web.desk.assets import folder_and_name
from referee.web.desk.audit import register_audit
from referee.web.desk.auth import admit_own_pages_only, register_logins, require_login
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.check import register_check
from referee.web.desk.commands import RunCommand, register_bundles, register_proposals
from referee.web.desk.display import register_display
from referee.web.desk.event import register_event
from referee.web.desk.roles import action_of_request
from referee.web.desk.slips import register_slips
from referee.web.desk.visitors import ConsoleRequest, while_let_in
from referee.web.server.application import Application
from referee.web.server.headers import RETRY_S, protect_pages
from referee.web.server.pieces import document_response, stream_response
from referee.web.server.struct_json import answer_structs

_log = logging.getLogger(__name__)

# Scripts and styles come from here alone. No other site may frame the page or take its forms.
_POLICY = "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
# The statuses of refusals that are not a conflict with what is on record.
_STATUS = {
    "json_wrong": 400,
    "text_wrong": 400,
    "number_wrong": 400,
    "choice_wrong": 400,
    "login_invalid": 403,
    "login_busy": 429,
    "bundle_unknown": 404,
    "body_truncated": 400,
    "body_too_slow": 408,
    "body_too_large": 413,
}


def _nobody_runs(words: Sequence[str]) -> tuple[int, str]:
    return 1, f"This desk runs no commands: run 'referee {words[0]}' in a terminal."


def console_app(
    contest: Contest,
    desk: ControlDesk,
    board: Board,
    broadcast: Broadcast,
    supervisor: int = 0,
    run: RunCommand = _nobody_runs,
) -> Flask:
    """Build the application of the control desk.

    `supervisor` is the id of the process that started all of the referee's; 0 stands for none.
    `run` runs a command of the referee in a process of its own.
    """
    app = Application("referee.console", static_folder=None)
    app.request_class = ConsoleRequest
    answer_structs(app)
    key = hmac.new(contest.secrets.console_key, b"console form", sha256).hexdigest()
    logins = Logins(contest)
    admit_own_pages_only(app, contest.config.server.console)
    require_login(app, contest, logins)
    guard_actions(app, broadcast, key)
    register_logins(app, contest, logins, key)
    _register_pages(app, key)
    _register_board(app, board, broadcast, logins)
    register_actions(app, contest, desk, board.alarms)
    register_event(app, contest)
    register_slips(app, contest)
    register_bundles(app, contest, run)
    register_proposals(app, contest, run)
    register_audit(app, contest)
    register_check(app, contest, desk.readiness)
    register_display(app, [lane.display for lane in desk.lanes], logins)
    for extra in all_extras():
        extra.add_console_routes(app, contest)
    register_observation(app, contest, desk, board, supervisor)
    _register_errors(app, board)
    protect_pages(app, _POLICY)
    return app


def _register_pages(app: Flask, key: str) -> None:
    @app.get("/")
    def page() -> Response:
        return send_from_directory(static_folder() / "console", "console.html")

    @app.get("/static/<path:name>")
    def static(name: str) -> Response:
        return send_from_directory(*folder_and_name(name))

    @app.get("/form-key")
    def form_key() -> Response:
        # Only pages of this origin can read the key, because no cross-origin header is ever sent.
        return jsonify(key=key)


def _register_board(app: Flask, board: Board, broadcast: Broadcast, logins: Logins) -> None:
    @app.get("/board")
    def one_board() -> Response:
        text = msgspec.json.encode(board.show()).decode()
        return document_response(request, text, "application/json")

    @app.get("/sessions/<number>")
    def one_session(number: str) -> Response:
        return jsonify(board.session(session_number(number)))

    @app.get("/sessions/<number>/power")
    def power(number: str) -> Response:
        return jsonify(samples=board.power(session_number(number), query_number("after")))

    @app.route("/events", methods=["GET"], provide_automatic_options=False)
    def events() -> Response:
        if request.method != "GET":  # Flask adds HEAD, but a stream has no use for it.
            raise MethodNotAllowed(["GET"])
        since = request.args.get("since")
        if since is not None:  # A browser that connects again by itself says the newest number.
            since = request.headers.get("Last-Event-ID", since)
        pieces = while_let_in(logins, broadcast.stream(since))
        return stream_response(request, pieces, "text/event-stream")


def _register_errors(app: Flask, board: Board) -> None:
    @app.errorhandler(Refusal)
    def refused(refusal: Refusal) -> tuple[Response, int]:
        return jsonify(code=refusal.code, text=str(refusal)), _STATUS.get(refusal.code, 409)

    @app.errorhandler(RefereeError)
    def unavailable(
        error: RefereeError,
    ) -> tuple[Response, int] | tuple[Response, int, dict[str, str]]:
        if isinstance(error, InputError) and action_of_request():
            return refused(Refusal("input_wrong", str(error)))
        return jsonify(code="unavailable", text=str(error)), 503, {"Retry-After": RETRY_S}

    @app.errorhandler(HTTPException)
    def not_served(error: HTTPException) -> PlainResponse:
        # A contestant's client may come here by mistake and print the answer, so it is plain text.
        response = PlainResponse(status=error.code, headers=error.get_headers())
        text = error.description
        if isinstance(error, NotFound):
            where = " or ".join(board.contestants_urls()) or "this laptop's other port"
            text = (
                "This is the operators' console, and it has no such page. "
                f"Contestants connect to {where}."
            )
        response.content_type = "text/plain; charset=utf-8"
        response.set_data(f"{text}\n")
        return response

    @app.errorhandler(Exception)
    def failed(error: Exception) -> tuple[Response, int]:
        _log.exception("%s %s failed", request.method, request.path, exc_info=error)
        return jsonify(code="failed", text="The desk failed to do it; its log says why."), 500


def register_observation(
    app: Flask, contest: Contest, desk: ControlDesk, board: Board, supervisor: int
) -> None:
    """Add `/health` and `/metrics`; `supervisor` is the process id above all of the referee's."""
    counts = RequestCounts(contest)

    @app.get("/health")
    def health() -> tuple[Response, int]:
        health = health_of(desk.obstacles(), board.show())
        return jsonify(health), 200 if health.healthy else 503

    @app.get("/metrics")
    def metrics() -> Response:
        text = text_of(
            chain(
                lane_metrics(board.show()),
                request_metrics(counts.now()),
                machine_metrics(free_bytes(contest.config), processes_under(supervisor)),
            )
        )
        return Response(text, content_type=CONTENT_TYPE)


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the referee is healthy, and the sentences that say why not.

    `obstacles` keep sessions from starting, `alarms` are on the console's red bar. The referee is
    healthy without either. A session goes on while it is not.
    """

    healthy: bool
    obstacles: Sequence[str]
    alarms: Sequence[str]
    utc: str


def health_of(obstacles: Sequence[str], board: ShownBoard) -> Health:
    """Return the referee's health by what the desk says and the board shows."""
    alarms = [lane_words(alarm.lane) + alarm.text for alarm in board.alarms]
    return Health(
        healthy=not obstacles and not alarms, obstacles=obstacles, alarms=alarms, utc=board.utc
    )
