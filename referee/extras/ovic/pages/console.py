# SPDX-License-Identifier: Apache-2.0
"""The routes of OVIC's leaderboard on the console: the page, and what it shows."""

from __future__ import annotations

from flask import Flask, Response, jsonify, send_from_directory

from referee.errors import Refusal
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.entry_queries import EntryQueries
from referee.extras.ovic.submission.tasks import open_tasks
from referee.service.setup.contest import Contest
from referee.service.setup.pages import static_folder


def add_routes(app: Flask, contest: Contest) -> None:
    """Add the leaderboard's routes; where no task is open each of them says so."""
    config = contest.config
    queries = EntryQueries(config, contest.database, open_tasks(config))

    def there() -> EntryQueries:
        if not ovic_of(config).is_open:
            raise Refusal("ovic_closed", "No task of OVIC is open: see [ovic] in contest.toml.")
        return queries

    @app.get("/ovic")
    def ovic_page() -> Response:
        there()
        return send_from_directory(static_folder() / "ovic", "leaderboard.html")

    @app.get("/ovic/leaderboard")
    def ovic_leaderboard() -> Response:
        return jsonify(there().leaderboard())

    @app.get("/ovic/entries")
    def ovic_entries() -> Response:
        return jsonify(there().all_entries())
