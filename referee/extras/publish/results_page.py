# SPDX-License-Identifier: Apache-2.0
"""The page of a site without a script: results, rules, and how anybody checks and cites them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from referee.core.conditions import UNKNOWN, Conditions, usual_conditions
from referee.core.dates import moment_text
from referee.core.text_cells import isolated
from referee.core.turns import SESSION_RULE
from referee.service.event.charts import AGAINST_ENERGY, AGAINST_SPEED
from referee.service.event.columns import On, about_line, printed_entries, shown_columns
from referee.service.event.marks import marks_of
from referee.service.event.results_table import champion_line, final_line, prize_line
from referee.service.event.standings import TIE_RULE
from referee.service.scoreboard.feed_objects import FeedObject
from referee.service.scoreboard.view import PublicState, PublicView, ShownEntry
from referee.service.setup.pages import page

_TITLES = {"energy": AGAINST_ENERGY, "speed": AGAINST_SPEED}
_CONDITIONS = {
    "track": "track",
    "length_s": "length of a session in seconds",
    "meter": "meter",
    "mode": "mode of the meter",
    "shuffle": "images in an order of each session's own",
    "dwell_ms": "milliseconds for which an image is shown",
    "ground_truth": "ground truth, SHA-256",
    "sizes": "sizes of the images, SHA-256",
    "blacklist": "blacklist, SHA-256",
    "rules": "rules of the score",
}


@dataclass(frozen=True)
class Beside:
    """What stands beside the results: paths in the site, and the organisers' words.

    `bundles` has the path of each team's bundle that the site offers, and `teams` that of each
    team's page.
    """

    charts: Mapping[str, str]
    teams: Mapping[str, str]
    bundles: Mapping[str, str]
    station: str | None
    licence: str
    citation: str


def state_text(view: PublicView) -> str:
    """Return in a sentence how certain the results are."""
    if view.state is PublicState.FINAL:
        return final_line(view.approved_by, view.since_utc or "")
    if view.state is PublicState.FROZEN:
        since = "" if view.since_utc is None else moment_text(view.since_utc)
        return f"FROZEN since {since}: what happens now is shown later."
    return "PROVISIONAL: the results may still change."


def citation_of(view: PublicView, station: str | None, words: str) -> str:
    """Return how to cite the results: the organisers' words, or what identifies them."""
    if words:
        return words
    key = "" if station is None else f" Public key {station[:16]}."
    return f"{isolated(view.contest)}: results of the track {view.track}, {state_text(view)}{key}"


def results_page(view: PublicView, objects: Iterable[FeedObject], beside: Beside) -> str:
    """Return the page."""
    columns = shown_columns(On.PAGE, view.figures, view.entries)
    rows = zip(view.entries, printed_entries(view.entries), strict=True)
    return page(
        "extras/publish/results.html",
        title=view.contest,
        final=view.state is PublicState.FINAL,
        state=state_text(view),
        columns=columns,
        rows=[
            {
                "printed": cells,
                "below": {"team": [text for text in _small_print(entry) if text]},
                "first": entry.rank == 1,
                "page": beside.teams.get(entry.team, ""),
            }
            for entry, cells in rows
        ],
        about=about_line(view.entries),
        charts=[(_TITLES[name], path) for name, path in beside.charts.items()],
        prizes=[prize_line(prize, view.entries) for prize in view.prizes],
        champions=[champion_line(champion) for champion in view.champions],
        boards=view.boards,
        column_words=[f"{column.head}: {column.words}" for column in columns],
        rules=[SESSION_RULE, TIE_RULE],
        conditions=_conditions(objects),
        beside=beside,
        citation=citation_of(view, beside.station, beside.citation),
    )


def _small_print(entry: ShownEntry) -> Sequence[str]:
    void = f"void: {'; '.join(entry.void_reasons)}" if entry.void_reasons else ""
    prizes = "" if entry.prizes else "declines prizes"
    return [entry.organisation, entry.word, "; ".join(marks_of(entry)), void, prizes]


def _conditions(objects: Iterable[FeedObject]) -> list[tuple[str, str]]:
    """Return how most sessions were run and scored, as the feed tells it of each."""
    known = [field.name for field in fields(Conditions)]
    told = {
        int(str(one.id)): Conditions(**{name: found.get(name, UNKNOWN) for name in known})
        for one in objects
        if one.type == "judgements" and one.data and (found := one.data.get("conditions"))
        if isinstance(found, dict)
    }
    usual = usual_conditions(told)
    if usual is None:
        return []
    values = asdict(usual)
    return [
        (words, _told(values[name]))
        for name, words in _CONDITIONS.items()
        if values[name] not in (None, UNKNOWN)
    ]


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
