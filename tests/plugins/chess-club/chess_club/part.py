# SPDX-License-Identifier: Apache-2.0
"""What the guest does when the contest asks it."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flask import Flask, Response, jsonify, send_from_directory

from chess_club.games import games
from chess_club.guest import boards_of
from referee.core.counts import counted
from referee.errors import InputError, Refusal
from referee.service.preflight.finding import CheckResult, ok
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import ConsoleBox
from referee.service.setup.program import Launch
from referee.store.database import Connection
from referee.web.contest.openapi import paths_of


def run_clock(config: Config, launch: Launch) -> None:
    """Tick until SIGTERM, which interrupts the main thread."""
    while True:
        signal.pause()


def add_contest_routes(app: Flask, *_: object) -> None:
    """Add a route that refuses."""

    @app.get("/chess")
    def chess_board() -> Response:
        raise Refusal("no_board", "All boards are taken.")


def add_console_routes(app: Flask, contest: Contest) -> None:
    """Add a page, and the games that it shows."""

    @app.get("/chess")
    def chess_page() -> Response:
        return send_from_directory(Path(__file__).with_name("static"), "chess.html")

    @app.get("/chess/games")
    def chess_games() -> Response:
        return jsonify(games(contest.database.connection))


def console_box(connection: Connection) -> ConsoleBox:
    """Return how many games were played."""
    return ConsoleBox("Chess", counted(len(games(connection)), "game"), "chess", "All games")


def paths() -> Mapping[str, Any]:
    """Return the route's description."""
    return paths_of(Path(__file__).with_name("openapi.toml"))


def check(config: Config) -> Sequence[CheckResult]:
    """Return a finding."""
    return [ok("chess", "clocks", "they tick")]


def require_usable(config: Config) -> None:
    """Refuse a contest with more boards than the room has."""
    if boards_of(config) > 4:
        raise InputError("The room has four boards.")
