# SPDX-License-Identifier: Apache-2.0
"""The joint board: its view and its stations' standing, as files that its pages read.

The program that follows the stations writes two files, and the server of the pages reads them. So a
slow station delays no page, and a page that dies costs no news.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from referee.core.turns import Turn
from referee.errors import InputError
from referee.extras.stations.bundles import BundleSession
from referee.extras.stations.follower import Followed
from referee.extras.stations.joint_conditions import Marks, marks_of, remarks_of, tells_lengths
from referee.extras.stations.joint_rows import JointTeam, Station, earliest_freeze, joint_stations
from referee.extras.stations.notification import moment_of
from referee.formats.json_text import json_of
from referee.service.event.figures import Figures
from referee.service.event.result_entry import ResultEntry, TrackFigures
from referee.service.event.results import past_champions
from referee.service.scoreboard.live import LiveNews, StationWords
from referee.service.scoreboard.publisher import PublicSnapshot
from referee.service.scoreboard.view import (
    Publication,
    PublicState,
    PublicView,
    ShownStation,
    shown_entry,
    shown_view,
)
from referee.service.setup.clock import Clock
from referee.service.setup.whole_files import replace_file
from referee.tracks.track import Track

VIEW, STANDING = "view.json", "stations.json"
"""The files of a board: what the public sees, and when each station was heard."""

SILENT_S = 10.0
"""A station that was not heard for so long is called silent."""


@dataclass(frozen=True)
class StationStanding:
    """When a station was heard last, in ISO 8601, and what was wrong at the newest look, or ''."""

    name: str
    heard: str | None
    fault: str


def view_text(
    title: str,
    track: Track[Any],
    followed: Sequence[Followed],
    bundles: Sequence[BundleSession],
) -> str:
    """Return the view as JSON; the same knowledge gives the same text."""
    view = joint_view(title, track, joint_stations(followed, bundles, track.name))
    return json_of(shown_view(view))


def standing_text(followed: Sequence[Followed]) -> str:
    """Return the standing of each station as JSON."""
    return json.dumps([asdict(standing_of(one)) for one in followed])


def standing_of(followed: Followed) -> StationStanding:
    """Return the standing of a station."""
    heard = followed.saved.heard
    return StationStanding(
        followed.address.name, None if heard is None else heard.isoformat(), followed.fault
    )


def silence_text(standing: StationStanding, now: datetime) -> str:
    """Return how a station stands, in a few words: 'live', or for how long it is silent and why."""
    silent_s = _silent_s(standing, now)
    if silent_s is None:
        return f"never heard: {standing.fault}"
    silent = f"station silent for {silent_s:.0f} s" if silent_s >= SILENT_S else ""
    return ": ".join(text for text in (silent, standing.fault) if text) or "live"


def is_live(standing: StationStanding, now: datetime) -> bool:
    """Tell whether a station was heard a moment ago, and nothing is wrong with it."""
    silent_s = _silent_s(standing, now)
    return silent_s is not None and silent_s < SILENT_S and not standing.fault


def _silent_s(standing: StationStanding, now: datetime) -> float | None:
    if standing.heard is None:
        return None
    return max(0.0, (now - moment_of(standing.heard)).total_seconds())


def write_text(path: Path, text: str) -> None:
    """Write a file of the board, whole or not at all; its pages need no secret."""
    replace_file(path, text.encode(), 0o600)


class BoardFiles:
    """The reader of a board's files, for the scoreboard's pages; see `Publisher`."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder, self._clock = folder, clock
        self._seen: tuple[int, int] | None = None
        self._snapshot: PublicSnapshot | None = None

    def refresh(self) -> PublicSnapshot:
        """Return the newest snapshot; raise OSError or ValueError if the files cannot be read."""
        path = self._folder / VIEW
        at = path.stat()
        mark = (at.st_ino, at.st_mtime_ns)
        old = self._snapshot
        if old is None or mark != self._seen:
            view = msgspec.json.decode(path.read_bytes(), type=PublicView)
            text = json_of(shown_view(view))
            key = sha256(text.encode()).hexdigest()[:16]
            old = PublicSnapshot(0, key, text, "", Publication(view, ()), {})
            self._seen = mark
        self._snapshot = PublicSnapshot(0, old.key, old.view, self._live(), old.publication, {})
        return self._snapshot

    def _live(self) -> str:
        standings = [
            StationStanding(**fields)
            for fields in json.loads((self._folder / STANDING).read_text(encoding="utf-8"))
        ]
        now = self._clock.now().utc
        rows = [
            StationWords(
                name=standing.name, text=silence_text(standing, now), live=is_live(standing, now)
            )
            for standing in standings
        ]
        return json_of(LiveNews(frozen=False, stations=rows))


def read_board(folder: Path, clock: Clock) -> PublicSnapshot:
    """Return what a board has written last; raise `InputError` if there is none."""
    try:
        return BoardFiles(folder, clock).refresh()
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} has no board ({error}). Give --follow or --bundles.") from None


def joint_view(title: str, track: Track[Any], stations: Sequence[Station]) -> PublicView:
    """Return the view.

    `entries` has every team of every station, the best first; teams without a rank follow in the
    order of the stations.
    """
    state = _state(stations)
    marks = marks_of(stations)
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
        entries=[shown_entry(entry, state) for entry in _ranked(track, stations, marks)],
        stations=[_station(one, stations, marks) for one in stations],
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


def _station(shown: Station, stations: Sequence[Station], marks: Marks) -> ShownStation:
    lengths = [
        station.length_s
        for station in stations
        if station.length_s is not None and not station.fault
    ]
    usual = max(
        set(lengths), key=lambda length_s: (lengths.count(length_s), length_s), default=None
    )
    remarks = remarks_of(shown, marks)
    if shown.length_s is not None and shown.length_s != usual and not tells_lengths(shown):
        remarks.insert(0, f"its sessions last {shown.length_s:g} s, those of others {usual:g} s")
    return ShownStation(
        name=shown.name,
        key=shown.key,
        contest=shown.contest,
        frozen=shown.is_frozen,
        final=shown.state.finalized is not None,
        fault=shown.fault,
        remark="; ".join(remarks),
    )


def _ranked(track: Track[Any], stations: Sequence[Station], marks: Marks) -> list[ResultEntry]:
    """Return the entries by rank, as the results have them."""
    entries = [_entry(team, station, marks) for station in stations for team in station.teams]
    reports = [{} if entry.withdrawn else _report(track, entry) for entry in entries]
    places = track.ranking.places(reports)
    ranked = [replace(entry, rank=place) for entry, place in zip(entries, places, strict=True)]
    last = len(entries) + 1
    return sorted(ranked, key=lambda team: last if team.rank is None else team.rank)


def _report(track: Track[Any], entry: ResultEntry) -> dict[str, object]:
    """Return the fields that may decide the places."""
    return {
        "normalized_accuracy": entry.normalized_accuracy,
        "energy_wh": entry.energy_wh,
        track.accuracy.field: entry.mean_ap,
        track.score.field: entry.score,
    }


def _entry(team: JointTeam, station: Station, marks: Marks) -> ResultEntry:
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
        differs=list(marks.get((station.key, team.name), ())),
    )
