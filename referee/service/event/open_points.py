# SPDX-License-Identifier: Apache-2.0
"""What is open before results can be final: each point is a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.core.states import SessionState
from referee.core.turns import Turn, standing_attempts
from referee.service.event.conditions import difference_text, scored_by
from referee.service.event.doubt import EMULATED, doubt_of
from referee.service.event.standings import Standing
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import all_extras
from referee.service.teams.roster import Roster, RosterTeam
from referee.store.database import Connection
from referee.store.proposals import stored_proposals
from referee.store.scores import inputs_of
from referee.store.sessions import sessions_to_score

_TUNNEL = (
    " If its meter's address was that of a tunnel or a bridge to a real meter, the review says so."
)
_AHEAD = (SessionState.READY, SessionState.ARMED, SessionState.RUNNING)


def open_points(
    contest: Contest, connection: Connection, roster: Roster, standings: Sequence[Standing]
) -> list[str]:
    """Return a sentence for each point that forbids final results; the list may be empty."""
    points = [] if roster.teams else ["No team is registered."]
    for team in roster.teams:
        points += _of_team(team)
    unscored = {session.session_id for session in sessions_to_score(connection)}
    for standing in standings:
        points += _of_standing(contest.config, standing, unscored)
        points += _of_conditions(standing)
    points += [
        f"Proposal {proposal.proposal_id} of new scores is open. Apply it or cancel it."
        for proposal in stored_proposals(connection)
        if proposal.end is None
    ]
    points += _of_inputs(connection, standings)
    active = {team.name for team in roster.active}
    of_guests = (extra.open_points(contest, connection, active) for extra in all_extras())
    return points + [point for of_guest in of_guests for point in of_guest]


def _of_team(team: RosterTeam) -> Iterator[str]:
    for attempt in team.attempts:
        if attempt.state in _AHEAD:
            yield (
                f"Session {attempt.session_id} of '{team.name}' is {attempt.state.value}. Let it "
                "end, or void it."
            )
    kept = [str(one.session_id) for one in standing_attempts(team.attempts)]
    if len(kept) > 1:
        yield (
            f"'{team.name}' has sessions {', '.join(kept)} that are not void. Session {kept[-1]} "
            "counts. Void the others, with the reason of the re-run."
        )
    if team.turn is Turn.WAITING:
        yield f"'{team.name}' has no session that counts. Let it run, or withdraw it."


def _of_standing(config: Config, standing: Standing, unscored: set[int]) -> Iterator[str]:
    session, energy = standing.session, standing.energy
    if session is None or standing.team.turn in (Turn.ON, Turn.WITHDRAWN):
        return
    name = f"Session {session.session_id} of '{standing.team.name}'"
    if energy is None:
        yield f"{name} has no judged energy yet. Wait, or look at the meter."
    elif standing.run is None or session.session_id in unscored:
        yield f"{name} is not scored yet. The referee must run for that: 'referee serve'."
    elif standing.review is None and (doubt := doubt_of(config, energy)):
        yield (
            f"{name} has an energy that is {doubt}, and nobody has reviewed it. Void the "
            f"session, or let it stand by a review.{_TUNNEL if doubt == EMULATED else ''}"
        )


def _of_conditions(standing: Standing) -> Iterator[str]:
    """Yield a point if the session was not run as most of the others were."""
    if standing.session is not None and standing.differs_open:
        words = "; ".join(map(difference_text, standing.differs_open))
        yield (
            f"Session {standing.session.session_id} of '{standing.team.name}' was not run as the "
            f"others were: {words}. Void it, and let the team run again, or let it stand by a "
            "review."
        )


def _of_inputs(connection: Connection, standings: Sequence[Standing]) -> list[str]:
    """Return a point if sessions were scored with different files, or by different rules."""
    by_inputs: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for standing in standings:
        if standing.run is not None and standing.session is not None:
            inputs = inputs_of(connection, standing.run)
            inputs["rules"] = scored_by(standing.run.detail) or ""
            numbers = by_inputs.setdefault(tuple(sorted(inputs.items())), [])
            numbers.append(str(standing.session.session_id))
    if len(by_inputs) < 2:
        return []
    groups = " against ".join(", ".join(sorted(group, key=int)) for group in by_inputs.values())
    return [
        f"Sessions were scored with different ground truth, blacklist or rules: {groups}. Make a "
        "proposal that scores all of them with the same files and rules, and apply it."
    ]
