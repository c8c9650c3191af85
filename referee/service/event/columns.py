# SPDX-License-Identifier: Apache-2.0
"""The columns of a ranking, in one table that every surface follows.

Text, CSV, LaTeX, HTML, the console, the scoreboard, a team's page and the joint board follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any

from msgspec import Struct

from power.energy.duration import decimals_carried
from referee.core.marks import verdict_words
from referee.service.event.conditions import difference_text
from referee.service.event.result_entry import PastChampion, PublicEntry, TrackFigures
from referee.service.results.interval_text import decimals_of, ends_text, rounded
from referee.service.results.score_text import ABOUT, ABOUT_WORDS, NOTHING, is_about, score_text

_DECIMALS_LEAST, _DECIMALS_MOST = 5, 12
# The digits of a double that a division by another one leaves certain.
_DIGITS_MOST = 14
# So many digits of a figure without an interval are read from afar.
_FEW = 3


class On(Flag):
    """The surfaces on which a ranking appears; the CSV is the column's own affair."""

    TEXT = auto()
    LATEX = auto()
    PAGE = auto()
    """The page of `referee results --html`."""
    CONSOLE = auto()
    """The operators' page of results."""
    SCOREBOARD = auto()
    TEAM = auto()
    """The audience's page of one team."""
    JOINT = auto()
    """The joint board of several stations in a terminal; its page is that of the scoreboard."""


_TABLES = On.TEXT | On.PAGE | On.CONSOLE
_BOARDS = On.SCOREBOARD | On.TEAM
_EVERYWHERE = _TABLES | _BOARDS | On.LATEX | On.JOINT

MARKS = "marks"
"""The column of the CSV that has every mark of an entry, and that of its ranking."""

Printing = Callable[[PublicEntry], str]
"""The text of an entry's cell."""


@dataclass(frozen=True)
class Column:
    """A column of the ranking.

    `field` is its name for programs: in `printed` and, for a column of the CSV, in `PublicEntry`.
    `head` stands above it, and `words` say what it holds; neither is for the CSV alone. `printing`
    makes its cells. `on` are the surfaces that have it. `csv` is its place in the CSV, from 1; a
    new column goes to the end there, because scripts may count. A `left` column has words, the
    others have numbers. A `wide` one is left out on the scoreboard of a narrow screen. A `rare` one
    appears when one of the entries has something to say there. `short` makes the cell that is read
    from afar, for a figure that has one.
    """

    field: str
    head: str = ""
    words: str = ""
    printing: Printing | None = None
    on: On = On(0)
    csv: int = 0
    left: bool = False
    wide: bool = False
    rare: bool = False
    short: Printing | None = None


def _whole(field: str) -> Printing:
    return lambda entry: _or_nothing(getattr(entry, field), str)


def _number(field: str, decimals: int) -> Printing:
    return lambda entry: _or_nothing(getattr(entry, field), lambda value: f"{value:.{decimals}f}")


def _few_digits(field: str) -> Printing:
    return lambda entry: _or_nothing(
        getattr(entry, field), lambda value: rounded(value, max(0, decimals_of(value, _FEW)))
    )


def _score(entry: PublicEntry) -> str:
    return score_text(entry.score, (entry.score_low, entry.score_high))


def _power(entry: PublicEntry, most: int = 3) -> str:
    """Return the mean power with so many decimals, or with fewer if its duration carries fewer."""
    if entry.mean_power_w is None:
        return NOTHING
    carries = decimals_carried(entry.mean_power_w, entry.mean_power_uncertainty_w or 0.0)
    return f"{entry.mean_power_w:.{max(0, min(most, carries))}f}"


def _short_power(entry: PublicEntry) -> str:
    return _power(entry, decimals_of(entry.mean_power_w or 0.0, _FEW))


def _interval(entry: PublicEntry) -> str:
    low, high = entry.score_low, entry.score_high
    return NOTHING if low is None or high is None else ends_text(low, high)


