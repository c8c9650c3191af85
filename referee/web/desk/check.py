# SPDX-License-Identifier: Apache-2.0
"""The page of the checks before an event: the list, overrides, and slow checks again."""

from __future__ import annotations

from flask import Flask, Response, jsonify, send_from_directory
from msgspec.structs import asdict

from referee.errors import Refusal
from referee.service.desk.readiness import Readiness
from referee.service.preflight.finding import Level
from referee.service.preflight.shown import ReadinessNow
from referee.service.setup.contest import Contest
from referee.service.setup.pages import static_folder
from referee.web.desk.acting import Answer, posted_fields
from referee.web.desk.arguments import PostedFields
from referee.web.desk.visitors import acting_operator

# The text of a finding may be longer than what people type.
_SEEN_MOST = 2000


class CheckNow(ReadinessNow, frozen=True, kw_only=True):
    """What the page shows."""

    contest: str
    mode: str


def register_check(app: Flask, contest: Contest, readiness: Readiness) -> None:
    """Add the page, what it shows, and its actions; each action needs the page's key."""

    @app.get("/check")
    def check_page() -> Response:
        return send_from_directory(static_folder() / "event", "check.html")

    @app.get("/check/now")
    def check_now() -> Response:
        settings = contest.config.contest
        return jsonify(
            CheckNow(**asdict(readiness.show()), contest=settings.name, mode=settings.mode)
        )

    @app.post("/check/again")
    def check_again() -> Answer:
        readiness.check_again()
        return {}

    @app.post("/check/override")
    def override() -> Answer:
        posted = posted_fields()
        readiness.override(
            key=(posted.text("group"), posted.text("item")),
            seen=_seen(posted),
            reason=posted.text("reason"),
            operator=acting_operator(posted, named=True),
        )
        return {}

    @app.post("/check/overrides/<int:number>/end")
    def take_back(number: int) -> Answer:
        posted = posted_fields()
        reason = posted.text("reason")
        readiness.take_back(number, reason, acting_operator(posted, named=True))
        return {}


def _seen(posted: PostedFields) -> tuple[Level, str]:
    seen, level = posted.get("text"), posted.get("level", Level.FAIL.value)
    if level not in (Level.FAIL.value, Level.WARN.value):
        raise Refusal("level_wrong", "The page must say whether it showed a FAIL or a WARN.")
    if not isinstance(seen, str) or len(seen) > _SEEN_MOST:
        raise Refusal("text_wrong", "The page must say which finding it showed.")
    return Level(level), seen
