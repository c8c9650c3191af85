# SPDX-License-Identifier: Apache-2.0
"""The routes of OVIC's submission service: a team sends models and follows their entries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from flask import Flask, Request, Response, jsonify, request

from referee.core.blocking import BlockingRunner
from referee.errors import RefereeError, Refusal
from referee.extras.ovic.section import ovic_of
from referee.extras.ovic.submission.entry_queries import EntryQueries
from referee.extras.ovic.submission.intake import SubmissionIntake, journal_commit, moment_text
from referee.extras.ovic.submission.models import StoredModel
from referee.extras.ovic.submission.tasks import Task, open_tasks
from referee.extras.ovic.submission.team_tokens import team_of_token, token_of_team
from referee.service.setup.config import Config
from referee.store.journal import Journal
from referee.web.contest.openapi import paths_of
from referee.web.contest.replies import MULTIPART, field_of, token_of, wants_json
from referee.web.contest.services import ContestServices
from referee.web.server.bodies import Body, BodyRoom, reads_its_own_body
from referee.web.server.connection import waits_of

# How many models of a process write to the disk at once; others wait for their turn.
_COMING = 2
# The models that come in at once have so many times the largest size in all; a team has a quarter.
_AT_ONCE = 8
# A longer announced length is nonsense.
_LONGEST = 1 << 40

_HELP = """
Models for OVIC ({tasks}){closes}; see GET /ovic for the limits. These never start the clock:
  POST      /ovic/login        username, password -> a team's token
  POST      /ovic/entries      token, task=TASK, name=FILE; the body is the model's file -> entry
  GET       /ovic/entries      token -> all entries of the team; /ovic/entries/1 -> one of them
  GET       /ovic/leaderboard  token -> the best entry of each team

  curl -d 'username=USER&password=PASSWORD' {base}/ovic/login
  curl -H 'Authorization: Bearer TOKEN' --data-binary @model.tflite \\
       '{base}/ovic/entries?task={task}&name=model.tflite'
  curl -H 'Authorization: Bearer TOKEN' {base}/ovic/entries/1
"""


def add_routes(
    app: Flask,
    services: ContestServices,
    journal: Journal,
    runner_of: Callable[[int], BlockingRunner],
) -> None:
    """Add the routes to the application."""
    contest, disk = services.contest, runner_of(_COMING)
    tasks, commit = open_tasks(contest.config), journal_commit(journal)
    intake = SubmissionIntake(contest.config, contest.clock, contest.database, commit, tasks)
    queries = EntryQueries(contest.config, contest.database, intake.tasks)
    room = BodyRoom(_AT_ONCE * intake.most_bytes)

    @app.get("/ovic")
    def ovic_rules() -> Response:
        return jsonify(_rules(intake))

    @app.post("/ovic/login")
    def ovic_login() -> Response:
        return _logged_in(services)

    @app.route("/ovic/entries", methods=["POST", "PUT"])
    @reads_its_own_body
    def submit() -> Response:
        body = Body(request, _LONGEST)
        team = None
        try:
            team = _team(services)
            _require_file(request)
            task = intake.require_acceptable(request.args.get("task"), body.length)
        except RefereeError:
            body.discard(known=team is not None)
            raise
        body.give_time(body.length or intake.most_bytes)
        with room.held_for(body, team):
            model = _taken(intake, body, team, task, disk)
        name = request.args.get("name", "")
        received = intake.enter(team, task, model, name, request.remote_addr or "")
        answer = jsonify(queries.receipt(received))
        answer.status_code = 201 if received.new else 200
        return answer

    @app.get("/ovic/entries")
    def own_entries() -> Response:
        return jsonify(queries.entries_of(_team(services), intake))

    @app.get("/ovic/entries/<number>")
    def own_entry(number: str) -> Response:
        return jsonify(queries.entry_of(_team(services), number))

    @app.get("/ovic/leaderboard")
    def ovic_leaderboard() -> Response:
        _team(services)
        return jsonify(queries.leaderboard_for_teams())


def _logged_in(services: ContestServices) -> Response:
    username, password = field_of(request, "username"), field_of(request, "password")
    if username is None or password is None:
        raise Refusal("username_missing", "Send the form fields 'username' and 'password'.")
    address, waits = request.remote_addr or "", waits_of(request.environ)
    team = services.admission.require_team(username, password, address, waits)
    token = token_of_team(services.contest, team)
    return jsonify(token=token, team=team) if wants_json(request) else Response(token)


def _team(services: ContestServices) -> str:
    """Return the team of the request's token; a login for images would start a session."""
    token = token_of(request)
    if token is None:
        raise Refusal(
            "token_missing",
            "There is no token: log in with POST /ovic/login and send its answer as "
            "'Authorization: Bearer TOKEN'.",
        )
    return team_of_token(services.contest, token)


def _require_file(asked: Request) -> None:
    if asked.mimetype == MULTIPART:
        raise Refusal(
            "media_type_unknown",
            "Nothing was stored: the body must be the model's file itself, not a form. Send it "
            "with 'curl --data-binary @model.tflite', not with 'curl -F'.",
        )


def _taken(
    intake: SubmissionIntake, body: Body, team: str, task: Task, disk: BlockingRunner
) -> StoredModel:
    """Return the body's model when it is on the disk; each wait for the disk is in a thread."""
    model = disk(intake.new_model)
    try:
        for piece in body.pieces():
            disk(partial(model.add, piece))
        intake.require_place(team, task, model.sha256)
        return disk(model.keep)
    except RefereeError:
        body.discard(known=True)
        raise
    finally:
        disk(model.drop)


def _rules(intake: SubmissionIntake) -> dict[str, object]:
    """Return what a client should know before it sends a model."""
    return {
        "tasks": [
            {
                "task": task.name,
                "accuracy": task.scoring.accuracy,
                "target_ms": task.scoring.target_ms,
                "rules": task.scoring.name,
            }
            for task in intake.tasks.values()
        ],
        "most_bytes": intake.most_bytes,
        "entries_a_day": intake.entries_a_day,
        "day_ends_utc": intake.day_ends().isoformat(),
        "closes_utc": None if intake.closes_at is None else intake.closes_at.isoformat(),
    }


def help_text(config: Config, base: str) -> str:
    """Return what `/help` says about models."""
    section = ovic_of(config)
    tasks, moment = section.tasks, section.closes_at
    closes = "" if moment is None else f", until {moment_text(moment)}"
    return _HELP.format(tasks=", ".join(tasks), task=tasks[0], base=base, closes=closes)


def ovic_paths() -> dict[str, object]:
    """Return the description of the routes in OpenAPI."""
    return paths_of(Path(__file__).with_name("openapi.toml"))
