# SPDX-License-Identifier: Apache-2.0
"""The routes of the display page: the stream of what to show, the pixels, and the reports."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence

from flask import Blueprint, Flask, Response, jsonify, request, send_from_directory
from werkzeug.exceptions import MethodNotAllowed

from referee.errors import Refusal
from referee.formats.json_text import json_of
from referee.service.display.display import Display
from referee.service.people.logins import Logins
from referee.service.setup.lane_words import display_path
from referee.service.setup.pages import static_folder
from referee.web.desk.acting import posted_fields
from referee.web.desk.arguments import query_number, session_number
from referee.web.desk.visitors import while_let_in
from referee.web.server.pieces import ENDLESS

_NAME_MOST = 64
_PIXELS = "application/octet-stream"


def register_display(app: Flask, displays: Sequence[Display | None], logins: Logins) -> None:
    """Add the routes of each lane's display page; without a display each of them says so.

    Those of a lane begin with its `display_path`.
    """
    for number, display in enumerate(displays, 1):
        pages = Blueprint(f"display{number}", __name__)
        _add_routes(pages, display, logins)
        app.register_blueprint(pages, url_prefix=display_path(number).removesuffix("/display"))


def _add_routes(app: Blueprint, display: Display | None, logins: Logins) -> None:
    """Add the routes of one display page."""

    def there() -> Display:
        if display is None:
            raise Refusal("display_off", "This contest shows no images: its track sends them.")
        return display

    @app.get("/display")
    def display_page() -> Response:
        there()
        return send_from_directory(static_folder() / "display", "display.html")

    @app.route("/display/events", methods=["GET"], provide_automatic_options=False)
    def display_events() -> Response:
        if request.method != "GET":  # Flask adds HEAD, but a stream has no use for it.
            raise MethodNotAllowed(["GET"])
        return Response(
            while_let_in(logins, _events(there(), request.args.get("name", "")[:_NAME_MOST])),
            content_type="text/event-stream",
            headers=ENDLESS,
        )

    @app.get("/display/frames/<session>/<number>")
    def display_frame(session: str, number: str) -> Response:
        place = (session_number(session), session_number(number))
        return _pixels(there().pixels(*place, query_number("width"), query_number("height")))

    @app.get("/display/card")
    def display_card() -> Response:
        return _pixels(there().card_pixels(query_number("width"), query_number("height")))

    def take(reported: Callable[[Mapping[str, object]], object]) -> Response:
        reported(posted_fields().fields)
        return jsonify(taken=True)

    @app.post("/display/screen")
    def display_screen() -> Response:
        return take(there().measured)

    @app.post("/display/take")
    def display_take() -> Response:
        return take(there().take)

    @app.post("/display/painted")
    def display_painted() -> Response:
        return take(there().painted)

    @app.post("/display/bye")
    def display_bye() -> Response:
        return take(there().leave)


def _events(display: Display, page: str) -> Generator[str, None, None]:
    for name, data in display.stream(page):
        yield f"event: {name}\ndata: {json_of(data)}\n\n"


def _pixels(content: bytes) -> Response:
    # A frame is never kept: a page that shows an old one would show another session's.
    return Response(content, content_type=_PIXELS, headers={"Cache-Control": "no-store"})