def _percent(field: str) -> Printing:
    return lambda entry: _or_nothing(getattr(entry, field), lambda share: f"{100 * share:.2f} %")


def _verdict(entry: PublicEntry) -> str:
    return " ".join(verdict_words(entry.verdict or NOTHING, emulated=entry.emulated))


def _differs(entry: PublicEntry) -> str:
    return "; ".join(map(difference_text, entry.differs)) or NOTHING


def _or_nothing(value: Any, text: Callable[[Any], str]) -> str:
    return NOTHING if value is None else text(value)


COLUMNS = (
    Column("rank", "rank", "place by the score", _whole("rank"), _EVERYWHERE, csv=1),
    Column(
        "team",
        "team",
        "team, with its organisation and what is to be said of it",
        _whole("team"),
        _EVERYWHERE & ~On.TEAM,
        csv=2,
        left=True,
    ),
    Column("organisation", csv=3),
    Column(
        "station",
        "station",
        "station at which the team runs",
        _whole("station"),
        On.JOINT,
        left=True,
    ),
    Column("session", "session", "session that counts", _whole("session"), On.JOINT, csv=4),
    Column(
        "mean_ap",
        "mAP",
        "accuracy of the answers",
        _number("mean_ap", 5),
        _EVERYWHERE,
        csv=5,
        short=_few_digits("mean_ap"),
    ),
    Column(
        "energy_wh",
        "Wh",
        "energy of the whole session in watt-hours",
        _number("energy_wh", 4),
        _EVERYWHERE,
        csv=6,
        short=_few_digits("energy_wh"),
    ),
    Column(
        "mean_power_w",
        "W",
        "mean power in watts: the energy over the time for which the meter integrated",
        _power,
        _EVERYWHERE,
        csv=17,
        wide=True,
        short=_short_power,
    ),
    Column("score", "score", "accuracy per energy", _score, _EVERYWHERE, csv=7, short=_score),
    Column(
        "interval",
        "interval",
        "95 % interval of the score",
        _interval,
        _TABLES | On.TEAM | On.JOINT,
    ),
    Column("score_low", csv=8),
    Column("score_high", csv=9),
    Column(
        "images",
        "images",
        "images that the team fetched",
        _whole("images"),
        _EVERYWHERE & ~(On.JOINT | On.SCOREBOARD),
        csv=10,
        wide=True,
    ),
    Column(
        "normalized_accuracy",
        "normalised",
        "accuracy x images of the set / images that the team answered",
        _percent("normalized_accuracy"),
        _TABLES,
        csv=14,
    ),
    Column(
        "images_answered",
        "answered",
        "images that the team answered",
        _whole("images_answered"),
        _EVERYWHERE & ~(On.JOINT | On.SCOREBOARD | On.LATEX),
        csv=20,
        wide=True,
    ),
    Column(
        "attempts",
        "attempts",
        "sessions that the team has started, void ones included",
        _whole("attempts"),
        _TABLES | On.TEAM,
        csv=11,
        wide=True,
    ),
    Column(
        "verdict",
        "verdict",
        "whether the energy can be trusted",
        _verdict,
        _EVERYWHERE,
        csv=12,
        left=True,
    ),
    Column(
        "differs",
        "not alike",
        "what was not as in the other sessions",
        _differs,
        _EVERYWHERE,
        csv=18,
        left=True,
        rare=True,
    ),
    Column("emulated", csv=13),
    Column("objects_per_s", csv=15),
    Column("withdrawn", csv=16),
    Column("mean_power_uncertainty_w", csv=19),
    Column("score_text", csv=21),
    Column(MARKS, csv=22),
    Column("team_id", csv=23),
)
"""The table."""

CSV_FIELDS = tuple(
    column.field for column in sorted(COLUMNS, key=lambda column: column.csv) if column.csv
)
"""The fields of the CSV, in its order."""


def columns_on(surface: On, entries: Sequence[PublicEntry]) -> list[Column]:
    """Return the columns that a surface has for these entries, in their order."""
    return [
        column
        for column in COLUMNS
        if surface in column.on
        and (not column.rare or any(getattr(entry, column.field) for entry in entries))
    ]


