# SPDX-License-Identifier: Apache-2.0
"""The rule of what the public may see: a pure function of the stored facts and the freeze.

The page, its charts, the pages of the teams and the feed all show a publication, and nothing else.
While the scoreboard is frozen, the publication is the one that was stored with the freeze. So
nothing can leak, whatever happens in hidden sessions, and a restart shows the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from referee.core.turns import Turn
from referee.service.event.columns import (
    On,
    ShownColumn,
    champion_entry,
    printed_champion,
    printed_entries,
    short_cells,
    shown_columns,
)
from referee.service.event.marks import marked_winners, marks_of
from referee.service.event.result_entry import (
    ContestRanking,
    PastChampion,
    PublicEntry,
    ResultEntry,
    WonPrize,
)
from referee.service.scoreboard.facts import Facts
from referee.service.scoreboard.feed_objects import FeedObject, feed_objects
from referee.service.setup.extra import Leaderboard, SessionLink
from referee.service.teams.roster_view import NextInLane, next_in_lanes


class PublicState(Enum):
    """How certain the results are that the public sees."""

    PROVISIONAL = "PROVISIONAL"
    FROZEN = "FROZEN"
    """A freeze hides what has happened since."""
    FINAL = "FINAL"


class ShownEntry(PublicEntry, frozen=True, kw_only=True):
    """What the public sees of an entry; `word` says in a word or two why it has no rank.

    `newest` marks the team of the newest result. `moved` counts the places that a team has gained
    by that result, and is negative for those it has lost; None if it had no rank before. `clients`
    are told with the final results.
    """

    reviewed: bool = False
    word: str = ""
    newest: bool = False
    moved: int | None = None
    clients: Sequence[str] = ()


class ShownStation(Struct, frozen=True, kw_only=True):
    """A station of a joint board.

    `fault` says why it takes no part, and `remark` what makes its scores differ. A board that an
    earlier version wrote may lack some of it.
    """

    name: str = ""
    key: str = ""
    contest: str = ""
    frozen: bool = False
    final: bool = False
    fault: str = ""
    remark: str = ""


class PublicView(ContestRanking, frozen=True, kw_only=True):
    """What the page shows.

    `next` is the team that is next, or None, and `lanes` has who is next in each lane, as the
    console has it. `boards` are the leaderboards of guests. `stations` are those of a joint
    board, else None. `since_utc` is the moment of the freeze or of the approval.
    """

    state: PublicState = PublicState.PROVISIONAL
    since_utc: str | None = None
    next: str | None = None
    lanes: Sequence[NextInLane] = ()
    entries: Sequence[ShownEntry] = ()
    boards: Sequence[Leaderboard] = ()
    stations: Sequence[ShownStation] | None = None


@dataclass(frozen=True)
class Publication:
    """All that is public, but for the running sessions: the page's view, and the feed's objects."""

    view: PublicView
    objects: tuple[FeedObject, ...]


def publication_of(facts: Facts) -> Publication:
    """Return what these facts let the public see, at the moment of a freeze or without one."""
    return Publication(_view(facts), feed_objects(facts))


def publication_to_json(publication: Publication) -> dict[str, object]:
    """Return a publication ready for JSON, as a freeze stores it."""
    return {
        "view": msgspec.to_builtins(publication.view),
        "objects": [vars(feed_object) for feed_object in publication.objects],
    }


def publication_from_json(stored: Mapping[str, Any]) -> Publication:
    """Return the publication that a freeze has stored."""
    view = msgspec.convert(stored["view"], PublicView)
    return Publication(
        view, tuple(FeedObject(**stored_object) for stored_object in stored["objects"])
    )


class PrintedEntry(ShownEntry, frozen=True, kw_only=True):
    """An entry with its cells, those of a narrow page too, and its marks in words."""

    printed: Mapping[str, str]
    short: Mapping[str, str]
    marks: Sequence[str]


class PrintedChampion(PastChampion, frozen=True):
    """A past champion with its cells."""

    printed: Mapping[str, str]
    short: Mapping[str, str]


class PrintedPrize(WonPrize, frozen=True):
    """A prize with its winners' names, each with the marks of its entry."""

    marked: Sequence[str]


class ShownView(PublicView, frozen=True, kw_only=True):
    """What the pages get: a view with its columns, and the cells of entries and champions."""

    prizes: Sequence[PrintedPrize]
    champions: Sequence[PrintedChampion]
    entries: Sequence[PrintedEntry]
    columns: Sequence[ShownColumn]
    session_links: Sequence[SessionLink]
    team_columns: Sequence[ShownColumn]


