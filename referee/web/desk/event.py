# SPDX-License-Identifier: Apache-2.0
"""The pages of an event beside its sessions: teams and running order, slips, results, proposals."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Flask, Response, jsonify, send_from_directory
from msgspec import Struct, structs

from referee.service.event.finalizing import finalize, reopen, review, review_all
from referee.service.event.proposal_view import ShownProposal, all_proposals
from referee.service.event.proposals import apply_proposal, cancel_proposal
from referee.service.event.results import read_results
from referee.service.event.results_table import ShownResults, shown_results
from referee.service.evidence.completeness import judged_numbers
from referee.service.evidence.slip import slip_page_of
from referee.service.scoreboard.audience import AudienceNow, audience_of
from referee.service.scoreboard.breaks import begin_break, end_break
from referee.service.scoreboard.freezing import (
    freeze,
    thaw,
)
from referee.service.scoreboard.published_images import count_published
from referee.service.setup.contest import Contest
from referee.service.setup.pages import static_folder
from referee.service.teams.order import draw_order, put_off, set_order
from referee.service.teams.registration import add_team, registration_of, require_list
from referee.service.teams.registration_changes import bring_back, rename, withdraw_all
from referee.service.teams.rehearsals import read_progress
from referee.service.teams.roster import read_roster
from referee.service.teams.roster_view import ShownRoster, shown_roster
from referee.service.teams.team_words import look_alike_warnings
from referee.web.desk.acting import Answer, posted_fields
from referee.web.desk.arguments import PostedFields, session_number
from referee.web.desk.visitors import acting_operator


def register_event(app: Flask, contest: Contest) -> None:
    """Add the pages, what they show, and their actions; each action needs the page's key."""
    _register_pages(app, contest)
    _register_team_actions(app, contest)
    _register_result_actions(app, contest)
    _register_audience_actions(app, contest)


class ResultsNow(Struct, frozen=True, kw_only=True):
    """What the page of the results shows."""

    results: ShownResults
    proposals: Sequence[ShownProposal]
    scoreboard: AudienceNow
    judged: Sequence[int]


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
        found = read_results(contest)
        return jsonify(
            ResultsNow(
                results=shown_results(found),
                proposals=all_proposals(contest),
                scoreboard=audience_of(contest, found),
                judged=judged_numbers(contest),
            )
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
        posted = posted_fields()
        return _change_teams(contest, what, posted)


def _register_result_actions(app: Flask, contest: Contest) -> None:

    @app.post("/results/<any(finalize, reopen):what>")
    def change_results(what: str) -> Answer:
        posted = posted_fields()
        if what == "finalize":
            names = posted.names("names")
            by = acting_operator(PostedFields({"operator": names[0], **posted.fields}))
            finalize(contest, names, by)
        else:
            reopen(
                contest,
                acting_operator(posted, named=True),
                posted.text("reason"),
            )
        return {}

    @app.post("/sessions/<number>/review")
    def review_session(number: str) -> Answer:
        posted = posted_fields()
        reason = posted.text("reason")
        review(contest, session_number(number), acting_operator(posted, named=True), reason)
        return {}

    @app.post("/sessions/review")
    def review_sessions() -> Answer:
        posted = posted_fields()
        operator = acting_operator(posted, named=True)
        sessions = posted.sessions("sessions")
        review_all(contest, sessions, operator, posted.text("reason"))
        return {}

    @app.post("/proposals/<int:number>/<any(apply, cancel):what>")
    def decide(number: int, what: str) -> Answer:
        posted = posted_fields()
        change = apply_proposal if what == "apply" else cancel_proposal
        change(
            contest,
            number,
            acting_operator(posted, named=True),
            posted.text("reason"),
        )
        return {}


def _register_audience_actions(app: Flask, contest: Contest) -> None:

    @app.post("/scoreboard/<any(freeze, unfreeze):what>")
    def change_scoreboard(what: str) -> Answer:
        posted = posted_fields()
        change = freeze if what == "freeze" else thaw
        change(contest, acting_operator(posted, named=True))
        return {}

    @app.post("/break/<any(begin, end):what>")
    def change_break(what: str) -> Answer:
        posted = posted_fields()
        operator = acting_operator(posted, named=True)
        if what == "begin":
            text, minutes = posted.text("text"), posted.number("minutes")
            begin_break(contest, operator, text, minutes)
        else:
            end_break(contest, operator)
        return {}


def _change_teams(contest: Contest, what: str, posted: PostedFields) -> Answer:
    """Change the list of teams; the answer has a warning if a new name looks like another one."""
    new = ""
    operator, reason = acting_operator(posted, named=True), posted.text("reason")
    team = posted.text("team")
    if what == "add":
        require_list(contest.config)
        said = registration_of(
            contest,
            posted.text("organisation"),
            posted.text("lane"),
            prizes=posted.choice("prizes"),
            sessions=posted.choice("sessions"),
        )
        new = add_team(contest, team, said, operator, posted.text("login"))
    elif what == "lottery":
        draw_order(contest, posted.text("seed"), reason, operator)
    elif what == "order":
        set_order(contest, posted.names("teams"), reason, operator)
    elif what == "defer":
        put_off(contest, team, reason, operator)
    elif what == "rename":
        new = rename(contest, team, posted.text("new_name"), operator)
    elif what == "withdraw":
        several = "teams" in posted.fields
        teams = posted.names("teams") if several else [team]
        withdraw_all(contest, teams, reason, operator)
    else:
        bring_back(contest, team, reason, operator)
    warnings = look_alike_warnings(contest, [new]) if new else []
    return {"warning": " ".join(warnings)} if warnings else {}
