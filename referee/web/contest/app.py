# SPDX-License-Identifier: Apache-2.0
"""The contest server's application: what happens around every contestant's request."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Flask
from flask import Request as FlaskRequest
from flask import Response, g, request
from werkzeug.exceptions import HTTPException

from referee.core.instant import Instant, seconds_between
from referee.errors import Refusal, Unavailable
from referee.service.entry.admission import Admission
from referee.service.entry.images import ImageMissing
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.journal import Journal
from referee.store.notices import insert_notice
from referee.store.requests import Request, insert_requests
from referee.store.sessions import SessionRecord
from referee.web.contest import answers as contest_answers
from referee.web.contest import images as contest_images
from referee.web.contest import sessions as contest_sessions
from referee.web.contest.replies import could_not, current, failed, form_of, problem, wants_json
from referee.web.server.aside import Aside
from referee.web.server.bodies import SMALL_BODY_BYTES, Body, has_body

_log = logging.getLogger(__name__)

# What the routes other than /result look for in a form; nothing else is kept.
_FIELDS = ("token", "username", "password", "image_name")


@dataclass(frozen=True)
class ContestServices:
    """Hold what the routes use."""

    contest: Contest
    admission: Admission
    journal: Journal
    parse_aside: Aside


def contest_app(services: ContestServices) -> Flask:
    """Build the application that serves contestants."""
    app = Flask("referee.contest", static_folder=None)
    _register_hooks(app, services)
    _register_errors(app, services)
    contest_sessions.register(app, services)
    contest_images.register(app, services)
    contest_answers.register(app, services)
    return app


def _register_hooks(app: Flask, services: ContestServices) -> None:
    """Take the time of each request, and log it if it belongs to a session."""
    clock, journal = services.contest.clock, services.journal

    @app.before_request
    def arrive() -> None:
        asked, notes = current()
        notes.session = notes.sent = None
        notes.form = {}
        notes.received = clock.now()
        if has_body(asked) and asked.endpoint != "result":  # Which reads its own.
            body = Body(asked, SMALL_BODY_BYTES).whole()
            notes.received = clock.now()
            notes.form = form_of(asked, body, _FIELDS)

    @app.after_request
    def record(response: Response) -> Response:
        asked, notes = current()
        session: SessionRecord | None = notes.get("session")
        if session is None or session.facts.started is None:
            return response
        started = session.facts.started

        row = _row(asked, notes, session, started, response, clock.now())
        journal.note(insert_requests, row)
        return response


def _row(
    asked: FlaskRequest,
    notes: Any,
    session: SessionRecord,
    started: Instant,
    response: Response,
    now: Instant,
) -> Request:
    """Describe a request and its answer for the log."""
    received: Instant = notes.received
    status = response.status_code
    sent = notes.sent if status == 200 else None
    return Request(
        session_id=session.session_id,
        elapsed_s=seconds_between(started, received),
        utc=received.utc.isoformat(),
        method=asked.method,
        path=asked.path,
        status=status,
        first_image=None if sent is None else sent.first,
        image_count=0 if sent is None else sent.count,
        received_bytes=(asked.content_length or 0) if has_body(asked) else 0,
        sent_bytes=response.calculate_content_length() or 0,
        duration_s=seconds_between(received, now),
        address=asked.remote_addr or "",
    )


def _insert_alarms(connection: Connection, alarms: Sequence[tuple[int, str, str]]) -> None:
    for session_id, utc, text in alarms:
        insert_notice(connection, session_id, utc, "alarm", text)


def _register_errors(app: Flask, services: ContestServices) -> None:
    told: set[tuple[int, int]] = set()

    @app.errorhandler(Refusal)
    def refused(refusal: Refusal) -> Response:
        return problem(request, refusal)

    @app.errorhandler(ImageMissing)
    def image_missing(error: ImageMissing) -> Response:
        _log.error("%s", error.alarm)
        session_id: int = g.session.session_id
        # A client that tries again and again must not push every other notice off the console.
        if (session_id, error.image_id) not in told:
            told.add((session_id, error.image_id))
            utc, text = g.received.utc.isoformat(), error.alarm
            services.journal.note(_insert_alarms, (session_id, utc, text))
        return problem(request, Refusal("image_missing", str(error)))

    @app.errorhandler(Unavailable)
    def unavailable(error: Unavailable) -> Response:
        return could_not(request, error)

    @app.errorhandler(HTTPException)
    def not_served(error: HTTPException) -> Response:
        """Answer 404 and 405: a small page as ever, or problem details."""
        if not wants_json(request):
            return Response(error.get_body(), error.code, error.get_headers())
        sentence = f"{error.description} See /help for what is served."
        return problem(request, Refusal("not_served", sentence), error.code)

    @app.errorhandler(Exception)
    def mistaken(error: Exception) -> Response:
        return failed(request, error)
