# SPDX-License-Identifier: Apache-2.0
"""What every operator's action passes through: the page's key, the action, a new board at once."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

from flask import Response, jsonify, request

from referee.errors import InputError, Refusal
from referee.web.desk.arguments import posted_arguments
from referee.web.desk.broadcast import Broadcast

Action = Callable[[dict[str, Any]], dict[str, Any]]
"""What an action does with the posted arguments; it returns the answer."""


def acting(broadcast: Broadcast, key: str) -> Callable[[Action], Response]:
    """Return a function that runs an action if the request has the page's key in `X-Form-Key`."""

    def act(action: Action) -> Response:
        sent = request.headers.get("X-Form-Key", "").encode("utf-8", "replace")
        if not hmac.compare_digest(sent, key.encode()):
            raise Refusal("form_key_wrong", "The page is out of date: reload it and try again.")
        try:
            answer = action(posted_arguments())
        except InputError as error:
            raise Refusal("input_wrong", str(error)) from error
        broadcast.publish_now()
        return jsonify(answer)

    return act
