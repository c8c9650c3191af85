# SPDX-License-Identifier: Apache-2.0
"""The routes around a session: login, token, status, logout and help."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from flask import Flask, Response, jsonify, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from referee.core.states import LATE_S, remaining_s
from referee.errors import Refusal, Unavailable
from referee.formats.answer_formats import all_formats, any_of
from referee.formats.answers import MAX_ROWS
from referee.formats.image_numbers import ARCHIVE_SIZE
from referee.service.entry.answers import MAX_DETECTIONS
from referee.service.entry.status import status_of
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.service.setup.pages import page
from referee.service.setup.session_images import frame_tag_of
from referee.tracks.track import Delivery
from referee.web.contest import legacy
from referee.web.contest.openapi import openapi
from referee.web.contest.replies import (
    current_state,
    field_of,
    no_form,
    old_text,
    problem,
    require_token,
    token_of,
    wants_json,
)
from referee.web.contest.services import ContestServices
from referee.web.server.bodies import COMING_BYTES, MAX_BODY_BYTES
from referee.web.server.connection import HEAD_S, waits_of
from referee.web.server.connection_limiter import MOST_OF_ADDRESS

_log = logging.getLogger(__name__)

_HOME = "http://lpirc.net/"
_CATCH_UP_S = 0.2

# The help shows this many classes. /classes lists all of them.
_CLASSES_SHOWN = 3


def register(app: Flask, services: ContestServices) -> None:
    """Add the routes to the application."""
    _add_descriptions(app, services)

    @app.route("/login", methods=["GET", "POST"])
    @app.route("/get_token", methods=["GET", "POST"])
    def login() -> Response:
        return _login(services)

    @app.route("/verify", methods=["GET", "POST"])
    def verify() -> Response:
        token = require_token(request)
        current_state().session = services.admission.running_session(token, _address())
        return Response(legacy.VALID_TOKEN)

    @app.route("/no_of_images", methods=["GET", "POST"])
    def no_of_images() -> Response:
        token = token_of(request)
        if token is None:
            return problem(request, Refusal("token_invalid", "There is no token: log in first."))
        try:
            current_state().session = services.admission.running_session(token, _address())
        except Refusal as refusal:
            response = problem(request, refusal)
            if not wants_json(request) and refusal.code != "other_device":
                response.set_data(legacy.INVALID_USER)
            return response
        return old_text(request, str(services.contest.image_count))

    @app.route("/status", methods=["GET", "POST"])
    def status() -> Response:
        return _status(services)

    @app.route("/logout", methods=["GET", "POST"])
    def logout() -> Response:
        token = token_of(request)
        if token is None:
            return problem(request, Refusal("token_invalid", "There is no token to log out with."))
        session = services.admission.running_session(token, _address())
        current_state().session = session
        services.admission.logout(session)
        return Response(legacy.LOGOUT_SUCCESS)


def _add_descriptions(app: Flask, services: ContestServices) -> None:
    """Add what tells about the contest, and asks for no login."""

    @app.route("/", methods=["GET", "POST"])
    def home() -> AnyResponse:
        # A closed network has no such site. Whoever wants a page is a person with a browser; the
        # programs of 2015-2019 accept anything, and get the old address.
        browser = "text/html" in request.headers.get("Accept", "")
        return redirect("/help" if browser else _HOME)

    @app.route("/help", methods=["GET", "POST"])
    def help_page() -> Response:
        return Response(help_text(services.contest, _base()), content_type=legacy.PLAIN_TYPE)

    @app.route("/classes", methods=["GET"])
    def classes() -> Response:
        listed = services.contest.classes
        if wants_json(request):
            return jsonify([{"id": number, "name": name} for number, name in listed.items()])
        lines = [f"{number} {name}\n" for number, name in listed.items()]
        return Response("".join(lines), content_type=legacy.PLAIN_TYPE)

    @app.route("/openapi.json", methods=["GET"])
    def description() -> Response:
        return jsonify(openapi(services.contest, _base()))


def _base() -> str:
    """Return the address at which this server was asked."""
    return f"{request.scheme}://{request.host}"


def _login(services: ContestServices) -> Response:
    username, password = field_of(request, "username"), field_of(request, "password")
    if (username is None or password is None) and current_state().is_json:
        raise Refusal(
            "media_type_unknown",
            "The login is a form, not JSON: send the body 'username=NAME&password=PASSWORD' with "
            "Content-Type application/x-www-form-urlencoded, as curl -d does.",
        )
    if username is None or password is None:
        sentence = "Send the form fields 'username' and 'password'." + no_form(request)
        raise Refusal("username_missing", sentence)
    try:
        login = services.admission.login(username, password, _address(), waits_of(request.environ))
    except Refusal:
        raise
    except Unavailable as error:
        raise Refusal("meter_unavailable", str(error)) from error
    except Exception as error:
        _log.exception("a login failed")
        sentence = "The referee failed to check it; the operator's log says why."
        raise Refusal("login_failed", sentence) from error
    current_state().session = login.session
    services.log.record_client(login.session, request.headers.get("User-Agent", ""))
    if not wants_json(request):
        return Response(login.token, content_type=legacy.PLAIN_TYPE)
    facts = login.session.facts
    return jsonify(
        token=login.token,
        session=login.session.session_id,
        images=services.contest.image_count,
        seconds=facts.length_s,
        remaining_seconds=remaining_s(facts, services.contest.clock.now()),
        frame_tag=_frame_tag(services, login.session.session_id),
    )


def _status(services: ContestServices) -> Response:
    session = services.admission.known_session(require_token(request), _address())
    current_state().session = session
    # Wait a moment, so that the status counts everything that this worker has sent and stored. If
    # the disk is slow, a status that is slightly behind is better than none.
    services.log.catch_up(_CATCH_UP_S)
    status = status_of(services.contest, session)
    return jsonify(
        session=session.session_id,
        state=status.state.value,
        remaining_seconds=status.remaining_s,
        images=status.images,
        images_fetched=status.images_fetched,
        answers=status.answers,
        detections=status.detections,
        late_answers=status.late_answers,
        frame_tag=_frame_tag(services, session.session_id),
    )


def _address() -> str:
    """Return the address that the present request comes from."""
    return request.remote_addr or ""


def _frame_tag(services: ContestServices, session_id: int) -> int | None:
    """Return the tag in the margins of a session's frames; None if no screen shows its images."""
    if services.contest.track.delivery is not Delivery.SHOWN:
        return None
    return frame_tag_of(services.contest, session_id)


