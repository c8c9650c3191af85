# SPDX-License-Identifier: Apache-2.0
"""The audit log on the console: its page, what it shows, and the record of refused actions."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask, Response, jsonify, request, send_from_directory
from msgspec import Struct

from referee.core.written_text import unfit_character
from referee.errors import Refusal
from referee.service.people.audit import ShownAction, read_audit, record_refusal, shown_action
from referee.service.setup.contest import Contest
from referee.service.setup.pages import static_folder
from referee.web.desk.acting import posted_fields
from referee.web.desk.arguments import PostedFields, query_number
from referee.web.desk.roles import action_of_request
from referee.web.desk.visitors import acting_operator

# What the page shows at first, and at most.
_ROWS, _ROWS_MOST = 200, 5000
_FILTER_MOST = 100
# Nobody who may act did these: a page whose key is old asks again by itself, a page whose login has
# ended asks for another, and strangers could fill the disk with records.
_NOT_ACTIONS = frozenset({"form_key_wrong", "login_needed", "no_operators"})


class AuditNow(Struct, frozen=True, kw_only=True):
    """What the page shows; `more` tells that there are older actions."""

    contest: str
    rows: Sequence[ShownAction]
    more: bool


def register_audit(app: Flask, contest: Contest) -> None:
    """Add the page of the audit log, and record each action of the console that is refused."""

    @app.get("/audit")
    def audit_page() -> Response:
        return send_from_directory(static_folder() / "people", "audit.html")

    @app.get("/audit/now")
    def audit_now() -> Response:
        wanted = {
            name: request.args.get(name, "")[:_FILTER_MOST] for name in ("person", "action", "team")
        }
        count = min(query_number("count") or _ROWS, _ROWS_MOST)
        rows = read_audit(contest, **wanted, count=count + 1)
        return jsonify(
            AuditNow(
                contest=contest.config.contest.name,
                rows=[shown_action(row) for row in rows[:count]],
                more=len(rows) > count,
            )
        )

    @app.after_request
    def record(response: Response) -> Response:
        action = action_of_request()
        if action and response.status_code >= 400:
            answer = response.get_json(silent=True)
            if isinstance(answer, dict) and answer.get("code") not in _NOT_ACTIONS:
                _record(contest, action, str(answer.get("text", "")))
        return response


def _record(contest: Contest, action: str, refusal: str) -> None:
    posted, places = _posted(), request.view_args or {}
    number = str(places.get("number", ""))
    of_session = request.path.startswith("/sessions/")
    known = of_session and number.isascii() and number.isdigit() and len(number) <= 18
    record_refusal(
        contest,
        acting_operator(PostedFields({"operator": _text(posted, "operator")})),
        action.format(**places),
        refusal,
        session_id=int(number) if known else None,
        team=_text(posted, "team"),
        detail="" if known else number[:_FILTER_MOST],
        reason=_text(posted, "reason"),
    )


def _posted() -> PostedFields:
    """Return what a refused request said; a body that cannot be read said nothing."""
    try:
        return posted_fields()
    except Refusal:
        return PostedFields({})


def _text(posted: PostedFields, name: str) -> str:
    """Return a text of the request as far as it is fit for a record."""
    text = posted.get(name)
    return "".join(c for c in text[:200] if not unfit_character(c)) if isinstance(text, str) else ""
