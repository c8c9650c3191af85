# SPDX-License-Identifier: Apache-2.0
"""The rule of what the public may see: a pure function of the stored facts and the freeze.

The page, its charts, the pages of the teams and the feed all show a publication, and nothing else.
While the scoreboard is frozen, the publication is the one that was stored with the freeze. So
nothing can leak, whatever happens in hidden sessions, and a restart shows the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from referee.core.turns import Turn
from referee.service.event.results_table import Row, table_rows
from referee.service.scoreboard.facts import Facts
from referee.service.scoreboard.feed_objects import FeedObject, feed_objects
from referee.service.teams.roster_view import lanes_json

View = Mapping[str, Any]
"""What the page shows, ready for JSON."""

_ENTRY_FIELDS = (
    *("rank", "team", "organisation", "session", "mean_ap", "energy_wh", "score", "score_low"),
    *("score_high", "images", "attempts", "void_reasons", "verdict", "emulated"),
    *("normalized_accuracy", "objects_per_s", "withdrawn", "prizes"),
)
_PRINTED = (*("rank", "mean_ap", "energy", "score", "interval", "images", "attempts", "verdict"),)
_BOARD_FIELDS = ("task", "accuracy", "target_ms")
_BOARD_ROW_FIELDS = ("rank", "team", "metric", "accuracy", "latency_ms")
_CONTEST_FIELDS = ("contest", "track", "mode", "seconds", "images", "figures", "champions")


class PublicState(Enum):
    """How certain the results are that the public sees."""

    PROVISIONAL = "PROVISIONAL"
    FROZEN = "FROZEN"
    """A freeze hides what has happened since."""
    FINAL = "FINAL"


@dataclass(frozen=True)
class Publication:
    """All that is public, but for the running sessions: the page's view, and the feed's objects."""

    view: View
    objects: tuple[FeedObject, ...]


def publication_of(facts: Facts) -> Publication:
    """Return what these facts let the public see, at the moment of a freeze or without one."""
    return Publication(_view(facts), feed_objects(facts))


def publication_to_json(publication: Publication) -> dict[str, Any]:
    """Return a publication ready for JSON, as a freeze stores it."""
    return {
        "view": dict(publication.view),
        "objects": [vars(found) for found in publication.objects],
    }


def publication_from_json(stored: Mapping[str, Any]) -> Publication:
    """Return the publication that a freeze has stored."""
    return Publication(stored["view"], tuple(FeedObject(**found) for found in stored["objects"]))


def _view(facts: Facts) -> dict[str, Any]:
    """Return the view.

    An entry's `word` says in a word or two why it has no rank, and `printed` has its figures as the
    results print them. `next` is the team that is next, or None, and `lanes` has who is next in
    each lane, as the console has it.
    `boards` are the leaderboards of guests. `prizes` is empty until the results are final.
    During a freeze nobody is on or next: a session that runs is hidden.
    """
    results, state = facts.results, _state(facts)
    roster = facts.roster
    return {
        **{name: results[name] for name in _CONTEST_FIELDS},
        "state": state.value,
        "since_utc": _since(facts, state),
        "approved_by": results["approved_by"] if state is PublicState.FINAL else [],
        "next": roster.next if state is PublicState.PROVISIONAL else None,
        "lanes": lanes_json(roster) if state is PublicState.PROVISIONAL else [],
        "entries": [
            entry_view(entry, row, state)
            for entry, row in zip(results["entries"], table_rows(results), strict=True)
        ],
        "prizes": results["prizes"] if state is PublicState.FINAL else [],
        "boards": [_board(board) for board in facts.boards],
    }


def _board(board: Mapping[str, Any]) -> dict[str, Any]:
    rows = [{name: row[name] for name in _BOARD_ROW_FIELDS} for row in board["rows"]]
    return {name: board[name] for name in _BOARD_FIELDS} | {"rows": rows}


def _state(facts: Facts) -> PublicState:
    if facts.frozen:
        return PublicState.FROZEN
    return PublicState.FINAL if facts.results["final"] else PublicState.PROVISIONAL


def _since(facts: Facts, state: PublicState) -> str | None:
    if state is PublicState.FROZEN and facts.freezing is not None:
        return facts.freezing.utc
    return facts.results["approved_utc"] if state is PublicState.FINAL else None


def entry_view(entry: Mapping[str, Any], row: Row, state: PublicState) -> dict[str, Any]:
    """Return what the public sees of an entry of the results, which `row` has as printed."""
    kept = {name: entry[name] for name in _ENTRY_FIELDS}
    printed = {name: getattr(row, name) for name in _PRINTED}
    reviewed = entry["review"] is not None
    if entry["verdict"] is None:
        # A count that grows belongs to the running sessions, and a freeze would keep it.
        kept["images"], printed["images"] = None, "–"
    return kept | {"reviewed": reviewed, "word": _word(entry, state), "printed": printed}


def _word(entry: Mapping[str, Any], state: PublicState) -> str:
    """Return why an entry has no rank, or ''; a score of 0 has a rank."""
    if entry["withdrawn"]:
        return "withdrawn"
    if entry["rank"] is not None:
        return ""
    if entry["turn"] == Turn.MODELS.value:
        return "models only"
    if entry["turn"] == Turn.ON.value and state is not PublicState.FROZEN:
        return "on now"
    if entry["verdict"] == "INVALID":
        return "no valid energy"
    if entry["session"] is not None and entry["verdict"] is None:
        return "no result yet"
    if entry["session"] is None and entry["void_reasons"]:
        return "runs again"
    return "no result yet" if entry["session"] is not None else "has not run yet"
