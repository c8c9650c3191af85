# SPDX-License-Identifier: Apache-2.0
"""The results of an event: ranking, prizes, past champions, what is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from referee.core.turns import SESSION_RULE
from referee.scoring import lpirc
from referee.service.event.doubt import doubt_of
from referee.service.event.open_points import open_points
from referee.service.event.result_entry import (
    PastChampion,
    ResultEntry,
    Results,
    TrackFigures,
    WonPrize,
)
from referee.service.event.standings import TIE_RULE, TeamStanding, read_standings
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.service.teams.roster import read_roster
from referee.store.database import Connection
from referee.store.finals import final_results
from referee.tracks.track import Track


def read_results(contest: Contest) -> Results:
    """Return the results; final ones are exactly those that were approved."""
    with contest.database.read() as connection:
        return approved_results(connection) or provisional_results(contest, connection)


def approved_results(connection: Connection) -> Results | None:
    """Return the final results as they were approved, or None while they are provisional."""
    final = final_results(connection)
    if final is None:
        return None
    approval = {"approved_by": list(final.approved_by), "approved_utc": final.utc}
    fields = {**final.results, "final": True, **approval, "open": [], "points": []}
    return msgspec.convert(fields, Results)


def provisional_results(contest: Contest, connection: Connection) -> Results:
    """Return the results as the stored rows give them now, on the caller's snapshot."""
    roster = read_roster(contest, connection)
    standings = read_standings(contest, connection, roster)
    points = open_points(contest, connection, roster, standings)
    standings_of_guests = (
        (extra.name, extra.standings(contest, connection))
        for extra in present_extras(contest.config)
    )
    guests = {name: standings for name, standings in standings_of_guests if standings is not None}
    return msgspec.structs.replace(
        ranked_results(contest, standings),
        open=[point.text for point in points],
        points=points,
        guests=guests,
    )


def ranked_results(contest: Contest, standings: Sequence[TeamStanding]) -> Results:
    """Return provisional results of these standings, without what is open."""
    track, settings = contest.track, contest.config.contest
    return Results(
        contest=settings.name,
        track=track.name,
        mode=settings.mode,
        seconds=settings.seconds,
        images=contest.image_count,
        utc=contest.clock.now().utc.isoformat(),
        figures=TrackFigures(track.accuracy, track.score),
        session_rule=SESSION_RULE,
        tie_rule=TIE_RULE,
        entries=[_entry(contest, standing) for standing in standings],
        prizes=_prizes(contest, standings) if track.sigma_prizes else [],
        champions=past_champions(track),
    )


def past_champions(track: Track[Any]) -> list[PastChampion]:
    """Return the winners of past years in a track, the oldest first."""
    return [
        PastChampion(year, champion.accuracy, champion.energy_wh, champion.score)
        for year, champion in sorted(track.champions.items())
    ]


def _entry(contest: Contest, standing: TeamStanding) -> ResultEntry:
    energy, team, review = standing.energy, standing.team, standing.review
    doubt = "" if energy is None or review is not None else doubt_of(contest.config, energy)
    return ResultEntry(
        **standing.figures.values(),
        rank=standing.rank,
        team=team.name,
        team_id=team.team_id,
        organisation=team.registration.organisation,
        session=None if standing.session is None else standing.session.session_id,
        intervals=standing.interval_lines(contest.track),
        attempts=team.attempt_count,
        void_reasons=list(team.void_reasons),
        verdict=None if energy is None else energy.verdict,
        reasons=[] if energy is None else energy.reasons,
        review=review,
        review_open=doubt,
        differs=list(standing.differs),
        differs_open=list(standing.differs_open),
        turn=team.turn.value,
        clients=list(standing.clients),
        withdrawn=team.withdrawn,
        prizes=team.registration.prizes,
    )


def _prizes(contest: Contest, standings: Sequence[TeamStanding]) -> list[WonPrize]:
    sigma = lpirc.Sigma(contest.config.contest.prize_sigma)
    ranked = [standing for standing in standings if standing.rank is not None]
    entries = [
        lpirc.Entry(
            standing.team.name,
            standing.figures.mean_ap,
            standing.figures.energy_wh,
            standing.team.registration.prizes,
        )
        for standing in ranked
    ]
    best = [one for one in ranked if one.team.registration.prizes]
    first = [one.team.name for one in best if one.rank == best[0].rank]
    least = lpirc.least_energy_prize(entries, sigma)
    highest = lpirc.highest_map_prize(entries, sigma)
    return [
        WonPrize("highest score", "", None, first),
        WonPrize(
            "least energy",
            f"mAP at least mean + 1 sigma of the {sigma.value}",
            least.limit,
            [entry.name for entry in least.winners],
        ),
        WonPrize(
            "highest mAP",
            f"energy at most mean - 1 sigma of the {sigma.value}",
            highest.limit,
            [entry.name for entry in highest.winners],
        ),
    ]