def help_text(contest: Contest, base: str) -> str:
    """Return the help for the contestants of a contest; `base` is the server's URL in it."""
    text = page(
        "web/contest/help.txt",
        shown=contest.track.delivery is Delivery.SHOWN,
        images=contest.image_count,
        archive=ARCHIVE_SIZE,
        config=contest.config,
        formats=all_formats(),
        formats_words=any_of(*(one.words for one in all_formats()), last="and"),
        classes=contest.classes,
        class_list=_class_list(contest.classes),
        late_s=LATE_S,
        body_mib=MAX_BODY_BYTES // 2**20,
        rows=MAX_ROWS,
        most=MAX_DETECTIONS,
        coming_mib=COMING_BYTES // 2**20,
        connections=MOST_OF_ADDRESS,
        head_s=HEAD_S,
        base=base,
    )
    guests = present_extras(contest.config)
    return "".join([text, *(extra.help(contest.config, base) for extra in guests)])


def _class_list(classes: Mapping[int, str]) -> str:
    """Return the first ids and names, and a hint to the others."""
    named = [f"{number} {name}" for number, name in classes.items()]
    shown = ", ".join(named[:_CLASSES_SHOWN])
    return shown if len(named) <= _CLASSES_SHOWN else f"{shown} ... (see /classes)"
