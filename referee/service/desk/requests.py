# SPDX-License-Identifier: Apache-2.0
"""The requests that other processes may send to the desk over its socket."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import to_builtins

from referee.core.instant import Instant
from referee.errors import Refusal
from referee.service.desk.control_desk import ControlDesk
from referee.store.sessions import FIRST_LANE


def serve_request(desk: ControlDesk, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Carry out a request from the socket and return the answer (see `link`).

    The contest server sends `begin`, `logout` and `show`, the supervisor sends `refusals`, and
    `referee check` sends `check` and `check_again`. Raises `Refusal` (code
    `action_unknown`) for any other action.
    """
    action = request.get("action")
    if action == "begin":
        lane = int(request.get("lane", FIRST_LANE))
        return {"session": desk.begin(str(request["team"]), str(request["address"]), lane)}
    if action == "logout":
        session_id = int(request["session"])
        desk.steps_of(session_id).log_out(session_id)
        return {"session": session_id}
    if action == "show":
        return {"painted_s": _show(desk, request)}
    if action == "check":
        shown: Mapping[str, Any] = to_builtins(desk.readiness.show())
        return shown
    if action == "check_again":
        desk.readiness.check_again()
        return {}
    if action == "obstacles":
        return {"obstacles": desk.obstacles()}
    if action == "refusals":
        return {"refusals": desk.refusals_of_logins()}
    raise Refusal("action_unknown", f"The desk knows no action '{action}'.")


def _show(desk: ControlDesk, request: Mapping[str, Any]) -> float:
    utc = datetime.fromisoformat(request["utc"])
    requested = Instant(float(request["monotonic_s"]), utc, str(request["boot_id"]))
    return desk.show(int(request["session"]), int(request["image"]), requested)
