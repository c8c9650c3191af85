# SPDX-License-Identifier: Apache-2.0
"""What the guest does when the contest asks it."""

from __future__ import annotations

from pathlib import Path

from flask import Response
from referee.extras.chess.extra import boards_of

from referee.errors import InputError, Refusal
from referee.service.preflight.finding import ok
from referee.web.contest.openapi import paths_of


def run_clock(config, launch):
    """Do nothing."""


def add_contest_routes(app, services, journal, runner_of):
    """Add a route that refuses."""

    @app.get("/chess")
    def chess_games() -> Response:
        raise Refusal("no_board", "All boards are taken.")


def add_console_routes(app, contest):
    """Add a page."""

    @app.get("/chess")
    def chess_page() -> Response:
        return Response(f"{boards_of(contest.config)} boards")


def paths():
    """Return the route's description."""
    return paths_of(Path(__file__).with_name("openapi.toml"))


def check(config):
    """Return a finding."""
    return [ok("chess", "clocks", "they tick")]


def require_usable(config):
    """Refuse a contest with more boards than the room has."""
    if boards_of(config) > 4:
        raise InputError("The room has four boards.")
