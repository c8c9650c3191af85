# SPDX-License-Identifier: Apache-2.0
"""The joint board as the public sees it: a pure function of what is known of the stations.

It has the form of a single scoreboard's view, so the same page shows it. What depends on the time
of reading, such as the silence of a station, is no part of it: boards that know the same give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from referee.core.turns import Turn
from referee.extras.stations.joint_rows import JointTeam, Station, earliest_freeze
from referee.extras.stations.notification import JudgementData
from referee.service.event.results_table import table_rows
from referee.service.scoreboard.view import PublicState, entry_view
from referee.tracks.track import Track

_NOTHING = JudgementData(None, None)


def joint_view(title: str, track: Track[Any], stations: Sequence[Station]) -> dict[str, Any]:
    """Return the view, ready for JSON.

    `entries` has every team of every station, the best first; teams without a rank follow in the
    order of the stations. `station` and `station_key` say whose it is. `stations` has the stations;
    `fault` says why one takes no part, and `remark` what makes its scores differ.
    """
    state = _state(stations)
    entries = _ranked(track, stations)
    rows = table_rows({"entries": entries})
    own = ("station", "station_key")
    return {
        "contest": title,
        "track": track.name,
        "mode": "event",
        "seconds": _common(stations),
        "images": None,
        "figures": {"accuracy": asdict(track.accuracy), "score": asdict(track.score)},
        "champions": [
            {"year": year, "mean_ap": it.accuracy, "energy_wh": it.energy_wh, "score": it.score}
            for year, it in sorted(track.champions.items())
        ],
        "state": state.value,
        "since_utc": earliest_freeze(stations) if state is PublicState.FROZEN else None,
        "approved_by": ["every station"] if state is PublicState.FINAL else [],
        "next": None,
        "lanes": [],
        "entries": [
            entry_view(entry, row, state) | {name: entry[name] for name in own}
            for entry, row in zip(entries, rows, strict=True)
        ],
        "prizes": [],
        "boards": [],
        "stations": [_station(one, stations) for one in stations],
    }


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


def _ranked(track: Track[Any], stations: Sequence[Station]) -> list[dict[str, Any]]:
    """Return the entries by rank, as the results have them."""
    entries = [_entry(team, station) for station in stations for team in station.teams]
    reports = [{} if entry["withdrawn"] else _report(track, entry) for entry in entries]
    for entry, place in zip(entries, track.ranking.places(reports), strict=True):
        entry["rank"] = place
    last = len(entries) + 1
    return sorted(entries, key=lambda it: last if it["rank"] is None else int(it["rank"]))


def _report(track: Track[Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that may decide the places."""
    return {
        "normalized_accuracy": entry["normalized_accuracy"],
        track.accuracy.field: entry["mean_ap"],
        track.score.field: entry["score"],
    }


def _entry(team: JointTeam, station: Station) -> dict[str, Any]:
    """Return a team as an entry of results, without its rank; its newest session counts."""
    newest = team.played[-1] if team.played else None
    told = (None if newest is None else newest.judgement) or _NOTHING
    turn = Turn.WAITING if newest is None else Turn.ON if newest.running else Turn.RAN
    return {
        "rank": None,
        "team": team.name,
        "organisation": team.organisation,
        "station": station.name,
        "station_key": station.key,
        "session": None if newest is None else newest.session,
        "mean_ap": told.mean_ap,
        "energy_wh": told.energy_wh,
        "score": told.score,
        "score_low": told.score_low,
        "score_high": told.score_high,
        "images": told.images,
        "attempts": len(team.played),
        "void_reasons": [],
        "verdict": told.judgement_type_id,
        "reasons": [],
        "review": None,
        "emulated": told.emulated,
        "normalized_accuracy": told.normalized_accuracy,
        "objects_per_s": told.objects_per_s,
        "turn": (Turn.WITHDRAWN if team.withdrawn else turn).value,
        "withdrawn": team.withdrawn,
        "prizes": True,
    }
