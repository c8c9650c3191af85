# SPDX-License-Identifier: Apache-2.0
"""The results of an event as values: ranking, prizes and past champions.

Stored results, freezes and joint boards of earlier versions are read through these types: a field
that they lack has its default here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from referee.core.conditions import Difference
from referee.service.event.figures import Figures
from referee.service.event.guest_standings import GuestStandings
from referee.service.event.open_point import OpenPoint
from referee.store.finals import Review
from referee.tracks.track import Figure


class PublicEntry(Figures, frozen=True, kw_only=True):
    """What everybody may know of a team's place in the ranking, with the session that counts.

    `rank` is None without a score, and for a team that has withdrawn; `session` and `verdict` are
    None for a team without one. `attempts` counts the started sessions, void ones included. On a
    joint board `station` and `station_key` say whose the team is. `differs` is what was not as in
    the other sessions of the ranking.
    """

    team: str
    rank: int | None = None
    organisation: str = ""
    station: str = ""
    station_key: str = ""
    session: int | None = None
    attempts: int = 0
    void_reasons: Sequence[str] = ()
    verdict: str | None = None
    withdrawn: bool = False
    prizes: bool = True
    differs: Sequence[Difference] = ()


class ResultEntry(PublicEntry, frozen=True, kw_only=True):
    """A team's place in the ranking, as operators see it.

    `team_id` is the team's number in the event, as in the feed; results that were approved before
    it was among them have None.
    `intervals` are lines of text. `reasons` are those of the verdict, and `review` says who lets it
    stand. `review_open` is what somebody must review first (see `doubt_of`), '' if nothing is
    open; so are `differs_open` of the differences. `turn` is the value of a `Turn`. `clients` are
    what the programs that logged in to the session call themselves.
    """

    team_id: int | None = None
    intervals: Sequence[str] = ()
    reasons: Sequence[str] = ()
    review: Review | None = None
    review_open: str = ""
    differs_open: Sequence[Difference] = ()
    turn: str = ""
    clients: Sequence[str] = ()


class WonPrize(Struct, frozen=True):
    """A prize with its winners; `limit` is what its rule came to, None without two scores."""

    prize: str
    rule: str
    limit: float | None
    winners: Sequence[str]


class PastChampion(Struct, frozen=True):
    """The winner of a past year, as published."""

    year: int
    mean_ap: float
    energy_wh: float
    score: float


class TrackFigures(Struct, frozen=True):
    """How the track calls its accuracy and its score."""

    accuracy: Figure
    score: Figure


class ContestRanking(Struct, frozen=True, kw_only=True):
    """A ranking with what a page says around it: the results of an event, or a joint board.

    `entries` has every team, the best first. `seconds` and `images` are those of a session; on a
    joint board they are None where stations differ. `prizes` and `champions` are empty in a track
    without them.
    """

    contest: str
    track: str
    mode: str
    seconds: int | float | None
    images: int | None
    figures: TrackFigures
    champions: Sequence[PastChampion] = ()
    approved_by: Sequence[str] = ()
    prizes: Sequence[WonPrize] = ()
    entries: Sequence[PublicEntry] = ()


class Results(ContestRanking, frozen=True, kw_only=True):
    """The results of an event; final ones are exactly those that were approved.

    `points` has what forbids an approval, and `open` the sentences of these points. `utc` is the
    moment at which the results were read.
    `guests` has the standings of each guest by its name.
    """

    final: bool = False
    utc: str = ""
    approved_utc: str | None = None
    session_rule: str = ""
    tie_rule: str = ""
    open: Sequence[str] = ()
    points: Sequence[OpenPoint] = ()
    entries: Sequence[ResultEntry] = ()
    guests: Mapping[str, GuestStandings] = {}
