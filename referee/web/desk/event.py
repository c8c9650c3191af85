# SPDX-License-Identifier: Apache-2.0
"""The pages of an event beside its sessions: teams and running order, slips, results, proposals."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Flask, Response, jsonify, send_from_directory
from msgspec import structs

from referee.service.event.finalizing import finalize, reopen, review, review_all
from referee.service.event.proposal_view import all_proposals
from referee.service.event.proposals import apply_proposal, cancel_proposal
from referee.service.event.results import read_results
from referee.service.event.results_table import shown_results
from referee.service.evidence.completeness import judged_numbers
from referee.service.evidence.slip import slip_page_of
from referee.service.scoreboard.breaks import begin_break, break_of, end_break
from referee.service.scoreboard.freezing import (
    count_hidden,
    count_text,
    freeze,
    freeze_of,
    thaw,
)
from referee.service.scoreboard.published_images import count_published
from referee.service.setup.contest import Contest
from referee.service.teams.order import draw_order, put_off, set_order
from referee.service.teams.registration import add_team, registration_of, require_list
from referee.service.teams.registration_changes import bring_back, rename, withdraw_all
from referee.service.teams.rehearsals import read_progress
from referee.service.teams.roster import read_roster
from referee.service.teams.roster_view import ShownRoster, shown_roster
from referee.service.teams.team_words import look_alike_warnings
from referee.web.desk.acting import Answer
from referee.web.desk.arguments import (
    posted_arguments,
    posted_choice,
    posted_names,
    posted_number,
    posted_sessions,
    posted_text,
    session_number,
)
from referee.web.desk.assets import static_folder
from referee.web.desk.visitors import acting_operator


def register_event(app: Flask, contest: Contest) -> None:
    """Add the pages, what they show, and their actions; each action needs the page's key."""
    _register_pages(app, contest)
    _register_team_actions(app, contest)
    _register_result_actions(app, contest)
    _register_audience_actions(app, contest)


class TeamsNow(ShownRoster, frozen=True, kw_only=True):
    """What the page of the teams shows."""

    contest: str
    mode: str


def _register_pages(app: Flask, contest: Contest) -> None:
    @app.get("/<any(teams, results):name>")
    def event_page(name: str) -> Response:
        return send_from_directory(static_folder() / "event", f"{name}.html")

    @app.get("/sessions/<number>/slip")
    def slip(number: str) -> Response:
        return Response(slip_page_of(contest, session_number(number)), mimetype="text/html")

    @app.get("/teams/now")
    def teams_now() -> Response:
        roster = shown_roster(read_roster(contest), read_progress(contest))
        contest_now = contest.config.contest
        return jsonify(
            TeamsNow(**structs.asdict(roster), contest=contest_now.name, mode=contest_now.mode)
        )

    @app.get("/results/now")
    def results_now() -> Response:
        standing, pause = freeze_of(contest), break_of(contest)
        found = read_results(contest)
        scoreboard = {
            "address": contest.config.server.scoreboard,
            "freeze": None if standing is None else asdict(standing),
            "break": None if pause is None else asdict(pause),
            "publishes_images": contest.config.publishes_images,
            "freezing": count_text(count_hidden(found.entries)),
        }
        return jsonify(
            results=shown_results(found),
            proposals=all_proposals(contest),
            scoreboard=scoreboard,
            judged=judged_numbers(contest),
        )

    @app.get("/results/images")
    def published_images() -> Response:
        """Tell the dialog how many images anybody may see once the results are final."""
        config = contest.config
        return jsonify(
            audience=config.server.scoreboard is not None,
            published=count_published(contest, read_results(contest).entries),
            of=contest.image_count,
        )


def _register_team_actions(app: Flask, contest: Contest) -> None:

    @app.post("/teams/<any(add, lottery, order, defer, rename, withdraw, return):what>")
    def change_teams(what: str) -> Answer:
        arguments = posted_arguments()
        return _change_teams(contest, what, arguments)


def _register_result_actions(app: Flask, contest: Contest) -> None:

    @app.post("/results/<any(finalize, reopen):what>")
    def change_results(what: str) -> Answer:
        arguments = posted_arguments()
        if what == "finalize":
            names = posted_names(arguments, "names")
            by = acting_operator({"operator": names[0]} | arguments)
            finalize(contest, names, by)
        else:
            reopen(
                contest,
                acting_operator(arguments, named=True),
                posted_text(arguments, "reason"),
            )
        return {}

    @app.post("/sessions/<number>/review")
    def review_session(number: str) -> Answer:
        arguments = posted_arguments()
        reason = posted_text(arguments, "reason")
        review(contest, session_number(number), acting_operator(arguments, named=True), reason)
        return {}

    @app.post("/sessions/review")
    def review_sessions() -> Answer:
        arguments = posted_arguments()
        operator = acting_operator(arguments, named=True)
        sessions = posted_sessions(arguments, "sessions")
        review_all(contest, sessions, operator, posted_text(arguments, "reason"))
        return {}

    @app.post("/proposals/<int:number>/<any(apply, cancel):what>")
    def decide(number: int, what: str) -> Answer:
        arguments = posted_arguments()
        change = apply_proposal if what == "apply" else cancel_proposal
        change(
            contest,
            number,
            acting_operator(arguments, named=True),
            posted_text(arguments, "reason"),
        )
        return {}


def _register_audience_actions(app: Flask, contest: Contest) -> None:

    @app.post("/scoreboard/<any(freeze, unfreeze):what>")
    def change_scoreboard(what: str) -> Answer:
        arguments = posted_arguments()
        change = freeze if what == "freeze" else thaw
        change(contest, acting_operator(arguments, named=True))
        return {}

    @app.post("/break/<any(begin, end):what>")
    def change_break(what: str) -> Answer:
        arguments = posted_arguments()
        operator = acting_operator(arguments, named=True)
        if what == "begin":
            text, minutes = posted_text(arguments, "text"), posted_number(arguments, "minutes")
            begin_break(contest, operator, text, minutes)
        else:
            end_break(contest, operator)
        return {}


def _change_teams(contest: Contest, what: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Change the list of teams; the answer has a warning if a new name looks like another one."""
    new = ""
    operator, reason = acting_operator(arguments, named=True), posted_text(arguments, "reason")
    team = posted_text(arguments, "team")
    if what == "add":
        require_list(contest.config)
        said = registration_of(
            contest,
            posted_text(arguments, "organisation"),
            posted_text(arguments, "lane"),
            prizes=posted_choice(arguments, "prizes"),
            sessions=posted_choice(arguments, "sessions"),
        )
        new = add_team(contest, team, said, operator, posted_text(arguments, "login"))
    elif what == "lottery":
        draw_order(contest, posted_text(arguments, "seed"), reason, operator)
    elif what == "order":
        set_order(contest, posted_names(arguments, "teams"), reason, operator)
    elif what == "defer":
        put_off(contest, team, reason, operator)
    elif what == "rename":
        new = rename(contest, team, posted_text(arguments, "new_name"), operator)
    elif what == "withdraw":
        several = "teams" in arguments
        teams = posted_names(arguments, "teams") if several else [team]
        withdraw_all(contest, teams, reason, operator)
    else:
        bring_back(contest, team, reason, operator)
    warnings = look_alike_warnings(contest, [new]) if new else []
    return {"warning": " ".join(warnings)} if warnings else {}
