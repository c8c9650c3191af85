# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's application: it only shows, so it knows no login and takes no posts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from flask import Flask, Response, abort, jsonify, request, send_from_directory
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.wrappers import Response as PlainResponse

from referee.core.blocking import BlockingRunner
from referee.errors import Refusal
from referee.service.event.newest_charts import CHARTS, Charts
from referee.service.scoreboard.feed import START, lines_after, place_of
from referee.service.scoreboard.publisher import PublicSnapshot
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.scoreboard.view import PublicView
from referee.service.setup.extra import all_extras
from referee.service.setup.pages import static_folder
from referee.web.scoreboard.streams import Streams
from referee.web.server.application import Application
from referee.web.server.headers import RETRY_S, protect_pages
from referee.web.server.pieces import ENDLESS, document_response, stream_response

_log = logging.getLogger(__name__)

# Everything comes from here, and no other site may put the scoreboard into a frame of its own.
_POLICY = "default-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
_STATIC = ("scoreboard", "shared")
# Everybody may read the feed, so a page of another site may, too, as the contest API has it.
_ANY_SITE = {"Access-Control-Allow-Origin": "*"}


@dataclass(frozen=True)
class Show:
    """What the application shows.

    `run_blocking` draws one picture at a time, without delaying other readers. A joint board of
    several stations has no `sessions`: these, and the feeds, are at the stations.
    """

    streams: Streams
    charts: Charts
    sessions: TeamSessions | None
    run_blocking: BlockingRunner


