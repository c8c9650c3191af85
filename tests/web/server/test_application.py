# SPDX-License-Identifier: Apache-2.0
"""The referee's Flask: rules that are matched, and no address that is made."""

from __future__ import annotations

import pytest
from flask import url_for

from referee.web.server.application import Application


def test_a_rule_is_matched_and_makes_no_address():
    """A route with parts of several kinds answers; who asks for its address is told."""
    app = Application("test", static_folder=None)

    @app.get("/lanes/<int:lane>/<path:rest>")
    def answer(lane: int, rest: str) -> str:
        return f"{lane} {rest}"

    client = app.test_client()
    assert "2 a/b" == client.get("/lanes/2/a/b").text
    assert 404 == client.get("/lanes/x/a").status_code
    with app.test_request_context(), pytest.raises(NotImplementedError, match="/lanes/"):
        url_for("answer", lane=1, rest="a")
