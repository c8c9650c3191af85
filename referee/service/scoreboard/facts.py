# SPDX-License-Identifier: Apache-2.0
"""The stored facts from which everything public is made, read on one snapshot of the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.service.event.results import Results, ranked_results
from referee.service.event.standings import objects_per_s, read_standings, score_interval
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.service.setup.signing_key import station_key
from referee.service.teams.roster import Roster, read_roster
from referee.store.database import Connection
from referee.store.finals import final_results
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
from referee.store.readings import Energy, energy_of
from referee.store.requests import count_fetched_images
from referee.store.scores import ScoringRun, newest_scoring_run
from referee.store.sessions import SessionRecord, all_sessions


@dataclass(frozen=True)
class Played:
    """A session that has started, with its newest energy and scoring run, if any.

    `interval` has the ends of the score's interval. `images` counts the images fetched.
    """

    session: SessionRecord
    energy: Energy | None
    run: ScoringRun | None
    interval: tuple[float | None, float | None]
    objects_per_s: float | None
    images: int


@dataclass(frozen=True)
class Facts:
    """All that the public views rest on; nothing here depends on the time of reading.

    `version` is the number of the newest change. `station` is the key by which other programs know
    this event, see `station_key`. `results` are those of `read_results` without what is open.
    `boards` are the leaderboards of guests, as far as the audience may see them. `organised` are
    the teams that have or had an organisation. `played` has the started sessions, void ones
    included, the oldest first. `freezing` is the newest freeze, and `thaw` the thaw after it, if
    there is one.
    """

    version: int
    station: str | None
    track: str
    results: Results
    boards: tuple[Mapping[str, Any], ...]
    roster: Roster
    organised: frozenset[int]
    played: tuple[Played, ...]
    changes: Changes
    nonces: Mapping[int, str]
    freezing: Freeze | None
    thaw: Freeze | None

    @property
    def frozen(self) -> bool:
        """Tell whether a freeze stands."""
        return self.freezing is not None and self.thaw is None


def read_facts(contest: Contest, connection: Connection) -> Facts:
    """Read the facts on the caller's snapshot."""
    roster = read_roster(contest, connection)
    newest = newest_freeze(connection)
    return Facts(
        version=newest_change(connection),
        station=station_key(contest.config.path),
        track=contest.track.name,
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
    )


def _played(contest: Contest, connection: Connection, session: SessionRecord) -> Played:
    run = newest_scoring_run(connection, session.session_id)
    return Played(
        session=session,
        energy=energy_of(connection, session.session_id),
        run=run,
        interval=score_interval(run, contest.track),
        objects_per_s=objects_per_s(session, run),
        images=count_fetched_images(connection, session.session_id),
    )


def _boards(contest: Contest, connection: Connection) -> tuple[Mapping[str, Any], ...]:
    guests = present_extras(contest.config)
    return tuple(board for extra in guests for board in extra.leaderboards(contest, connection))


def _results(contest: Contest, connection: Connection, roster: Roster) -> dict[str, Any]:
    final = final_results(connection)
    if final is None:
        return ranked_results(contest, read_standings(contest, connection, roster))
    approval = {"approved_by": list(final.approved_by), "approved_utc": final.utc}
    return {**final.results, "final": True, **approval}