def scoreboard_app(show: Show) -> Flask:
    """Build the application."""
    app = Application("referee.scoreboard", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = 1024
    _register_pages(app)
    _register_data(app, show)
    _register_events(app, show)
    if show.sessions is not None:
        _register_teams(app, show, show.sessions)
        for extra in all_extras():
            extra.add_scoreboard_routes(
                app, show.sessions, lambda: newest(show).publication.view, show.run_blocking
            )
        _register_feed(app, show)
    _register_errors(app)
    protect_pages(app, _POLICY)
    return app


def newest(show: Show) -> PublicSnapshot:
    """Return the newest snapshot; answer 503 if there is none."""
    snapshot = show.streams.snapshot()
    if snapshot is None:
        abort(503, "The event's records cannot be read now. Try again.")
    return snapshot


def _register_pages(app: Flask) -> None:
    @app.get("/")
    def page() -> Response:
        return send_from_directory(static_folder() / "scoreboard", "scoreboard.html")

    @app.get("/static/<any(scoreboard, shared):folder>/<path:name>")
    def static(folder: str, name: str) -> Response:
        return send_from_directory(static_folder() / folder, name)


def _register_data(app: Flask, show: Show) -> None:
    @app.get("/view")
    def view() -> Response:
        snapshot = newest(show)
        text = f'{{"key": "{snapshot.key}", "view": {snapshot.view}}}'
        return document_response(request, text, "application/json")

    @app.get("/<any(live, race):name>")
    def moving(name: str) -> Response:
        content = {"live": newest(show).live, "race": newest(show).race}[name]
        return Response(content, content_type="application/json")

    @app.get("/charts/<any(" + ", ".join(CHARTS) + "):name>.svg")
    def chart(name: str) -> Response:
        snapshot, narrow = newest(show), _is_narrow()
        view = snapshot.publication.view
        picture = show.run_blocking(
            lambda: show.charts.draw(name, snapshot.key, view, narrow=narrow)
        )
        return Response(picture, content_type="image/svg+xml")


def _is_narrow() -> bool:
    """Tell whether a chart is asked for that is read on a phone."""
    return "narrow" in request.args


def _register_teams(app: Flask, show: Show, sessions: TeamSessions) -> None:
    def picture(kind: str, draw: Callable[[PublicView], bytes]) -> Response:
        view = newest(show).publication.view
        return Response(show.run_blocking(lambda: draw(view)), content_type=kind)

    @app.get("/team/<path:name>")
    def team(name: str) -> Response:
        if name not in {entry.team for entry in newest(show).publication.view.entries}:
            abort(404, f"No team has the name '{name}' now. The scoreboard lists all of them.")
        return send_from_directory(static_folder() / "scoreboard", "team.html")

    @app.get("/sessions/<int:number>/course.svg")
    def course(number: int) -> Response:
        narrow = _is_narrow()
        return picture("image/svg+xml", lambda view: sessions.course(view, number, narrow=narrow))

    @app.get("/sessions/<int:number>/<any(curves, classes):which>.svg")
    def curves(number: int, which: str) -> Response:
        wish = {"every": which == "classes", "narrow": _is_narrow()}
        return picture("image/svg+xml", lambda view: sessions.curves(view, number, **wish))

    @app.get("/sessions/<int:number>/misses")
    def misses(number: int) -> Response:
        view = newest(show).publication.view
        return jsonify(captions=show.run_blocking(lambda: sessions.captions(view, number)))

    @app.get("/sessions/<int:number>/misses/<int:place>.png")
    def miss(number: int, place: int) -> Response:
        return picture("image/png", lambda view: sessions.picture(view, number, place))


def _register_events(app: Flask, show: Show) -> None:
    @app.route("/events", methods=["GET"], provide_automatic_options=False)
    def events() -> Response:
        """Answer with whole views, or with differences to a page that says which state it holds.

        A browser that connects again by itself says the newest number in a header.
        """
        _require_get()
        since = request.args.get("since")
        if since is None:
            pieces = show.streams.wholes(_flush())
        else:
            since = request.headers.get("Last-Event-ID", since)
            pieces = show.streams.differences(since, _flush())
        return stream_response(request, pieces, "text/event-stream")


def _register_feed(app: Flask, show: Show) -> None:
    @app.route("/feed", methods=["GET"], provide_automatic_options=False)
    def feed() -> Response:
        _require_get()
        stream = request.args.get("stream", "true")
        if stream not in ("true", "false"):
            abort(400, f"stream must be true or false, not '{stream}'.")
        snapshot, token = newest(show), request.args.get("since_token")
        place = START if token is None else place_of(snapshot, token)
        lines: object = show.streams.feed(place, _flush())
        if stream == "false":
            lines = "".join(lines_after(snapshot, place)[0])
        return Response(
            lines,  # type: ignore[arg-type]
            content_type="application/x-ndjson",
            headers=ENDLESS | _ANY_SITE,
        )


def _register_errors(app: Flask) -> None:
    @app.errorhandler(Refusal)
    def refused(refusal: Refusal) -> PlainResponse:
        return _told(400 if refusal.code == "token_unknown" else 404, str(refusal))

    @app.errorhandler(HTTPException)
    def not_served(error: HTTPException) -> PlainResponse:
        return _told(error.code or 500, error.description or error.name)

    @app.errorhandler(Exception)
    def failed(error: Exception) -> PlainResponse:
        _log.exception("%s %s failed", request.method, request.path, exc_info=error)
        return _told(500, "The scoreboard failed to show this; its log says why.")


def _told(status: int, text: str) -> PlainResponse:
    response = PlainResponse(f"{text}\n", status, content_type="text/plain; charset=utf-8")
    if status == 503:
        response.headers["Retry-After"] = RETRY_S
    return response


def _require_get() -> None:
    if request.method != "GET":  # Flask adds HEAD, but a stream has no use for it.
        raise MethodNotAllowed(["GET"])


def _flush() -> Callable[[], None]:
    """Return what sends a stream's next piece; the worker's connection holds short pieces back."""
    flush = getattr(request.environ.get("gunicorn.socket"), "flush", None)
    return _nothing if flush is None else flush


def _nothing() -> None:
    """Do nothing: other servers hold nothing back."""
