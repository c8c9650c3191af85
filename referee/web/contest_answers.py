# SPDX-License-Identifier: Apache-2.0
"""The contestants' route that takes answers: forms as ever, JSON and CSV for new clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Flask, Response, g, jsonify, request

from referee.core.answers import parse_csv, parse_form, parse_json
from referee.core.detections import Detections
from referee.errors import Refusal
from referee.service.answers import Receipt, take_answer
from referee.store.answers import AnswerForm
from referee.web import legacy
from referee.web.exchange import media_type_of, require_token, wants_json

if TYPE_CHECKING:
    from referee.web.contest import ContestServices

__all__ = ["register"]

_FLAGS_LISTED = 1000


def register(app: Flask, services: ContestServices) -> None:
    """Add the route to the application."""

    @app.route("/result", methods=["POST"])
    def result() -> Response:
        g.session = services.admission.known_session(require_token(request))
        form: AnswerForm = media_type_of(request)
        receipt = take_answer(
            services.contest,
            services.journal,
            g.session,
            _detections(form),
            received=g.received,
            form=form,
            address=request.remote_addr or "",
        )
        if form != "form" or wants_json(request):
            return _receipt(receipt)
        if receipt.late:
            # An old client knows only this text for a session that is over.
            raise Refusal("token_invalid", "Too late: the answer is stored but does not count.")
        return Response(legacy.RESULT_STORED)


def _detections(form: AnswerForm) -> Detections:
    if form == "json":
        return parse_json(request.get_data())
    if form == "csv":
        return parse_csv(request.get_data())
    return parse_form(g.form)


def _receipt(receipt: Receipt) -> Response:
    listed = receipt.flagged[:_FLAGS_LISTED]
    return jsonify(
        answer=receipt.answer,
        stored=receipt.stored,
        flagged=[{"row": flag.row, "reason": flag.reason} for flag in listed],
        flagged_count=len(receipt.flagged),
        received_s=receipt.received_s,
        remaining_seconds=receipt.remaining_s,
        late=receipt.late,
    )
