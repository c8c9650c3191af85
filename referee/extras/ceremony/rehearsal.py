# SPDX-License-Identifier: Apache-2.0
"""Generated results with which a ceremony is rehearsed; nothing of the event is in them."""

from __future__ import annotations

from msgspec.structs import replace

from referee.service.event.guest_standings import GuestColumn, GuestStandings, GuestTable
from referee.service.event.result_entry import (
    ContestRanking,
    ResultEntry,
    Results,
    TrackFigures,
    WonPrize,
)
from referee.service.setup.contest import Contest

PICTURED = "Rehearsal Robots"
"""The generated winner, which allows a picture."""

# Team, organisation, mAP, watt-hours; the best first. Names of every length, and two scripts.
_TEAMS = (
    (PICTURED, "University of Rehearsals", 0.3824, 0.861),
    ("Team with a name that is as long as a registration allows it", "Long Names Inc.", 0.41, 1.02),
    ("低電力画像認識チーム", "練習大学", 0.2955, 0.774),
    ("Busy Bees", "Bee Labs", 0.2712, 0.829),
    ("Rocket big", "Uni North", 0.4471, 1.6),
    ("Rocket small", "Uni North", 0.1892, 0.71),
    ("Quiet Fans", "", 0.2205, 1.12),
    ("Ångström", "Söhne & Töchter", 0.12, 0.93),
    ("Last but not least", "Evening School", 0.0431, 1.37),
)
# Those that ran after the freeze, by their places in the table above.
_HIDDEN = (0, 2, 4, 7)
_INVALID = "Loose Cable"


def rehearsed(contest: Contest) -> tuple[Results, ContestRanking]:
    """Return generated results of nine teams, and what was public of them during a freeze."""
    entries = [
        ResultEntry(
            rank=place,
            team=team,
            organisation=organisation,
            session=(place * 7) % 10 + 1,
            mean_ap=mean_ap,
            energy_wh=energy_wh,
            score=mean_ap / energy_wh,
            score_low=0.9 * mean_ap / energy_wh,
            score_high=1.1 * mean_ap / energy_wh,
            verdict="VALID",
        )
        for place, (team, organisation, mean_ap, energy_wh) in enumerate(_TEAMS, start=1)
    ]
    invalid = ResultEntry(team=_INVALID, session=11, mean_ap=0.2, verdict="INVALID")
    names = [entry.team for entry in entries]
    track, settings = contest.track, contest.config.contest
    results = Results(
        contest=settings.name,
        track=track.name,
        mode=settings.mode,
        seconds=settings.seconds,
        images=contest.image_count,
        figures=TrackFigures(track.accuracy, track.score),
        entries=[*entries, invalid],
        prizes=[
            WonPrize("highest score", "", None, names[:1]),
            WonPrize("least energy", "mAP at least mean + 1 sigma of the sample", 0.4, [names[1]]),
            WonPrize("highest mAP", "energy at most mean - 1 sigma of the sample", 0.7, []),
        ],
        guests={"rehearsal": GuestStandings([_guest_table(names)])},
        final=True,
        approved_by=["Ada Lovelace", "Grace Hopper"],
        approved_utc=contest.clock.now().utc.isoformat(),
    )
    hidden = {names[place] for place in _HIDDEN} | {_INVALID}
    before = [
        ResultEntry(team=entry.team) if entry.team in hidden else entry for entry in results.entries
    ]
    return results, replace(results, entries=before)


def _guest_table(names: list[str]) -> GuestTable:
    return GuestTable(
        title="A guest of the contest",
        columns=[GuestColumn("rank", "d"), GuestColumn("team"), GuestColumn("points", ".3f")],
        rows=[[1, names[3], 0.812], [2, names[6], 0.644], [3, names[0], 0.5]],
        notes=[f"Highest points: {names[3]}"],
    )
