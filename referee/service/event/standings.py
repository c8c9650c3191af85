# SPDX-License-Identifier: Apache-2.0
"""The entries of the ranking: the figures of each team's session that counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from referee.core.instant import seconds_between
from referee.core.turns import counted_attempt
from referee.scoring.uncertainty import gives_interval
from referee.service.results.interval_text import interval_lines, score_ends
from referee.service.setup.contest import Contest
from referee.service.teams.roster import Roster, RosterTeam
from referee.store.database import Connection
from referee.store.finals import Review, review_of
from referee.store.readings import Energy, energy_of
from referee.store.requests import count_fetched_images
from referee.store.scores import ScoringRun, newest_scoring_run
from referee.store.sessions import SessionRecord, load_session
from referee.tracks.track import Track

TIE_RULE = (
    "Entries share a rank if their scores are equal to the last bit of a double. The next rank is "
    "then left out: 1, 2, 2, 4."
)
"""The rule of shared ranks."""


@dataclass(frozen=True)
class Standing:
    """A team's place with the session that counts; both are None for a team without one.

    `rank` is None without a score, and for a team that has withdrawn. `run` and `energy` are the
    session's newest.
    """

    rank: int | None
    team: RosterTeam
    session: SessionRecord | None
    run: ScoringRun | None
    energy: Energy | None
    images: int | None
    review: Review | None

    @property
    def score(self) -> float | None:
        """Return the score, or None."""
        return None if self.run is None else self.run.score

    @property
    def accuracy(self) -> float | None:
        """Return the accuracy, or None."""
        return None if self.run is None else self.run.accuracy

    def figure(self, name: str) -> Any:
        """Return a field of the session's score.json, or None."""
        return None if self.run is None else self.run.detail.get(name)

    def objects_per_s(self) -> float | None:
        """Return the reported boxes per second of the session, or None if it has not ended."""
        return None if self.session is None else objects_per_s(self.session, self.run)

    def interval(self, track: Track[Any]) -> tuple[float | None, float | None]:
        """Return the ends of the score's interval; None where there is none."""
        return score_interval(self.run, track)

    def interval_lines(self, track: Track[Any]) -> list[str]:
        """Return the intervals that the scoring run tells, each part as a line of text."""
        return [] if self.run is None else interval_lines(self.run.detail, track)


def objects_per_s(session: SessionRecord, run: ScoringRun | None) -> float | None:
    """Return the reported boxes per second of a session, or None if it is not over or scored."""
    boxes = None if run is None else run.detail.get("detections")
    started, ended = session.facts.started, session.facts.ended
    if boxes is None or started is None or ended is None:
        return None
    ran_s = seconds_between(started, ended)
    return float(boxes) / ran_s if ran_s > 0 else None


def score_interval(run: ScoringRun | None, track: Track[Any]) -> tuple[float | None, float | None]:
    """Return the ends of a score's interval; None where there is none (see `gives_interval`).

    It is the interval that the scoring run tells. If the run tells none, it is the change of
    the score when the energy changes by the meter's uncertainty.
    """
    if run is None or not gives_interval(run.detail.get("verdict")):
        return None, None
    told = score_ends(run.detail, track)
    if told is not None:
        return told[0], told[1]
    if run.score is None:
        return None, None
    energy_wh, uncertainty_wh = run.detail["energy_wh"], run.detail["uncertainty_wh"]
    if energy_wh is None or uncertainty_wh is None:
        return None, None
    return (
        track.score_of(run.accuracy, energy_wh + uncertainty_wh),
        track.score_of(run.accuracy, energy_wh - uncertainty_wh),
    )


def read_standings(
    contest: Contest,
    connection: Connection,
    roster: Roster,
    instead: Mapping[int, ScoringRun] | None = None,
) -> list[Standing]:
    """Return every team, the best first, then those without a rank in the running order.

    `instead` has other scoring runs for some sessions: the ranking as it would be with them.
    """
    found = [_unranked(connection, team, instead or {}) for team in roster.teams]
    reports = [
        {} if one.run is None or one.team.withdrawn else _report(contest.track, one.run)
        for one in found
    ]
    places = contest.track.ranking.places(reports)
    standings = [replace(one, rank=place) for place, one in zip(places, found, strict=True)]
    last = len(standings) + 1
    return sorted(standings, key=lambda one: last if one.rank is None else one.rank)


def _unranked(
    connection: Connection, team: RosterTeam, instead: Mapping[int, ScoringRun]
) -> Standing:
    attempt = counted_attempt(team.attempts)
    if attempt is None:
        return Standing(None, team, None, None, None, None, None)
    number = attempt.session_id
    energy = energy_of(connection, number)
    return Standing(
        rank=None,
        team=team,
        session=load_session(connection, number),
        run=instead.get(number) or newest_scoring_run(connection, number),
        energy=energy,
        images=count_fetched_images(connection, number),
        review=None if energy is None else review_of(connection, energy.energy_id),
    )


def _report(track: Track[Any], run: ScoringRun) -> dict[str, Any]:
    """Return the fields that may decide the places; the stored columns have the last word."""
    return {**run.detail, track.accuracy.field: run.accuracy, track.score.field: run.score}
