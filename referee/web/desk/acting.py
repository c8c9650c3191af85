# SPDX-License-Identifier: Apache-2.0
"""What every operator's action passes through: the page's key before it, a new board after it."""

from __future__ import annotations

import hmac

from flask import Flask, Response, request

from referee.errors import Refusal
from referee.web.desk.arguments import PostedFields, posted_fields
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.roles import action_of_request

Answer = dict[str, object]
"""What an action answers: the fields of a JSON object."""


def guard_actions(app: Flask, broadcast: Broadcast, key: str) -> None:
    """Do each action of the table of roles only for a page that sends the key in `X-Form-Key`.

    An action then finds `posted_fields`. After it all pages get a new board.
    """

    @app.before_request
    def require() -> None:
        if action_of_request():
            posted_by_page(key)

    @app.after_request
    def publish(response: Response) -> Response:
        if action_of_request() and response.status_code < 400:
            broadcast.publish_now()
        return response


def posted_by_page(key: str) -> PostedFields:
    """Return what a page posted; raise `Refusal` (`form_key_wrong`) if it has not the key."""
    sent = request.headers.get("X-Form-Key", "").encode("utf-8", "replace")
    if not hmac.compare_digest(sent, key.encode()):
        raise Refusal("form_key_wrong", "The page is out of date: reload it and try again.")
    return posted_fields()
