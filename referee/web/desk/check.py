# SPDX-License-Identifier: Apache-2.0
"""The page of the checks before an event: the list, overrides, and slow checks again."""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, jsonify, send_from_directory

from referee.errors import Refusal
from referee.service.desk.readiness import Readiness
from referee.service.preflight.finding import Level
from referee.service.setup.contest import Contest
from referee.web.desk.acting import Answer
from referee.web.desk.arguments import posted_arguments, posted_text
from referee.web.desk.assets import static_folder
from referee.web.desk.visitors import acting_operator

# The text of a finding may be longer than what people type.
_SEEN_MOST = 2000


def register_check(app: Flask, contest: Contest, readiness: Readiness) -> None:
    """Add the page, what it shows, and its actions; each action needs the page's key."""

    @app.get("/check")
    def check_page() -> Response:
        return send_from_directory(static_folder() / "event", "check.html")

    @app.get("/check/now")
    def check_now() -> Response:
        settings = contest.config.contest
        return jsonify(readiness.show() | {"contest": settings.name, "mode": settings.mode})

    @app.post("/check/again")
    def check_again() -> Answer:
        readiness.check_again()
        return {}

    @app.post("/check/override")
    def override() -> Answer:
        arguments = posted_arguments()
        readiness.override(
            key=(posted_text(arguments, "group"), posted_text(arguments, "item")),
            seen=_seen(arguments),
            reason=posted_text(arguments, "reason"),
            operator=acting_operator(arguments, named=True),
        )
        return {}

    @app.post("/check/overrides/<int:number>/end")
    def take_back(number: int) -> Answer:
        arguments = posted_arguments()
        reason = posted_text(arguments, "reason")
        readiness.take_back(number, reason, acting_operator(arguments, named=True))
        return {}


def _seen(arguments: dict[str, Any]) -> tuple[Level, str]:
    seen, level = arguments.get("text"), arguments.get("level", Level.FAIL.value)
    if level not in (Level.FAIL.value, Level.WARN.value):
        raise Refusal("level_wrong", "The page must say whether it showed a FAIL or a WARN.")
    if not isinstance(seen, str) or len(seen) > _SEEN_MOST:
        raise Refusal("text_wrong", "The page must say which finding it showed.")
    return Level(level), seen
