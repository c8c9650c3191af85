# SPDX-License-Identifier: Apache-2.0
"""The ceremony as a list of scenes: final results, and what the audience knows of them before.

A scene is all that the hall sees between two keys. So one key leads on, another back, and no scene
tells more than its own key has revealed. The rows come from the last place to the first, as the
resolver of the ICPC has them. Whoever is revealed stands at its final place. What the audience
knows is not revealed again: a team whose result is known has no key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from referee.core.counts import counted
from referee.core.dates import day_text
from referee.service.event.columns import decimals_apart
from referee.service.event.guest_standings import GuestTable
from referee.service.event.marks import marked_winners, marks_of
from referee.service.event.result_entry import (
    ContestRanking,
    PublicEntry,
    ResultEntry,
    Results,
    WonPrize,
)
from referee.service.event.results_table import guest_tables
from referee.service.results.score_text import score_text

PODIUM = 3
"""The places that stand on the podium; a hidden one is called out before its team is named."""

# `ceremony.css` has room for nine rows, and some names need two lines.
_ROWS_MOST = 8
_GUEST_ROWS = 3
_DECIMALS_LEAST = 3
_NONE = "–"

LineState = Literal["open", "settled", "fresh"]
Kind = Literal["title", "ranking", "card", "podium", "prize", "guest", "end"]


class Line(Struct, frozen=True):
    """A row of the ranking: its place so far, its team, and its figures as the hall reads them.

    A `settled` place is final. A `fresh` one is that which the last key has settled. `marks` are
    those of the score, as every surface has them.
    """

    place: str
    team: str
    organisation: str
    figures: Sequence[str]
    state: LineState = "open"
    marks: Sequence[str] = ()


class Scene(Struct, frozen=True, kw_only=True):
    """What the hall sees between two keys.

    `hidden` are the teams whose results are still to come, in the order in which they ran. `lines`
    of a card or a podium are their winners. `winners` are those of a prize. `head` and `rows` are
    the table of a guest. `picture` is the session of the best detection that a card shows.
    """

    kind: Kind
    title: str
    text: str = ""
    lines: Sequence[Line] = ()
    hidden: Sequence[str] = ()
    winners: Sequence[str] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    picture: int | None = None


def scenes_of(
    results: Results, before: ContestRanking | None, pictured: Collection[str] = ()
) -> list[Scene]:
    """Return the scenes of final results.

    `before` is what the audience has seen; None where it saw nothing, which hides every result.
    `pictured` are the teams whose best detection may be shown.
    """
    ceremony = _Ceremony(results, before, pictured)
    return [*ceremony.scenes()]


class _Ceremony:
    """The results, and what of them has been revealed so far."""

    def __init__(
        self, results: Results, before: ContestRanking | None, pictured: Collection[str]
    ) -> None:
        self._results, self._pictured = results, pictured
        self._ranked = [entry for entry in results.entries if entry.rank is not None]
        known = {} if before is None else {entry.team: entry for entry in before.entries}
        hidden = [entry for entry in results.entries if _differs(entry, known.get(entry.team))]
        # The order of the results would tell who is last.
        self._hidden = [
            entry.team
            for entry in sorted(hidden, key=lambda entry: (entry.session or 0, entry.team))
        ]
        self._settled = last_place(self._ranked) + 1
        self._decimals = [
            decimals_apart(
                [value for entry in self._ranked if (value := read(entry)) is not None],
                _DECIMALS_LEAST,
            )
            for read in _FIGURES
        ]

    def scenes(self) -> Iterator[Scene]:
        """Yield the scenes in their order."""
        results, count = self._results, len(self._hidden)
        yield Scene(kind="title", title=results.contest, text=_counted(count))
        yield self._ranking("The ranking so far" if count else "The ranking")
        for entry in [entry for entry in results.entries if entry.rank is None]:
            if entry.team in self._hidden:
                yield self._revealed(entry, "Without a place")
        for place, group in groupby(reversed(self._ranked), lambda entry: entry.rank or 0):
            yield from self._place(
                place, sorted(group, key=lambda entry: (entry.session or 0, entry.team))
            )
        yield from self._honours()

    def _place(self, place: int, entries: Sequence[ResultEntry]) -> Iterator[Scene]:
        """Yield the scenes of one place: a key for each team whose result is hidden."""
        title = f"Place {place}"
        hidden = [entry for entry in entries if entry.team in self._hidden]
        if hidden and place <= PODIUM:
            yield self._ranking(title)
        self._settled = place
        for entry in hidden:
            yield self._revealed(entry, title)
        if place == 1:
            for entry in entries:
                picture = entry.session if entry.team in self._pictured else None
                line = self._line(entry, "fresh")
                yield Scene(kind="card", title="The winner", lines=[line], picture=picture)

    def _honours(self) -> Iterator[Scene]:
        """Yield what follows the ranking: podium, prizes, guests, and the ranking as it is."""
        best = [entry for entry in self._ranked if (entry.rank or 0) <= PODIUM]
        if best:
            lines = [self._line(entry, "settled") for entry in best]
            yield Scene(kind="podium", title="The podium", lines=lines)
        for prize in self._results.prizes:
            yield from _prize(prize, self._results.entries)
        for table in guest_tables(self._results):
            yield from _guest(table)
        names = " and ".join(self._results.approved_by)
        day = day_text(self._results.approved_utc or "")
        text = f"Approved by {names} on {day}." if names else ""
        yield from _end(self._ranking("The final ranking"), text)

    def _revealed(self, entry: ResultEntry, title: str) -> Scene:
        """Return the scene in which a team gets its place."""
        self._hidden.remove(entry.team)
        return self._ranking(title, entry.team)

    def _ranking(self, title: str, fresh: str = "") -> Scene:
        """Return the ranking of what has been revealed."""
        shown = [entry for entry in self._results.entries if entry.team not in self._hidden]
        ranked = [entry.rank for entry in shown if entry.rank is not None]
        lines = []
        for entry in shown:
            place = entry.rank
            settled = not self._hidden or place is None or place >= self._settled
            if place is not None and not settled:
                # Its place among those that are shown: the others may still come before it.
                place = 1 + sum(other < place for other in ranked)
            state: LineState = "settled" if settled else "open"
            line = self._line(entry, "fresh" if entry.team == fresh else state)
            lines.append(replace(line, place=_NONE if place is None else str(place)))
        return Scene(kind="ranking", title=title, lines=lines, hidden=[*self._hidden])

    def _line(self, entry: ResultEntry, state: LineState) -> Line:
        if entry.rank is None:
            figures = [_why(entry)]
        else:
            figures = [
                _NONE if (value := read(entry)) is None else f"{value:.{decimals}f}"
                for read, decimals in zip(_FIGURES, self._decimals, strict=True)
            ] + [score_text(entry.score, (entry.score_low, entry.score_high))]
        place = _NONE if entry.rank is None else str(entry.rank)
        return Line(place, entry.team, entry.organisation, figures, state, marks_of(entry))


_FIGURES: tuple[Callable[[PublicEntry], float | None], ...] = (
    lambda entry: entry.mean_ap,
    lambda entry: entry.energy_wh,
)


def heads_of(results: Results) -> list[str]:
    """Return what stands above the figures of a line."""
    return [results.figures.accuracy.label, "Wh", results.figures.score.label]


def last_place(entries: Sequence[PublicEntry]) -> int:
    """Return the last place that somebody has, or 0."""
    return max((entry.rank or 0 for entry in entries), default=0)


def _differs(entry: ResultEntry, known: PublicEntry | None) -> bool:
    """Tell whether an entry says more than the audience knows; a place alone is nothing new."""
    if known is None:
        # Nobody has to be called to be told that he did not run.
        known = PublicEntry(team=entry.team, withdrawn=entry.withdrawn)
    return any(
        getattr(entry, name) != getattr(known, name)
        for name in ("session", "mean_ap", "energy_wh", "score", "verdict", "withdrawn")
    )


def _counted(count: int) -> str:
    if not count:
        return "The audience knows every result."
    return f"{counted(count, 'result is', 'results are')} hidden."


def _why(entry: ResultEntry) -> str:
    """Return why a team has no place."""
    if entry.withdrawn:
        return "withdrawn"
    if entry.turn == "models only":
        return "models only"
    return "no valid energy" if entry.verdict == "INVALID" else "no result"


def _end(whole: Scene, text: str) -> Iterator[Scene]:
    """Yield the final ranking in parts that a hall can read, the last places first."""
    lines = whole.lines
    parts = max(1, -(-len(lines) // _ROWS_MOST))
    starts = [len(lines) * part // parts for part in range(parts + 1)]
    for start, stop in reversed([*pairwise(starts)][1:]):
        place = lines[start].place
        title = "Without a place" if place == _NONE else f"The final ranking from place {place}"
        yield replace(whole, kind="end", title=title, lines=lines[start:stop])
    yield replace(whole, kind="end", text=text, lines=lines[: starts[1]])


def _prize(prize: WonPrize, entries: Sequence[PublicEntry]) -> Iterator[Scene]:
    """Yield a prize with its rule, and then with its winners."""
    limit = "" if prize.limit is None else f" ({prize.limit:.4g})"
    title = prize.prize[:1].upper() + prize.prize[1:]
    called = Scene(kind="prize", title=title, text=f"{prize.rule}{limit}" if prize.rule else "")
    yield called
    yield replace(called, winners=marked_winners(prize, entries) or ["nobody"])


def _guest(table: GuestTable) -> Iterator[Scene]:
    """Yield the title of a guest's ranking, and then its best rows with its notes."""
    yield Scene(kind="guest", title=table.title)
    yield Scene(
        kind="guest",
        title=table.title,
        head=table.heads,
        rows=table.printed()[:_GUEST_ROWS],
        text=" ".join(table.notes),
    )