def shown_view(view: PublicView, session_links: Iterable[SessionLink] = ()) -> ShownView:
    """Return a view as the pages get it, with the links that the same server has for a session.

    Cells and columns are made here, so a view that an earlier version stored has this one's.
    """
    printed = zip(view.entries, printed_entries(view.entries), strict=True)
    made = {
        "entries": [
            PrintedEntry(
                **asdict(entry), printed=cells, short=short_cells(entry), marks=marks_of(entry)
            )
            for entry, cells in printed
        ],
        "champions": [_printed(champion) for champion in view.champions],
        "prizes": [
            PrintedPrize(**asdict(prize), marked=marked_winners(prize, view.entries))
            for prize in view.prizes
        ],
        "columns": shown_columns(On.SCOREBOARD, view.figures, view.entries),
        "session_links": list(session_links),
        "team_columns": shown_columns(On.TEAM, view.figures, view.entries),
    }
    return ShownView(**(asdict(view) | made))


def _printed(champion: PastChampion) -> PrintedChampion:
    short = short_cells(champion_entry(champion))
    return PrintedChampion(**asdict(champion), printed=printed_champion(champion), short=short)


def _view(facts: Facts) -> PublicView:
    """Return the view; there are no prizes until the results are final.

    During a freeze nobody is on or next: a session that runs is hidden.
    """
    results, state, roster = facts.results, _state(facts), facts.roster
    is_final, is_open = state is PublicState.FINAL, state is PublicState.PROVISIONAL
    entries = [shown_entry(entry, state) for entry in results.entries]
    ranking = {name: getattr(results, name) for name in ContestRanking.__struct_fields__}
    ranking["entries"] = entries if is_final else with_moves(entries, facts)
    if not is_final:
        ranking |= {"approved_by": [], "prizes": []}
    return PublicView(
        **ranking,
        state=state,
        since_utc=_since(facts, state),
        next=roster.next if is_open else None,
        lanes=next_in_lanes(roster) if is_open else [],
        boards=facts.boards,
    )


def _state(facts: Facts) -> PublicState:
    if facts.frozen:
        return PublicState.FROZEN
    return PublicState.FINAL if facts.results.final else PublicState.PROVISIONAL


def _since(facts: Facts, state: PublicState) -> str | None:
    if state is PublicState.FROZEN and facts.freezing is not None:
        return facts.freezing.utc
    return facts.results.approved_utc if state is PublicState.FINAL else None


def shown_entry(entry: ResultEntry, state: PublicState) -> ShownEntry:
    """Return what the public sees of an entry of the results."""
    fields = {name: getattr(entry, name) for name in PublicEntry.__struct_fields__}
    if entry.verdict is None:
        # A count that grows belongs to the running sessions, and a freeze would keep it.
        fields["images"] = None
    return ShownEntry(
        **fields,
        reviewed=entry.review is not None,
        word=_word(entry, state),
        # Until then it would tell rivals with what a team runs.
        clients=entry.clients if state is PublicState.FINAL else [],
    )


def with_moves(entries: Sequence[ShownEntry], facts: Facts) -> list[ShownEntry]:
    """Return the entries with what the newest result has changed.

    The newest one is that of the session that ended last, of those that count.
    """
    ended = {
        played.session.session_id: played.session.facts.ended.utc
        for played in facts.played
        if played.session.facts.ended is not None
    }
    results = [one.session for one in entries if one.verdict is not None and one.session in ended]
    if not results:
        return list(entries)
    newest = max((number for number in results if number is not None), key=ended.__getitem__)
    before = facts.ranks_without(newest)
    return [
        replace(
            entry,
            newest=entry.session == newest,
            moved=None if old is None or entry.rank is None else old - entry.rank,
        )
        for entry in entries
        for old in [before.get(entry.team)]
    ]


def _word(entry: ResultEntry, state: PublicState) -> str:
    """Return why an entry has no rank, or ''; a score of 0 has a rank."""
    if entry.withdrawn:
        return "withdrawn"
    if entry.rank is not None:
        return ""
    if entry.turn == Turn.MODELS.value:
        return "models only"
    if entry.turn == Turn.ON.value and state is not PublicState.FROZEN:
        return "on now"
    if entry.verdict == "INVALID":
        return "no valid energy"
    if entry.session is not None and entry.verdict is None:
        return "no result yet"
    if entry.session is None and entry.void_reasons:
        return "runs again"
    return "no result yet" if entry.session is not None else "has not run yet"
