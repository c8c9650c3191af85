# SPDX-License-Identifier: Apache-2.0
"""The entries of the ranking: the figures of each team's session that counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from referee.core.conditions import EMULATED, Difference, to_review
from referee.core.turns import counted_attempt
from referee.service.event.conditions import compared, conditions_of
from referee.service.event.doubt import doubt_of
from referee.service.event.figures import Figures, figures_of, stored_result
from referee.service.results.interval_text import interval_lines
from referee.service.setup.contest import Contest
from referee.service.teams.roster import Roster, RosterTeam
from referee.store.condition_reviews import reviewed_differences
from referee.store.database import Connection
from referee.store.finals import Review, review_of
from referee.store.readings import EnergyRecord
from referee.store.scores import ScoringRun
from referee.store.session_clients import clients_of_session
from referee.store.sessions import SessionRecord, load_session
from referee.tracks.track import Track

TIE_RULE = (
    "Entries share a rank if their scores are equal: the exact quotients of mAP and energy as JSON "
    "and CSV print them. The next rank is then left out: 1, 2, 2, 4."
)
"""The rule of shared ranks."""


@dataclass(frozen=True)
class TeamStanding:
    """A team's place with the session that counts; `session` is None for a team without one.

    `rank` is None without a score, and for a team that has withdrawn. `run` and `energy` are the
    session's newest, and `figures` follow from them. `differs` is what was not as in the other
    sessions, and `differs_open` what of it nobody has reviewed. `clients` are what the programs
    that logged in call themselves.
    """

    team: RosterTeam
    rank: int | None = None
    session: SessionRecord | None = None
    run: ScoringRun | None = None
    energy: EnergyRecord | None = None
    figures: Figures = Figures()
    review: Review | None = None
    differs: tuple[Difference, ...] = ()
    differs_open: tuple[Difference, ...] = ()
    clients: tuple[str, ...] = ()

    def interval_lines(self, track: Track[Any]) -> list[str]:
        """Return the intervals that the scoring run tells, each part as a line of text."""
        return [] if self.run is None else interval_lines(self.run.detail, track)


def read_standings(
    contest: Contest,
    connection: Connection,
    roster: Roster,
    instead: Mapping[int, ScoringRun] | None = None,
) -> list[TeamStanding]:
    """Return every team, the best first, then those without a rank in the running order.

    `instead` has other scoring runs for some sessions: the ranking as it would be with them.
    """
    track = contest.track
    unranked = [_unranked(track, connection, team, instead or {}) for team in roster.teams]
    unranked = _compared(contest, connection, unranked)
    reports = [
        {}
        if standing.run is None or standing.team.withdrawn
        else ranking_report(track, standing.run)
        for standing in unranked
    ]
    places = track.ranking.places(reports)
    standings = [replace(one, rank=place) for place, one in zip(places, unranked, strict=True)]
    last = len(standings) + 1
    return sorted(standings, key=lambda one: last if one.rank is None else one.rank)


def _compared(
    contest: Contest, connection: Connection, standings: Sequence[TeamStanding]
) -> list[TeamStanding]:
    """Return standings with what differs between their sessions, of those that are scored."""
    track = contest.track
    conditions = {
        standing.session.session_id: conditions_of(
            track, connection, standing.session, standing.energy, standing.run
        )
        for standing in standings
        if standing.session is not None and standing.run is not None and not standing.team.withdrawn
    }
    found = compared(conditions)
    return [
        replace(
            standing,
            differs=differs,
            differs_open=_not_reviewed(contest, connection, standing, differs),
        )
        for standing in standings
        for differs in [
            () if standing.session is None else found.get(standing.session.session_id, ())
        ]
    ]


def _not_reviewed(
    contest: Contest, connection: Connection, standing: TeamStanding, differs: Sequence[Difference]
) -> tuple[Difference, ...]:
    """Return the differences that still need a review of their own.

    The review that a doubtful energy needs lets its emulated meter stand, too.
    """
    energy = standing.energy
    if standing.session is None or energy is None or not differs:
        return ()
    doubted = standing.review is not None or doubt_of(contest.config, energy) != ""
    known = reviewed_differences(connection, standing.session.session_id)
    return tuple(
        difference
        for difference in to_review(differs)
        if difference not in known
        and not (doubted and difference.condition == "meter" and difference.found == EMULATED)
    )


def _unranked(
    track: Track[Any],
    connection: Connection,
    team: RosterTeam,
    instead: Mapping[int, ScoringRun],
) -> TeamStanding:
    attempt = counted_attempt(team.attempts)
    if attempt is None:
        return TeamStanding(team)
    session = load_session(connection, attempt.session_id)
    stored = stored_result(connection, session)
    if session.session_id in instead:
        stored = replace(stored, run=instead[session.session_id])
    energy = stored.energy
    return TeamStanding(
        team=team,
        session=session,
        run=stored.run,
        energy=energy,
        figures=figures_of(track, stored),
        review=None if energy is None else review_of(connection, energy.energy_id),
        clients=tuple(clients_of_session(connection, attempt.session_id)),
    )


def ranking_report(track: Track[Any], run: ScoringRun) -> dict[str, object]:
    """Return the fields that may decide the places; the stored columns have the last word."""
    return {**run.detail, track.accuracy.field: run.accuracy, track.score.field: run.score}
