# SPDX-License-Identifier: Apache-2.0
"""The contest server's application: its routes, and the steps before and after each request."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from flask import Flask, Response, request
from flask import Request as FlaskRequest
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from referee.core.states import SessionState, state_of
from referee.errors import Refusal, Unavailable
from referee.service.entry.images import ImageMissing
from referee.service.entry.request_log import ServedRequest
from referee.service.entry.request_state import RequestState
from referee.web.contest import answers as contest_answers
from referee.web.contest import images as contest_images
from referee.web.contest import sessions as contest_sessions
from referee.web.contest.replies import (
    ContestRequest,
    begin_request,
    could_not,
    current,
    current_state,
    failed,
    form_of,
    printable,
    problem,
)
from referee.web.contest.services import ContestServices
from referee.web.server.application import Application
from referee.web.server.arrival import arrived
from referee.web.server.bodies import SMALL_BODY_BYTES, Body, does_read_its_own_body, has_body
from referee.web.server.server_log import SESSION
from referee.web.server.turns import let_go_first

_log = logging.getLogger(__name__)

# The form fields that the routes other than /result use. Other fields are dropped.
_FIELDS = ("token", "username", "password", "image_name")


class _ContestFlask(Application):
    request_class = ContestRequest

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function; here none is a coroutine, which Flask would look up each time."""
        return func


def contest_app(services: ContestServices) -> Flask:
    """Build the application for contestants."""
    app = _ContestFlask("referee.contest", static_folder=None)
    # Old clients follow no redirect, so a doubled slash leads to none.
    app.url_map.merge_slashes = False
    _register_hooks(app, services)
    _register_errors(app, services)
    contest_sessions.register(app, services)
    contest_images.register(app, services)
    contest_answers.register(app, services)
    return app


def _register_hooks(app: Flask, services: ContestServices) -> None:
    """Note the time of each request, and log the request if it belongs to a session."""
    clock = services.contest.clock

    @app.before_request
    def arrive() -> None:
        asked, state = begin_request(arrived(request.environ, clock.now()))
        if has_body(asked) and not does_read_its_own_body(app, asked):
            body = Body(asked, SMALL_BODY_BYTES).whole()
            state.received = arrived(asked.environ, clock.now())
            state.form = form_of(asked, body, _FIELDS)
            state.is_json = state.is_json or body.lstrip()[:1] == b"{"

    @app.after_request
    def record(response: Response) -> Response:
        asked, state = current()
        if state.session is not None:
            asked.environ[SESSION] = state.session.session_id
            if state_of(state.session.facts, state.received) is SessionState.RUNNING:
                let_go_first(asked.environ)
            services.log.record(state.session, _served_request(asked, state, response))
        return response


def _served_request(asked: FlaskRequest, state: RequestState, response: Response) -> ServedRequest:
    """Return the log's record of a request and its answer."""
    return ServedRequest(
        received=state.received,
        method=asked.method,
        path=printable(asked.path),
        address=asked.remote_addr or "",
        received_bytes=(asked.content_length or 0) if has_body(asked) else 0,
        status=response.status_code,
        sent_bytes=response.content_length or 0,
        sent=state.sent if response.status_code == 200 else None,
        refused=_refused_answer(asked, state, response),
        unused=state.unused,
    )


def _refused_answer(asked: FlaskRequest, state: RequestState, response: Response) -> str | None:
    """Return why nothing of an answer was stored, or None for a stored one and other requests."""
    if asked.endpoint != contest_answers.ENDPOINT or state.stored or response.status_code < 400:
        return None
    return response.headers.get("X-Referee-Detail", response.status)


def _not_served(error: HTTPException) -> Response:
    if isinstance(error, NotFound):
        text = "There is no such address: GET /help lists all that there are."
        return problem(request, Refusal("address_unknown", text))
    if isinstance(error, MethodNotAllowed):
        text = f"This address takes no {request.method}: GET /help lists what it takes."
        return problem(request, Refusal("method_unknown", text))
    return problem(request, Refusal("not_served", error.description or error.name), error.code)


def _register_errors(app: Flask, services: ContestServices) -> None:
    @app.errorhandler(Refusal)
    def refused(refusal: Refusal) -> Response:
        return problem(request, refusal)

    @app.errorhandler(ImageMissing)
    def image_missing(error: ImageMissing) -> Response:
        _log.error("%s", error.alarm)
        session = current_state().session
        if session is not None:
            services.log.alarm(session, error)
        return problem(request, Refusal("image_missing", str(error)))

    @app.errorhandler(Unavailable)
    def unavailable(error: Unavailable) -> Response:
        return could_not(request, error)

    @app.errorhandler(HTTPException)
    def not_served(error: HTTPException) -> Response:
        """Answer what no route takes; 405 says in `Allow` what the address takes."""
        response = _not_served(error)
        if isinstance(error, MethodNotAllowed):
            response.allow.update(error.valid_methods or ())
        return response

    @app.errorhandler(Exception)
    def mistaken(error: Exception) -> Response:
        return failed(request, error)
