# SPDX-License-Identifier: Apache-2.0
"""The teams of all stations with the session that counts, from feeds and from copied bundles.

A row belongs to a station's key and a session. Two teams of the same name at two stations are two
rows: nothing says that they are the same people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from referee.extras.stations.bundles import BundleSession
from referee.extras.stations.follower import Followed
from referee.extras.stations.notification import (
    JudgementData,
    OrganizationData,
    ProblemData,
    StateData,
    SubmissionData,
    TeamData,
    moment_of,
    seconds_of,
)
from referee.extras.stations.station_state import StationState

_KEY_SHOWN = 8


@dataclass(frozen=True)
class JointSession:
    """A session that a team has started and that is not void.

    `begun` is when, in ISO 8601, and `file` that of its bundle, '' where the feed told it.
    """

    session: int
    judgement: JudgementData | None
    running: bool = False
    begun: str = field(default="", compare=False)
    file: str = field(default="", compare=False)


@dataclass(frozen=True)
class JointTeam:
    """A team of a station with its sessions, the oldest first."""

    name: str
    organisation: str = ""
    withdrawn: bool = False
    played: tuple[JointSession, ...] = ()


@dataclass(frozen=True)
class Station:
    """A station's part of the ranking.

    `key` names the station's event: by its signing key, else by its address or folder. `fault`
    says why it has no part, or ''. `length_s` is the length of its sessions, or None.
    """

    name: str
    key: str
    contest: str = ""
    state: StateData = field(default_factory=StateData)
    length_s: float | None = None
    teams: tuple[JointTeam, ...] = ()
    fault: str = ""

    @property
    def is_frozen(self) -> bool:
        """Tell whether a freeze hides what happens at the station."""
        return self.state.frozen is not None and self.state.thawed is None


def joint_stations(
    followed: Sequence[Followed], bundles: Sequence[BundleSession], track: str
) -> list[Station]:
    """Return the stations in their order: those that are followed, then those of bundles alone."""
    by_station: dict[str, list[BundleSession]] = defaultdict(list)
    for copied in bundles:
        by_station[copied.station or f"folder {copied.place}"].append(copied)
    stations: dict[str, Station] = {}
    refused = []
    for one in followed:
        known = one.saved.known
        key = (known.contest and known.contest.station) or one.address.url
        if key in stations:
            fault = f"it has the same key as '{stations[key].name}': one of them is a copy"
            refused.append(Station(one.address.name, key, fault=fault))
            continue
        stations[key] = _followed(one, key, by_station.pop(key, []), track)
    alone = [_from_bundles(key, by_station[key]) for key in sorted(by_station)]
    return [*stations.values(), *refused, *alone]


def _followed(one: Followed, key: str, bundles: Sequence[BundleSession], track: str) -> Station:
    known, name = one.saved.known, one.address.name
    if known.contest is None:
        return Station(name, key)
    tracks = sorted(known.of_kind("problems", ProblemData))
    if tracks != [track]:
        runs = " and ".join(tracks) or "no track"
        return Station(name, key, fault=f"it runs {runs}, and this board ranks {track}")
    teams = _with_bundles(known, list(_teams(known)), [] if known.is_frozen else bundles)
    length_s = seconds_of(known.contest.session_length or known.contest.duration)
    return Station(name, key, known.contest.name, known.state, length_s, tuple(teams))


def _teams(known: StationState) -> Iterator[JointTeam]:
    """Yield the teams of a feed, by their ids, then sessions whose team is not known."""
    sessions: dict[str | None, list[JointSession]] = defaultdict(list)
    judgements = known.of_kind("judgements", JudgementData)
    for own, submission in known.of_kind("submissions", SubmissionData).items():
        if own.isdecimal():
            judgement = judgements.get(own)
            sessions[submission.team_id].append(
                JointSession(
                    int(own),
                    judgement,
                    submission.end_time is None,
                    begun=submission.time,
                )
            )
    organisations = known.of_kind("organizations", OrganizationData)
    teams = known.of_kind("teams", TeamData)
    for own in sorted(teams, key=lambda group: (len(group), group)):
        team, organisation = teams[own], organisations.get(own)
        if not team.hidden:
            yield JointTeam(
                team.name,
                "" if organisation is None else organisation.name,
                team.withdrawn,
                _in_order(sessions.get(own, [])),
            )
    lost = [one for own, of_team in sessions.items() if own not in teams for one in of_team]
    for one in _in_order(lost):
        yield JointTeam(f"session {one.session}", played=(one,))


def _with_bundles(
    known: StationState, teams: list[JointTeam], bundles: Sequence[BundleSession]
) -> list[JointTeam]:
    """Return the teams with what bundles know of sessions that the feed lacks.

    The feed has the last word: a session that it has removed stays away. A session without a
    result gets that of its bundle, for example where the laptop broke before it could tell.
    """
    judged = {one.session for team in teams for one in team.played if _is_judged(one)}
    for one in bundles:
        number = str(one.session)
        removed = known.knows("submissions", number) and not any(
            played.session == one.session for team in teams for played in team.played
        )
        if removed or one.session in judged:
            continue
        teams = _put(teams, one)
    return teams


def _is_judged(played: JointSession) -> bool:
    return played.judgement is not None and played.judgement.judgement_type_id is not None


def _put(teams: list[JointTeam], one: BundleSession) -> list[JointTeam]:
    """Return the teams with the session of a bundle in the place of what was known of it."""
    rest = [
        replace(
            team, played=tuple(played for played in team.played if played.session != one.session)
        )
        for team in teams
    ]
    return _added(rest, one)


def _added(rest: list[JointTeam], one: BundleSession) -> list[JointTeam]:
    """Return the teams with the session of a bundle, unless it is void."""
    if one.void:
        return rest
    mine = next((team for team in rest if team.name == one.team), None)
    if mine is None:
        mine = JointTeam(one.team)
        rest = [*rest, mine]
    session = JointSession(
        one.session,
        one.judgement,
        begun=one.begun_utc,
        file=one.file,
    )
    played = _in_order([*mine.played, session])
    return [replace(team, played=played) if team is mine else team for team in rest]


def _from_bundles(key: str, bundles: Sequence[BundleSession]) -> Station:
    teams: list[JointTeam] = []
    for one in bundles:
        teams = _added(teams, one)
    lengths = {one.length_s for one in bundles}
    places = sorted({one.place for one in bundles})
    name = next((place for place in places if place), key[:_KEY_SHOWN])
    return Station(
        name, key, "copied bundles", StateData(), min(lengths), tuple(sorted(teams, key=_name_of))
    )


def _name_of(team: JointTeam) -> str:
    return team.name


def _in_order(played: Sequence[JointSession]) -> tuple[JointSession, ...]:
    return tuple(sorted(played, key=lambda one: one.session))


def earliest_freeze(stations: Sequence[Station]) -> str | None:
    """Return when the first freeze began that still stands, or None."""
    moments = [one.state.frozen for one in stations if one.is_frozen and one.state.frozen]
    return min(moments, key=moment_of, default=None)
