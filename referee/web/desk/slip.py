# SPDX-License-Identifier: Apache-2.0
"""The page of a session's slip, which an operator prints for the team."""

from __future__ import annotations

from flask import Flask, Response

from referee.service.evidence.slip import slip_page_of
from referee.service.setup.contest import Contest
from referee.web.desk.arguments import session_number


def register_slip(app: Flask, contest: Contest) -> None:
    """Add the page; a session without a score has none."""

    @app.get("/sessions/<number>/slip")
    def slip(number: str) -> Response:
        return Response(slip_page_of(contest, session_number(number)), mimetype="text/html")
