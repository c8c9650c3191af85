# SPDX-License-Identifier: Apache-2.0
"""The stored facts from which everything public is made, read on one snapshot of the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.core.conditions import Conditions
from referee.core.turns import counted_attempt
from referee.service.event.conditions import conditions_of
from referee.service.event.figures import Figures, figures_of, stored_result
from referee.service.event.result_entry import Results
from referee.service.event.results import approved_results, ranked_results
from referee.service.event.standings import ranking_report, read_standings
from referee.service.setup.contest import Contest
from referee.service.setup.extra import Leaderboard, present_extras
from referee.service.setup.signing_key import station_key
from referee.service.teams.roster import Roster, read_roster
from referee.store.database import Connection
from referee.store.proposals import was_proposal_applied
from referee.store.publishing import (
    Changes,
    Freeze,
    change_nonces,
    changes_by_subject,
    latest_freezing,
    newest_change,
    newest_freeze,
    teams_with_organisation,
)
from referee.store.readings import EnergyRecord
from referee.store.sessions import SessionRecord, all_sessions
from referee.tracks.track import Ranking


@dataclass(frozen=True)
class PublicSession:
    """A session that has started, with its newest energy and its figures.

    `is_scored` tells whether it has a scoring run; the energy may come before it. `report` has the
    fields that may decide its rank. `conditions` say how it was run and scored, once it is scored.
    """

    session: SessionRecord
    energy: EnergyRecord | None
    is_scored: bool
    figures: Figures
    report: Mapping[str, object]
    conditions: Conditions | None = None


@dataclass(frozen=True)
class Facts:
    """All that the public views rest on; nothing here depends on the time of reading.

    `version` is the number of the newest change. `station` is the key by which other programs know
    this event, see `station_key`. `results` are those of `read_results` without what is open.
    `boards` are the leaderboards of guests, as far as the audience may see them. `organised` are
    the teams that have or had an organisation. `played` has the started sessions, void ones
    included, the oldest first. `freezing` is the newest freeze, and `thaw` the thaw after it, if
    there is one. `rescored` tells whether a proposal was ever applied.
    """

    version: int
    station: str | None
    track: str
    ranking: Ranking
    results: Results
    boards: tuple[Leaderboard, ...]
    roster: Roster
    organised: frozenset[int]
    played: tuple[PublicSession, ...]
    changes: Changes
    nonces: Mapping[int, str]
    freezing: Freeze | None
    thaw: Freeze | None
    rescored: bool = False

    @property
    def is_mixed(self) -> bool:
        """Tell whether sessions were ever marked as not alike, or may have been.

        Facts only grow, so a mixed event stays one. The scores of an applied proposal may have made
        equal what was not.
        """
        return self.rescored or len({one.conditions for one in self.played} - {None}) > 1

    @property
    def frozen(self) -> bool:
        """Tell whether a freeze stands."""
        return self.freezing is not None and self.thaw is None

    def ranks_without(self, session_id: int) -> dict[str, int | None]:
        """Return the rank of each team that is compared, as it would be without a session."""
        played = {one.session.session_id: one for one in self.played}
        reports: dict[str, Mapping[str, object]] = {}
        for team in self.roster.teams:
            attempts = [one for one in team.attempts if one.session_id != session_id]
            counted = counted_attempt(attempts)
            if counted is not None and not team.withdrawn:
                reports[team.name] = played[counted.session_id].report
        return dict(zip(reports, self.ranking.places(list(reports.values())), strict=True))


def read_facts(contest: Contest, connection: Connection) -> Facts:
    """Read the facts on the caller's snapshot."""
    roster = read_roster(contest, connection)
    newest = newest_freeze(connection)
    return Facts(
        version=newest_change(connection),
        station=station_key(contest.config.path),
        track=contest.track.name,
        ranking=contest.track.ranking,
        results=_results(contest, connection, roster),
        boards=_boards(contest, connection),
        roster=roster,
        organised=teams_with_organisation(connection),
        played=tuple(
            _played(contest, connection, session)
            for session in reversed(all_sessions(connection))
            if session.facts.started is not None
        ),
        changes=changes_by_subject(connection),
        nonces=change_nonces(connection),
        freezing=latest_freezing(connection),
        thaw=newest if newest is not None and newest.kind == "thawed" else None,
        rescored=was_proposal_applied(connection),
    )


def _played(contest: Contest, connection: Connection, session: SessionRecord) -> PublicSession:
    stored = stored_result(connection, session)
    run, energy = stored.run, stored.energy
    figures = figures_of(contest.track, stored)
    report = {} if run is None else ranking_report(contest.track, run)
    conditions = None
    if run is not None:
        conditions = conditions_of(contest.track, connection, session, energy, run)
    return PublicSession(session, energy, run is not None, figures, report, conditions)


def _boards(contest: Contest, connection: Connection) -> tuple[Leaderboard, ...]:
    guests = present_extras(contest.config)
    return tuple(board for extra in guests for board in extra.leaderboards(contest, connection))


def _results(contest: Contest, connection: Connection, roster: Roster) -> Results:
    return approved_results(connection) or ranked_results(
        contest, read_standings(contest, connection, roster)
    )
