# SPDX-License-Identifier: Apache-2.0
"""The audit log on the console: its page, what it shows, and the record of refused actions."""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, jsonify, request, send_from_directory

from referee.core.written_text import unfit_character
from referee.errors import Refusal
from referee.service.people.audit import audit_json, read_audit, record_refusal
from referee.service.setup.contest import Contest
from referee.web.desk.arguments import posted_arguments, query_number
from referee.web.desk.assets import static_folder
from referee.web.desk.roles import action_of_request
from referee.web.desk.visitors import acting_operator

# What the page shows at first, and at most.
_ROWS, _ROWS_MOST = 200, 5000
_FILTER_MOST = 100
# Nobody who may act did these: a page whose key is old asks again by itself, a page whose login has
# ended asks for another, and strangers could fill the disk with records.
_NOT_ACTIONS = frozenset({"form_key_wrong", "login_needed", "no_operators"})


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
            contest=contest.config.contest.name,
            rows=[audit_json(row) for row in rows[:count]],
            more=len(rows) > count,
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
    arguments, places = _arguments(), request.view_args or {}
    number = str(places.get("number", ""))
    of_session = request.path.startswith("/sessions/")
    known = of_session and number.isascii() and number.isdigit() and len(number) <= 18
    record_refusal(
        contest,
        acting_operator({"operator": _text(arguments, "operator")}),
        action.format(**places),
        refusal,
        session_id=int(number) if known else None,
        team=_text(arguments, "team"),
        detail="" if known else number[:_FILTER_MOST],
        reason=_text(arguments, "reason"),
    )


def _arguments() -> dict[str, Any]:
    """Return what a refused request said; a body that cannot be read said nothing."""
    try:
        return posted_arguments()
    except Refusal:
        return {}


def _text(arguments: dict[str, Any], name: str) -> str:
    """Return a text of the request as far as it is fit for a record."""
    text = arguments.get(name)
    return "".join(c for c in text[:200] if not unfit_character(c)) if isinstance(text, str) else ""
