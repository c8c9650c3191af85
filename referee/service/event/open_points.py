# SPDX-License-Identifier: Apache-2.0
"""What is open before results can be final: each point says what it is about, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.core.states import SessionState
from referee.core.turns import Turn, standing_attempts
from referee.service.event.conditions import difference_text, scored_by
from referee.service.event.doubt import EMULATED, doubt_of
from referee.service.event.open_point import OpenPoint
from referee.service.event.standings import TeamStanding
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import Extra, all_extras
from referee.service.teams.roster import Roster, RosterTeam
from referee.store.database import Connection
from referee.store.proposals import stored_proposals
from referee.store.readings import EnergyRecord
from referee.store.scores import inputs_of
from referee.store.sessions import sessions_to_score

_TUNNEL = (
    " If its meter's address was that of a tunnel or a bridge to a real meter, the review says so."
)
_AHEAD = (SessionState.READY, SessionState.ARMED, SessionState.RUNNING)


def open_points(
    contest: Contest, connection: Connection, roster: Roster, standings: Sequence[TeamStanding]
) -> list[OpenPoint]:
    """Return each point that forbids final results; the list may be empty."""
    no_team = OpenPoint(kind="no team", text="No team is registered.", page="teams")
    points = [] if roster.teams else [no_team]
    for team in roster.teams:
        points += _of_team(team)
    unscored = {session.session_id for session in sessions_to_score(connection)}
    for standing in standings:
        points += _of_standing(contest.config, standing, unscored)
        points += _of_conditions(standing)
    points += [
        OpenPoint(
            kind="proposal",
            text=f"Proposal {proposal.proposal_id} of new scores is open. Apply it or cancel it.",
            proposal=proposal.proposal_id,
            page="results#proposals-title",
        )
        for proposal in stored_proposals(connection)
        if proposal.end is None
    ]
    points += _of_inputs(connection, standings)
    active = {team.name for team in roster.active}
    return points + [
        OpenPoint(kind="guest", text=text, page=_page_of(extra))
        for extra in all_extras()
        for text in extra.open_points(contest, connection, active)
    ]


def _page_of(extra: Extra) -> str:
    """Return the first page of a guest on the console, '' if it has none."""
    pages = (route for route, kind in extra.console.items() if kind == "page")
    return next(pages, "").removeprefix("GET /")


def _page(session_id: int) -> str:
    return f"./?session={session_id}"


def _of_team(team: RosterTeam) -> Iterator[OpenPoint]:
    for attempt in team.attempts:
        if attempt.state in _AHEAD:
            yield OpenPoint(
                kind="session",
                text=f"Session {attempt.session_id} of '{team.name}' is {attempt.state.value}. Let "
                "it end, or void it.",
                team=team.name,
                sessions=[attempt.session_id],
                page=_page(attempt.session_id),
            )
    kept = [one.session_id for one in standing_attempts(team.attempts)]
    if len(kept) > 1:
        yield OpenPoint(
            kind="several sessions",
            text=f"'{team.name}' has sessions {', '.join(map(str, kept))} that are not void. "
            f"Session {kept[-1]} counts. Void the others, with the reason of the re-run.",
            team=team.name,
            sessions=kept[:-1],
            page=_page(kept[0]),
        )
    if team.turn is Turn.WAITING:
        yield OpenPoint(
            kind="waiting",
            text=f"'{team.name}' has no session that counts. Let it run, or withdraw it.",
            team=team.name,
            reason="waiting",
            page="./",
        )


def _of_standing(config: Config, standing: TeamStanding, unscored: set[int]) -> Iterator[OpenPoint]:
    session, energy = standing.session, standing.energy
    if session is None or standing.team.turn in (Turn.ON, Turn.WITHDRAWN):
        return
    number, team = session.session_id, standing.team.name
    name = f"Session {number} of '{team}'"
    if energy is None:
        text = f"{name} has no judged energy yet. Wait, or look at the meter."
        yield OpenPoint(
            kind="no energy", text=text, team=team, sessions=[number], page=_page(number)
        )
    elif standing.run is None or session.session_id in unscored:
        text = f"{name} is not scored yet. The referee must run for that: 'referee serve'."
        yield OpenPoint(
            kind="no score", text=text, team=team, sessions=[number], page=_page(number)
        )
    elif standing.review is None and (doubt := doubt_of(config, energy)):
        yield OpenPoint(
            kind="doubt",
            text=f"{name} has an energy that is {doubt}, and nobody has reviewed it. Void the "
            f"session, or let it stand by a review.{_TUNNEL if doubt == EMULATED else ''}",
            team=team,
            sessions=[number],
            reason=" ".join([doubt, *_codes(energy)]),
            doubt=doubt,
            page=_page(number),
        )


def _codes(energy: EnergyRecord) -> list[str]:
    """Return the codes of the findings that made an energy doubtful, each once.

    An energy of an early version has only texts, so each stands for itself.
    """
    findings = energy.detail.get("findings")
    if findings is None:
        return list(energy.reasons)
    weighty = (one for one in findings if one["severity"] == energy.verdict)
    return sorted({str(one["code"]) for one in weighty}) if energy.verdict != "VALID" else []


def _of_conditions(standing: TeamStanding) -> Iterator[OpenPoint]:
    """Yield a point if the session was not run as most of the others were."""
    if standing.session is not None and standing.differs_open:
        number = standing.session.session_id
        words = "; ".join(map(difference_text, standing.differs_open))
        yield OpenPoint(
            kind="conditions",
            text=f"Session {number} of '{standing.team.name}' was not run as the others were: "
            f"{words}. Void it, and let the team run again, or let it stand by a review.",
            team=standing.team.name,
            sessions=[number],
            reason=words,
            page=_page(number),
        )


def _of_inputs(connection: Connection, standings: Sequence[TeamStanding]) -> list[OpenPoint]:
    """Return a point if sessions were scored with different files, or by different rules."""
    by_inputs: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for standing in standings:
        if standing.run is not None and standing.session is not None:
            inputs = inputs_of(connection, standing.run)
            inputs["rules"] = scored_by(standing.run.detail) or ""
            numbers = by_inputs.setdefault(tuple(sorted(inputs.items())), [])
            numbers.append(standing.session.session_id)
    if len(by_inputs) < 2:
        return []
    groups = " against ".join(", ".join(map(str, sorted(group))) for group in by_inputs.values())
    text = (
        f"Sessions were scored with different ground truth, blacklist or rules: {groups}. Make a "
        "proposal that scores all of them with the same files and rules, and apply it."
    )
    return [OpenPoint(kind="inputs", text=text, page="results#proposals-title")]
