# SPDX-License-Identifier: Apache-2.0
"""The results of an event, ready for JSON: ranking, prizes, past champions, what is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from referee.core.turns import SESSION_RULE
from referee.scoring import lpirc
from referee.service.event.doubt import doubt_of
from referee.service.event.open_points import open_points
from referee.service.event.standings import TIE_RULE, Standing, read_standings
from referee.service.setup.contest import Contest
from referee.service.teams.roster import read_roster
from referee.store.database import Connection
from referee.store.finals import final_results

Results = dict[str, Any]
"""The results, ready for JSON."""


def read_results(contest: Contest) -> Results:
    """Return the results; final ones are exactly those that were approved.

    `final` says whether they are approved. `entries` has every team, the best first; `rank` is
    None without a score. `prizes` and `champions` are empty in a track without them. `open` has
    what forbids an approval, `approved_by` who approved.
    """
    with contest.database.read() as connection:
        final = final_results(connection)
        if final is not None:
            approval = {"approved_by": list(final.approved_by), "approved_utc": final.utc}
            return {**final.results, "final": True, **approval, "open": []}
        return provisional_results(contest, connection)


def provisional_results(contest: Contest, connection: Connection) -> Results:
    """Return the results as the stored rows give them now, on the caller's snapshot."""
    roster = read_roster(contest, connection)
    standings = read_standings(contest, connection, roster)
    ranked = ranked_results(contest, standings)
    return ranked | {"open": open_points(contest, connection, roster, standings)}


def ranked_results(contest: Contest, standings: Sequence[Standing]) -> Results:
    """Return provisional results of these standings, without what is open."""
    track, settings = contest.track, contest.config.contest
    return {
        "final": False,
        "contest": settings.name,
        "track": track.name,
        "mode": settings.mode,
        "seconds": settings.seconds,
        "images": contest.image_count,
        "utc": contest.clock.now().utc.isoformat(),
        "figures": {"accuracy": asdict(track.accuracy), "score": asdict(track.score)},
        "session_rule": SESSION_RULE,
        "tie_rule": TIE_RULE,
        "entries": [_entry(contest, standing) for standing in standings],
        "prizes": _prizes(contest, standings) if track.sigma_prizes else [],
        "champions": [
            {"year": year, "mean_ap": it.accuracy, "energy_wh": it.energy_wh, "score": it.score}
            for year, it in sorted(track.champions.items())
        ],
        "approved_by": [],
        "approved_utc": None,
        "open": [],
    }


def _entry(contest: Contest, standing: Standing) -> dict[str, Any]:
    """Return one entry; `mean_ap` is the track's accuracy whatever its name.

    `review_open` is what somebody must review first (see `doubt_of`), '' if nothing is open.
    """
    low, high = standing.interval(contest.track)
    energy, team, review = standing.energy, standing.team, standing.review
    doubt = "" if energy is None or review is not None else doubt_of(contest.config, energy)
    return {
        "rank": standing.rank,
        "team": team.name,
        "organisation": team.registration.organisation,
        "session": None if standing.session is None else standing.session.session_id,
        "mean_ap": standing.accuracy,
        "energy_wh": None if energy is None else energy.energy_wh,
        "score": standing.score,
        "score_low": low,
        "score_high": high,
        "intervals": standing.interval_lines(contest.track),
        "images": standing.images,
        "attempts": team.attempt_count,
        "void_reasons": list(team.void_reasons),
        "verdict": None if energy is None else energy.verdict,
        "reasons": [] if energy is None else energy.reasons,
        "review": None if review is None else asdict(review),
        "review_open": doubt,
        "emulated": energy is not None and energy.emulated,
        "normalized_accuracy": standing.figure("normalized_accuracy"),
        "objects_per_s": standing.objects_per_s(),
        "turn": team.turn.value,
        "withdrawn": team.withdrawn,
        "prizes": team.registration.prizes,
    }


def _prizes(contest: Contest, standings: Sequence[Standing]) -> list[dict[str, Any]]:
    sigma = lpirc.Sigma(contest.config.contest.prize_sigma)
    entries = [
        lpirc.Entry(
            it.team.name,
            it.accuracy,
            None if it.energy is None else it.energy.energy_wh,
            it.team.registration.prizes,
        )
        for it in standings
        if it.rank is not None
    ]
    best = [one for one in standings if one.rank is not None and one.team.registration.prizes]
    first = [one.team.name for one in best if one.rank == best[0].rank]
    least = lpirc.least_energy_prize(entries, sigma)
    highest = lpirc.highest_map_prize(entries, sigma)
    return [
        {"prize": "highest score", "rule": "", "limit": None, "winners": first},
        {
            "prize": "least energy",
            "rule": f"mAP at least mean + 1 sigma of the {sigma.value}",
            "limit": least.limit,
            "winners": [entry.name for entry in least.winners],
        },
        {
            "prize": "highest mAP",
            "rule": f"energy at most mean - 1 sigma of the {sigma.value}",
            "limit": highest.limit,
            "winners": [entry.name for entry in highest.winners],
        },
    ]
