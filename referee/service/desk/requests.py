# SPDX-License-Identifier: Apache-2.0
"""The requests that other processes may send to the desk over its socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.errors import Refusal
from referee.service.desk.control_desk import ControlDesk


def serve_request(desk: ControlDesk, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Carry out a request from the socket and return the answer (see `link`).

    The contest server sends `begin` and `logout`, the supervisor sends `obstacles`. Raises
    `Refusal` (code `action_unknown`) for any other action.
    """
    action = request.get("action")
    if action == "begin":
        return {"session": desk.begin(str(request["team"]), str(request["address"]))}
    if action == "logout":
        session_id = int(request["session"])
        desk.log_out(session_id)
        return {"session": session_id}
    if action == "obstacles":
        return {"obstacles": desk.obstacles()}
    raise Refusal("action_unknown", f"The desk knows no action '{action}'.")
