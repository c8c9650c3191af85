# SPDX-License-Identifier: Apache-2.0
"""What every surface says beside a score, and beside a ranking: the marks of entries and results.

Text, CSV, JSON, pages, charts, pictures, diplomas and the ceremony all ask here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from referee.core.marks import NOT_ALIKE, energy_marks, with_marks
from referee.core.text_cells import isolated
from referee.service.event.conditions import difference_text
from referee.service.event.result_entry import (
    ContestRanking,
    PublicEntry,
    Results,
    WonPrize,
)

PROVISIONAL = "PROVISIONAL"
"""The mark of results that may still change."""


def marks_of(entry: PublicEntry) -> list[str]:
    """Return the marks of an entry: those of its energy, and in words what was not alike."""
    return [*_of_energy(entry), *map(difference_text, entry.differs)]


def short_marks(entry: PublicEntry) -> list[str]:
    """Return the marks of an entry for a chart or a picture, which has no room for words."""
    return [*_of_energy(entry), *([NOT_ALIKE] if entry.differs else [])]


def marked_winners(prize: WonPrize, entries: Iterable[PublicEntry]) -> list[str]:
    """Return the names of those who win a prize, each with the marks of its entry."""
    marks = {entry.team: marks_of(entry) for entry in entries}
    return [with_marks(isolated(name), marks.get(name, [])) for name in prize.winners]


def state_mark(ranking: ContestRanking) -> str:
    """Return the mark of a whole ranking: PROVISIONAL until somebody has approved it, else ''."""
    final = ranking.final if isinstance(ranking, Results) else bool(ranking.approved_by)
    return "" if final else PROVISIONAL


def all_marks(entry: PublicEntry, ranking: ContestRanking) -> list[str]:
    """Return the marks of an entry that is read without its ranking, as a line of the CSV is."""
    return [mark for mark in (state_mark(ranking), *marks_of(entry)) if mark]


def counted_marks(ranking: ContestRanking, entries: Sequence[PublicEntry]) -> str:
    """Return in a line how many of these entries have which mark, and the ranking's own mark."""
    counts = Counter(mark for entry in entries for mark in short_marks(entry))
    words = [state_mark(ranking)] if state_mark(ranking) else []
    return ", ".join([*words, *(f"{count} {mark}" for mark, count in counts.items())])


def _of_energy(entry: PublicEntry) -> list[str]:
    return energy_marks(entry.verdict, emulated=entry.emulated)
