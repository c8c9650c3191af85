# SPDX-License-Identifier: Apache-2.0
"""The joint board as the public sees it: a pure function of what is known of the stations.

It has the form of a single scoreboard's view, so the same page shows it. What depends on the time
of reading, such as the silence of a station, is no part of it: boards that know the same give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from referee.core.turns import Turn
from referee.extras.stations.joint_rows import JointTeam, Station, earliest_freeze
from referee.service.event.figures import Figures
from referee.service.event.result_entry import ResultEntry, TrackFigures
from referee.service.event.results import past_champions
from referee.service.scoreboard.view import PublicState, PublicView, shown_entry
from referee.tracks.track import Track


def joint_view(title: str, track: Track[Any], stations: Sequence[Station]) -> PublicView:
    """Return the view.

    `entries` has every team of every station, the best first; teams without a rank follow in the
    order of the stations. `stations` has the stations; `fault` says why one takes no part, and
    `remark` what makes its scores differ.
    """
    state = _state(stations)
    return PublicView(
        contest=title,
        track=track.name,
        mode="event",
        seconds=_common(stations),
        images=None,
        figures=TrackFigures(track.accuracy, track.score),
        champions=past_champions(track),
        state=state,
        since_utc=earliest_freeze(stations) if state is PublicState.FROZEN else None,
        approved_by=["every station"] if state is PublicState.FINAL else [],
        entries=[shown_entry(entry, state) for entry in _ranked(track, stations)],
        stations=[_station(one, stations) for one in stations],
    )


def _state(stations: Sequence[Station]) -> PublicState:
    """Return the least certain state of the stations that take part."""
    part = [one for one in stations if one.contest and not one.fault]
    if any(one.is_frozen for one in part):
        return PublicState.FROZEN
    final = part and all(one.state.finalized is not None for one in part)
    return PublicState.FINAL if final and len(part) == len(stations) else PublicState.PROVISIONAL


def _common(stations: Sequence[Station]) -> float | None:
    """Return the length that all sessions have, or None if stations differ."""
    lengths = {one.length_s for one in stations if one.length_s is not None}
    return min(lengths) if len(lengths) == 1 else None


def _station(one: Station, stations: Sequence[Station]) -> dict[str, Any]:
    lengths = [it.length_s for it in stations if it.length_s is not None and not it.fault]
    usual = max(set(lengths), key=lambda it: (lengths.count(it), it), default=None)
    remark = ""
    if one.length_s is not None and one.length_s != usual:
        remark = f"its sessions last {one.length_s:g} s, those of others {usual:g} s"
    return {
        "name": one.name,
        "key": one.key,
        "contest": one.contest,
        "frozen": one.is_frozen,
        "final": one.state.finalized is not None,
        "fault": one.fault,
        "remark": remark,
    }


def _ranked(track: Track[Any], stations: Sequence[Station]) -> list[ResultEntry]:
    """Return the entries by rank, as the results have them."""
    entries = [_entry(team, station) for station in stations for team in station.teams]
    reports = [{} if entry.withdrawn else _report(track, entry) for entry in entries]
    places = track.ranking.places(reports)
    ranked = [replace(entry, rank=place) for entry, place in zip(entries, places, strict=True)]
    last = len(entries) + 1
    return sorted(ranked, key=lambda it: last if it.rank is None else it.rank)


def _report(track: Track[Any], entry: ResultEntry) -> dict[str, Any]:
    """Return the fields that may decide the places."""
    return {
        "normalized_accuracy": entry.normalized_accuracy,
        track.accuracy.field: entry.mean_ap,
        track.score.field: entry.score,
    }


def _entry(team: JointTeam, station: Station) -> ResultEntry:
    """Return a team as an entry of results, without its rank; its newest session counts."""
    newest = team.played[-1] if team.played else None
    judgement = None if newest is None else newest.judgement
    figures = judgement or Figures()
    turn = Turn.WAITING if newest is None else Turn.ON if newest.running else Turn.RAN
    return ResultEntry(
        **figures.values(),
        team=team.name,
        organisation=team.organisation,
        station=station.name,
        station_key=station.key,
        session=None if newest is None else newest.session,
        attempts=len(team.played),
        verdict=None if judgement is None else judgement.judgement_type_id,
        turn=(Turn.WITHDRAWN if team.withdrawn else turn).value,
        withdrawn=team.withdrawn,
    )
