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
    for source in followed:
        known = source.saved.known
        key = (known.contest and known.contest.station) or source.address.url
        if key in stations:
            fault = f"it has the same key as '{stations[key].name}': one of them is a copy"
            refused.append(Station(source.address.name, key, fault=fault))
            continue
        stations[key] = _followed(source, key, by_station.pop(key, []), track)
    alone = [_from_bundles(key, by_station[key]) for key in sorted(by_station)]
    return [*stations.values(), *refused, *alone]


def _followed(
    followed: Followed, key: str, bundles: Sequence[BundleSession], track: str
) -> Station:
    known, name = followed.saved.known, followed.address.name
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
    for session_id, submission in known.of_kind("submissions", SubmissionData).items():
        if session_id.isdecimal():
            judgement = judgements.get(session_id)
            sessions[submission.team_id].append(
                JointSession(
                    int(session_id),
                    judgement,
                    submission.end_time is None,
                    begun=submission.time,
                )
            )
    organisations = known.of_kind("organizations", OrganizationData)
    teams = known.of_kind("teams", TeamData)
    for session_id in sorted(teams, key=lambda group: (len(group), group)):
        team, organisation = teams[session_id], organisations.get(session_id)
        if not team.hidden:
            yield JointTeam(
                team.name,
                "" if organisation is None else organisation.name,
                team.withdrawn,
                _in_order(sessions.get(session_id, [])),
            )
    lost = [
        session
        for session_id, of_team in sessions.items()
        if session_id not in teams
        for session in of_team
    ]
    for session in _in_order(lost):
        yield JointTeam(f"session {session.session}", played=(session,))


def _with_bundles(
    known: StationState, teams: list[JointTeam], bundles: Sequence[BundleSession]
) -> list[JointTeam]:
    """Return the teams with what bundles know of sessions that the feed lacks.

    The feed has the last word: a session that it has removed stays away. A session without a
    result gets that of its bundle, for example where the laptop broke before it could tell.
    """
    judged = {bundle.session for team in teams for bundle in team.played if _is_judged(bundle)}
    for bundle in bundles:
        number = str(bundle.session)
        removed = known.knows("submissions", number) and not any(
            played.session == bundle.session for team in teams for played in team.played
        )
        if removed or bundle.session in judged:
            continue
        teams = _put(teams, bundle)
    return teams


def _is_judged(played: JointSession) -> bool:
    return played.judgement is not None and played.judgement.judgement_type_id is not None


def _put(teams: list[JointTeam], bundle: BundleSession) -> list[JointTeam]:
    """Return the teams with the session of a bundle in the place of what was known of it."""
    rest = [
        replace(
            team, played=tuple(played for played in team.played if played.session != bundle.session)
        )
        for team in teams
    ]
    return _added(rest, bundle)


def _added(rest: list[JointTeam], bundle: BundleSession) -> list[JointTeam]:
    """Return the teams with the session of a bundle, unless it is void."""
    if bundle.void:
        return rest
    mine = next((team for team in rest if team.name == bundle.team), None)
    if mine is None:
        mine = JointTeam(bundle.team)
        rest = [*rest, mine]
    session = JointSession(
        bundle.session,
        bundle.judgement,
        begun=bundle.begun_utc,
        file=bundle.file,
    )
    played = _in_order([*mine.played, session])
    return [replace(team, played=played) if team is mine else team for team in rest]


def _from_bundles(key: str, bundles: Sequence[BundleSession]) -> Station:
    teams: list[JointTeam] = []
    for bundle in bundles:
        teams = _added(teams, bundle)
    lengths = {bundle.length_s for bundle in bundles}
    places = sorted({bundle.place for bundle in bundles})
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
