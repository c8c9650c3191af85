# SPDX-License-Identifier: Apache-2.0
"""The console's two addresses for programs that watch the referee: its health and its metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from flask import Flask, Response, jsonify

from referee.service.board.board import Board
from referee.service.desk.control_desk import ControlDesk
from referee.service.observation.metrics import (
    CONTENT_TYPE,
    lane_metrics,
    machine_metrics,
    request_metrics,
    text_of,
)
from referee.service.observation.processes import processes_under
from referee.service.observation.request_counts import RequestCounts
from referee.service.preflight.disk import free_bytes
from referee.service.setup.contest import Contest


def register_observation(
    app: Flask, contest: Contest, desk: ControlDesk, board: Board, supervisor: int
) -> None:
    """Add `/health` and `/metrics`; `supervisor` is the process id above all of the referee's."""
    counts = RequestCounts(contest)

    @app.get("/health")
    def health() -> tuple[Response, int]:
        found = health_of(desk.obstacles(), board.show())
        return jsonify(found), 200 if found["healthy"] else 503

    @app.get("/metrics")
    def metrics() -> Response:
        text = text_of(
            chain(
                lane_metrics(board.show()),
                request_metrics(counts.now()),
                machine_metrics(free_bytes(contest.config), processes_under(supervisor)),
            )
        )
        return Response(text, content_type=CONTENT_TYPE)


def health_of(obstacles: Sequence[str], board: Mapping[str, Any]) -> dict[str, Any]:
    """Return `healthy`, and the sentences that say why not.

    `obstacles` keep sessions from starting, `alarms` are on the console's red bar. The referee is
    healthy without either. A session goes on while it is not.
    """
    alarms = [alarm["text"] for alarm in board["alarms"]]
    return {
        "healthy": not obstacles and not alarms,
        "obstacles": list(obstacles),
        "alarms": alarms,
        "utc": board["utc"],
    }
