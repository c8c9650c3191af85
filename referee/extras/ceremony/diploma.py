# SPDX-License-Identifier: Apache-2.0
"""Diplomas: a page of A4 for each team, to print and to sign.

The QR code holds the hash of the session's bundle, so the paper proves which file is meant. The
template is `diploma.html`, beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.core.dates import day_text
from referee.core.marks import EMULATED
from referee.service.event.columns import On, columns_on, head_of, printed_entries
from referee.service.event.marks import short_marks
from referee.service.event.result_entry import ResultEntry, Results
from referee.service.event.results_table import guest_tables
from referee.service.setup.pages import page
from referee.service.setup.qr_code import qr_svg

_FIGURES = ("mean_ap", "energy_wh", "score")
_NOTHING = "–"
_LONG_NAME, _VERY_LONG_NAME = 24, 48
_GROUP = 8


@dataclass(frozen=True)
class Diploma:
    """What a team's diploma says; `proof` is the text of its QR code, '' without a session.

    `guests` has a line for each ranking of a guest in which the team has a place, as that of its
    models. `figures` has each figure's name and text, `digest` the bundle's hash in groups.
    """

    team: str
    size: str
    organisation: str
    place: str
    prizes: Sequence[str]
    guests: Sequence[str]
    figures: Sequence[tuple[str, str]]
    verdict: str
    session: int | None
    digest: Sequence[str]
    proof: str


def diplomas_page(results: Results, diplomas: Sequence[Diploma], mark: str = "") -> str:
    """Return the page of diplomas of final results; `mark` stands across what is no diploma."""
    return page(
        "extras/ceremony/diploma.html",
        contest=results.contest,
        day=day_text(results.approved_utc or ""),
        approved_by=results.approved_by,
        diplomas=diplomas,
        mark=mark,
        qr=qr_svg,
    )


def diplomas_of(results: Results, digests: Mapping[int, str]) -> list[Diploma]:
    """Return the diploma of each team that takes part, the best first.

    `digests` has the SHA-256 of the bundle of each session that counts.
    """
    heads = {
        column.field: head_of(column, results.figures)
        for column in columns_on(On.PAGE, results.entries)
    }
    ranked = sum(entry.rank is not None for entry in results.entries)
    return [
        _diploma(results, entry, cells, heads, ranked, digests)
        for entry, cells in zip(results.entries, printed_entries(results.entries), strict=True)
        if not entry.withdrawn and (entry.session is not None or _guests(results, entry.team))
    ]


def _diploma(
    results: Results,
    entry: ResultEntry,
    cells: Mapping[str, str],
    heads: Mapping[str, str],
    ranked: int,
    digests: Mapping[int, str],
) -> Diploma:
    digest = "" if entry.session is None else digests.get(entry.session, "")
    figures = [(heads[name], cells[name]) for name in _FIGURES if cells[name] != _NOTHING]
    if cells["interval"] != _NOTHING:
        figures.append((f"{heads['score']}, 95 % interval", cells["interval"]))
    return Diploma(
        team=entry.team,
        size=_size(entry.team),
        organisation=entry.organisation,
        place="took part" if entry.rank is None else _place(entry.rank, ranked),
        prizes=[prize.prize for prize in results.prizes if entry.team in prize.winners],
        guests=_guests(results, entry.team),
        figures=figures,
        verdict=_verdict(entry, cells["differs"]),
        session=entry.session,
        digest=[digest[start : start + _GROUP] for start in range(0, len(digest), _GROUP)],
        proof=f"session{entry.session}.zip sha256 {digest}" if digest else "",
    )


def _guests(results: Results, team: str) -> list[str]:
    tables = [(table.title, table.places()) for table in guest_tables(results)]
    return [
        f"{title}: {_place(places[team], len(places))}"
        for title, places in tables
        if team in places
    ]


def ordinal(number: int) -> str:
    """Return a place as people say it: 1st, 2nd, 3rd, 4th, 11th, 21st."""
    last = 0 if 10 < number % 100 < 14 else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def _place(rank: int, ranked: int) -> str:
    return f"{ordinal(rank)} place of {ranked}" if ranked > 1 else f"{ordinal(rank)} place"


def _size(team: str) -> str:
    if len(team) > _VERY_LONG_NAME:
        return "very-long"
    return "long" if len(team) > _LONG_NAME else "short"


def _verdict(entry: ResultEntry, differs: str) -> str:
    """Return what is to be said of the energy and of the conditions, '' without an energy."""
    if entry.verdict is None:
        return ""
    said = f"Energy {entry.verdict}"
    if EMULATED in short_marks(entry):
        said += f" ({EMULATED} meter)"
    if entry.review is not None:
        said += f", reviewed by {entry.review.operator}"
    return said if differs == _NOTHING else f"{said}; not run as the others were: {differs}"
