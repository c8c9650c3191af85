# SPDX-License-Identifier: Apache-2.0
"""The routes of the ceremony on the console: the page, its scenes, and the winner's picture."""

from __future__ import annotations

import io

import msgspec
from flask import Flask, Response, jsonify, request, send_from_directory

from referee.extras.ceremony.rehearsal import PICTURED, rehearsed
from referee.extras.ceremony.scenes import heads_of, scenes_of
from referee.extras.ceremony.stored import (
    LABEL_SHARE,
    pictured_teams,
    read_ceremony,
    winners_picture,
)
from referee.service.setup.contest import Contest
from referee.service.setup.pages import static_folder


def add_routes(app: Flask, contest: Contest) -> None:
    """Add the routes; everybody who may see them may see the results too."""
    drawn: dict[int, bytes] = {}

    @app.get("/ceremony")
    def ceremony_page() -> Response:
        return send_from_directory(static_folder() / "ceremony", "ceremony.html")

    @app.get("/ceremony/scenes")
    def ceremony_scenes() -> Response:
        return jsonify(ceremony_shown(contest, rehearsal="rehearsal" in request.args))

    @app.get("/ceremony/picture/<int:number>")
    def ceremony_picture(number: int) -> Response:
        if "rehearsal" in request.args:
            return Response(_generated_picture(), mimetype="image/png")
        # After the approval no answer changes, and a large contest takes seconds to look at.
        if number not in drawn:
            drawn[number] = winners_picture(contest, number)
        return Response(drawn[number], mimetype="image/png")


def ceremony_shown(contest: Contest, *, rehearsal: bool) -> dict[str, object]:
    """Return what the page shows; `scenes` is empty while the results are provisional."""
    ceremony = rehearsed(contest) if rehearsal else read_ceremony(contest)
    shown = {"contest": contest.config.contest.name, "rehearsal": rehearsal}
    if ceremony is None:
        return shown | {"heads": [], "scenes": []}
    results, before = ceremony
    pictured = {PICTURED} if rehearsal else pictured_teams(contest, results)
    scenes = msgspec.to_builtins(scenes_of(results, before, pictured))
    return shown | {"heads": heads_of(results), "scenes": scenes}


def _generated_picture() -> bytes:
    """Return a picture that is none of the event's."""
    # The control desk loads this module at its start, and Pillow is for one picture at the end.
    from referee.service.results.score_pictures import LabelledBox, draw_boxes

    file = io.BytesIO()
    box = LabelledBox((180, 90, 470, 330), "no image of the event", "#2ca02c")
    draw_boxes(file, None, (640, 420), [box], "", label_share=LABEL_SHARE)
    return file.getvalue()
