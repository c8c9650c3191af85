# SPDX-License-Identifier: Apache-2.0
"""What every operator's action passes through: the page's key before it, a new board after it."""

from __future__ import annotations

import hmac

from flask import Flask, Response, request

from referee.errors import Refusal
from referee.web.desk.arguments import PostedFields, fields_in
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.roles import action_of_request
from referee.web.desk.visitors import present_request
from referee.web.server.bodies import Body

Answer = dict[str, object]
"""What an action answers: the fields of a JSON object."""

# The body of an operator's action is a line or two.
_BODY_MOST = 16 * 1024


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


def posted_fields() -> PostedFields:
    """Return the JSON object in the request's body, or an empty one without a body.

    Raises `Refusal` once, with code `json_wrong` for a body that is anything else, and if the body
    is too long or breaks off; after that it counts as empty.
    """
    asked = present_request()
    if asked.posted is None:
        asked.posted = PostedFields({})
        asked.posted = fields_in(Body(asked, _BODY_MOST).whole())
    return asked.posted