def csv_value(entry: PublicEntry, field: str) -> Any:
    """Return what the CSV has of an entry's field: all digits of a figure, words of a list.

    `score_text` is the score as people read it elsewhere.
    """
    if field == "score_text":
        return None if entry.score is None else _score(entry)
    value = getattr(entry, field)
    return "; ".join(map(difference_text, value)) if field == "differs" else value


def head_of(column: Column, figures: TrackFigures) -> str:
    """Return what stands above a column; the track names its own figures."""
    return {"mean_ap": figures.accuracy.label, "score": figures.score.label}.get(
        column.field, column.head
    )


def words_of(column: Column, figures: TrackFigures) -> str:
    """Return what a column holds, with the unit of the track's score."""
    if column.field != "score":
        return column.words
    unit = f", in {figures.score.unit}" if figures.score.unit else ""
    return f"{column.words}{unit}; {ABOUT} is one that is {ABOUT_WORDS}"


class ShownColumn(Struct, frozen=True, kw_only=True):
    """A column of a page; `field` is the key of an entry's `printed`."""

    field: str
    head: str
    words: str
    left: bool
    wide: bool


def shown_columns(
    surface: On, figures: TrackFigures, entries: Sequence[PublicEntry]
) -> list[ShownColumn]:
    """Return the columns of a page."""
    return [
        ShownColumn(
            field=column.field,
            head=head_of(column, figures),
            words=words_of(column, figures),
            left=column.left,
            wide=column.wide,
        )
        for column in columns_on(surface, entries)
    ]


def about_line(entries: Sequence[PublicEntry]) -> str:
    """Return what stands below a ranking about its scores' digits, or an empty text.

    It says what the mark means if an entry has it, and that scores may differ and look alike.
    """
    texts = {
        float(f"{entry.score:.{_DIGITS_MOST}g}"): _score(entry)
        for entry in entries
        if entry.score is not None
    }
    said = []
    if any(map(is_about, texts.values())):
        said.append(f"{ABOUT}: {ABOUT_WORDS}.")
    if len(set(texts.values())) < len(texts):
        said.append("Scores that look alike differ beyond the digits that they carry.")
    return " ".join(said)


def decimals_apart(values: Sequence[float], least: int = _DECIMALS_LEAST) -> int:
    """Return so many decimals that different values print differently, from `least` to 12.

    Values that are parted by the last bits alone are one value, such as quotients that share a
    rank.
    """
    different = {float(f"{value:.{_DIGITS_MOST}g}") for value in values}
    for decimals in range(least, _DECIMALS_MOST):
        if len({f"{value:.{decimals}f}" for value in different}) == len(different):
            return decimals
    return _DECIMALS_MOST


def printed_entries(entries: Sequence[PublicEntry]) -> list[dict[str, str]]:
    """Return the cells of each entry by the column's field; a missing figure is '–'."""
    return [_cells(entry) for entry in entries]


def short_cells(entry: PublicEntry) -> dict[str, str]:
    """Return an entry's figures as they are read from afar, by the column's field."""
    return {column.field: column.short(entry) for column in COLUMNS if column.short is not None}


def champion_entry(champion: PastChampion) -> PublicEntry:
    """Return a past champion as an entry."""
    return PublicEntry(
        team=f"champion of {champion.year}",
        mean_ap=champion.mean_ap,
        energy_wh=champion.energy_wh,
        score=champion.score,
    )


def printed_champion(champion: PastChampion) -> dict[str, str]:
    """Return the cells of a past champion among the entries; what is not known of it is empty."""
    entry = champion_entry(champion)
    known = ("team", "mean_ap", "energy_wh", "score")
    cells = _cells(entry)
    return {field: cell if field in known else "" for field, cell in cells.items()}


def _cells(entry: PublicEntry) -> dict[str, str]:
    return {
        column.field: column.printing(entry) for column in COLUMNS if column.printing is not None
    }
