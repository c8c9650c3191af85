# SPDX-License-Identifier: Apache-2.0
"""A session's score as people read it: each surface prints it with this one function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from referee.scoring.uncertainty import gives_interval
from referee.service.results.interval_text import decimals_of, rounded, score_ends

if TYPE_CHECKING:
    from referee.store.scores import ScoringRun
    from referee.tracks.track import Track

ABOUT = "~"
"""Stands before a score that is too uncertain for three digits."""

ABOUT_WORDS = "too uncertain for more digits"
"""What the mark says."""

NOTHING = "–"
"""Stands for a score that is missing."""

# So many digits have a score whose interval is not known, as that of a SUSPECT energy.
_DIGITS = 3


def score_text(score: float | None, ends: Sequence[float | None] = ()) -> str:
    """Return a score with the digits that its interval carries, whatever the surface.

    They show two digits of half the interval's width, as the interval itself is printed. A score
    without an interval has three. One that its interval leaves fewer than three has the mark.
    """
    if score is None:
        return NOTHING
    if score == 0:
        return "0"
    usual = decimals_of(score, _DIGITS)
    low, high = ends or (None, None)
    if low is None or high is None or not high > low:
        return rounded(score, usual)
    # At least one digit stays, however wide the interval is.
    decimals = max(decimals_of((high - low) / 2, 2), decimals_of(score, 1))
    return f"{ABOUT if decimals < usual else ''}{rounded(score, decimals)}"


def is_about(text: str) -> bool:
    """Tell whether a printed score has the mark."""
    return text.startswith(ABOUT)


def with_words(text: str, unit: str) -> str:
    """Return a printed score with its unit, and with what the mark says if it has it."""
    words = f"({ABOUT_WORDS})" if is_about(text) else ""
    return " ".join(filter(None, (text, unit, words)))


def ends_of(run: ScoringRun | None, track: Track[Any]) -> tuple[float | None, float | None]:
    """Return the ends of a score's interval; None where there is none (see `gives_interval`).

    It is the interval that the scoring run tells. If the run tells none, it is the change of
    the score when the energy changes by the meter's uncertainty.
    """
    if run is None or not gives_interval(run.detail.get("verdict")):
        return None, None
    ends = score_ends(run.detail, track)
    if ends is not None:
        return ends[0], ends[1]
    if run.score is None:
        return None, None
    energy_wh, uncertainty_wh = run.detail.get("energy_wh"), run.detail.get("uncertainty_wh")
    if energy_wh is None or uncertainty_wh is None:
        return None, None
    return (
        track.score_of(run.accuracy, energy_wh + uncertainty_wh),
        track.score_of(run.accuracy, energy_wh - uncertainty_wh),
    )


def text_of_run(run: ScoringRun | None, track: Track[Any]) -> str:
    """Return the printed score of a scoring run."""
    return score_text(None if run is None else run.score, ends_of(run, track))
