# SPDX-License-Identifier: Apache-2.0
"""The routes for images: one by one, in archives of a hundred, or on the screen."""

from __future__ import annotations

from flask import Flask, Request, Response

from referee.errors import Refusal, Unavailable
from referee.formats.image_numbers import requested_image
from referee.service.entry.images import Finder, archive_for, image_for
from referee.tracks.track import Delivery
from referee.web.contest import legacy
from referee.web.contest.replies import current, field_of, no_form, require_token
from referee.web.contest.services import ContestServices


def register(app: Flask, services: ContestServices) -> None:
    """Add the routes to the application."""

    @app.route("/image", methods=["GET", "POST"])
    def image() -> Response:
        return _send(services, image_for, None)

    @app.route("/image/<text>", methods=["GET", "POST"])
    def image_by_path(text: str) -> Response:
        return _send(services, image_for, text)

    @app.route("/zipimages", methods=["GET", "POST"])
    def zip_images() -> Response:
        return _send(services, archive_for, None)

    @app.route("/image_camera", methods=["GET", "POST"])
    def image_camera() -> Response:
        return _show(services)


def _asked_image(asked: Request) -> str:
    text = field_of(asked, "image_name")
    if text is None:
        sentence = "Send the image's number as 'image_name'." + no_form(asked)
        raise Refusal("image_name_missing", sentence)
    if not text:
        raise Refusal("image_index_empty", "'image_name' is empty: send the image's number.")
    return text


def _send(services: ContestServices, find: Finder, text: str | None) -> Response:
    asked, state = current()
    session = services.admission.running_session(require_token(asked), asked.remote_addr or "")
    state.session = session
    sent = find(services.contest, session, _asked_image(asked) if text is None else text)
    if asked.method != "HEAD":  # The answer to HEAD contains no image.
        state.sent = range(sent.first, sent.first + sent.count)
    return Response(
        sent.content,
        headers=[
            ("Content-Type", sent.media_type),
            ("Content-Length", str(sent.length)),
            ("Content-Disposition", f"attachment; filename={sent.file_name}"),
            ("Cache-Control", "no-store"),
        ],
    )


def _show(services: ContestServices) -> Response:
    """Have an image shown, and answer when the screen has painted it."""
    asked, state = current()
    if services.contest.track.delivery is not Delivery.SHOWN:
        # The old referee checks its display before the token.
        raise Refusal("display_off", "This contest has no display; fetch images with /image.")
    session = services.admission.running_session(require_token(asked), asked.remote_addr or "")
    state.session = session
    number = requested_image(_asked_image(asked), services.contest.image_count)
    if asked.method == "HEAD":  # A HEAD changes nothing, and the screen is something.
        return Response(legacy.DISPLAY_SUCCESS)
    try:
        services.admission.show(session, number, state.received)
    except Unavailable as error:
        raise Refusal("display_failed", str(error)) from error
    state.sent = range(number, number + 1)
    return Response(legacy.DISPLAY_SUCCESS)
