# SPDX-License-Identifier: Apache-2.0
"""The result of a session as text: the verdict, and figures rounded to their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from referee.core.marks import EMULATED, energy_marks
from referee.service.results.interval_text import (
    decimals_of,
    interval_lines,
    rounded,
    score_ends,
)
from referee.service.results.score_table import IGNORED
from referee.service.results.score_text import ends_of, text_of_run, with_words
from referee.store.scores import ScoringRun
from referee.tracks.track import Track

# The most digits for a value of unknown uncertainty. A SUSPECT energy also counts as such, because
# the meter's table of accuracy does not cover the reason for the doubt.
_DIGITS = 3


def result_text(run: ScoringRun, track: Track[Any]) -> str:
    """Return the result of a session in a few lines."""
    return "\n".join(_lines(run, track))


def result_line(run: ScoringRun, track: Track[Any]) -> str:
    """Return the score and the verdict of a session in one line."""
    return ", ".join(score_and_verdict(run, track))


def score_and_verdict(run: ScoringRun, track: Track[Any]) -> tuple[str, str]:
    """Return the score of a session, and its verdict with what belongs to it."""
    return _score(run, track), _verdict(run)


def _lines(run: ScoringRun, track: Track[Any]) -> Iterator[str]:
    detail = run.detail
    yield f"Session {detail['session']} of '{detail['team']}'"
    of_all = f" of {detail['images']}" if "images" in detail else ""
    yield f"  images      {detail['images_fetched']}{of_all}"
    # Only a track that scores boxes reports them.
    if "detections" in detail:
        yield f"  detections  {_detections(detail)}"
    accuracy = "none" if run.accuracy is None else f"{run.accuracy:.{track.accuracy.decimals}f}"
    yield f"  {track.accuracy.label:11} {accuracy}"
    yield f"  energy      {_energy(run)}"
    yield f"  verdict     {_verdict(run)}"
    yield from (f"              {reason}" for reason in detail["reasons"])
    doubt = "" if run.score is None or _is_valid(run) else f", {detail['verdict']}"
    yield f"  {track.score.label:11} {_score(run, track)}{doubt}"
    yield from (f"              {line}" for line in interval_lines(detail, track))


def _detections(detail: Mapping[str, Any]) -> str:
    """Return the number of detections, and the numbers of ignored ones by reason."""
    counts = detail.get("ignored", {})
    ignored = [f"{n} ({IGNORED.get(reason, reason)})" for reason, n in counts.items() if n]
    return f"{detail['detections']}" + (f", ignored: {', '.join(ignored)}" if ignored else "")


def _verdict(run: ScoringRun) -> str:
    verdict, emulated = str(run.detail["verdict"]), bool(run.detail.get("emulated"))
    is_marked = EMULATED in energy_marks(verdict, emulated=emulated)
    return f"{verdict} ({EMULATED} meter: this is no official result)" if is_marked else verdict


def _energy(run: ScoringRun) -> str:
    energy_wh = run.detail["energy_wh"]
    if energy_wh is None:
        return "none"
    return f"{_measured(energy_wh, run.detail['uncertainty_wh'], _is_valid(run))} Wh"


def _score(run: ScoringRun, track: Track[Any]) -> str:
    """Return the score as every surface prints it; beside it the ± of the energy, if that is all.

    A score that is too uncertain for more digits says so.
    """
    if run.score is None:
        return "none"
    text = text_of_run(run, track)
    low, high = ends_of(run, track)
    if low is None or high is None or not high > low or score_ends(run.detail, track) is not None:
        return with_words(text, track.score.unit)
    half = (high - low) / 2
    plus = rounded(half, max(decimals_of(half, 2), decimals_of(run.score, 1)))
    return with_words(text, f"± {plus} {track.score.unit}")


def _is_valid(run: ScoringRun) -> bool:
    return bool(run.detail["verdict"] == "VALID")


def _measured(value: float, uncertainty: float | None, valid: bool) -> str:
    """Return a value rounded so that two of its digits are uncertain."""
    few = decimals_of(value, _DIGITS)
    if uncertainty is None or not 0 < uncertainty < math.inf:
        return rounded(value, few)
    # Keep at least one digit of the value, even if the uncertainty is larger.
    decimals = max(decimals_of(uncertainty, 2), decimals_of(value, 1))
    if not valid:
        return rounded(value, min(few, decimals))
    return f"{rounded(value, decimals)} ± {rounded(uncertainty, decimals)}"
