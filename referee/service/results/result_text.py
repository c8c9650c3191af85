# SPDX-License-Identifier: Apache-2.0
"""The result of a session as text: the verdict, and figures rounded to their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from referee.service.results.score_table import IGNORED
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
    return f"{_score(run, track)}, {_verdict(run)}"


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


def _detections(detail: Mapping[str, Any]) -> str:
    """Return the number of detections, and the numbers of ignored ones by reason."""
    counts = detail.get("ignored", {})
    ignored = [f"{n} ({IGNORED.get(reason, reason)})" for reason, n in counts.items() if n]
    return f"{detail['detections']}" + (f", ignored: {', '.join(ignored)}" if ignored else "")


def _verdict(run: ScoringRun) -> str:
    emulated = " (EMULATED meter: this is no official result)"
    return f"{run.detail['verdict']}{emulated if run.detail.get('emulated') else ''}"


def _energy(run: ScoringRun) -> str:
    energy_wh = run.detail["energy_wh"]
    if energy_wh is None:
        return "none"
    return f"{_measured(energy_wh, run.detail['uncertainty_wh'], _is_valid(run))} Wh"


def _score(run: ScoringRun, track: Track[Any]) -> str:
    if run.score is None:
        return "none"
    shown = _measured(run.score, _uncertainty(run, track), _is_valid(run))
    return f"{shown} {track.score.unit}".strip()


def _uncertainty(run: ScoringRun, track: Track[Any]) -> float | None:
    """Return the change of the score when the energy changes by its uncertainty."""
    energy_wh, uncertainty_wh = run.detail["energy_wh"], run.detail["uncertainty_wh"]
    if energy_wh is None or uncertainty_wh is None:
        return None
    most = track.score_of(run.accuracy, energy_wh - uncertainty_wh)
    least = track.score_of(run.accuracy, energy_wh + uncertainty_wh)
    return None if most is None or least is None else abs(most - least) / 2


def _is_valid(run: ScoringRun) -> bool:
    return bool(run.detail["verdict"] == "VALID")


def _measured(value: float, uncertainty: float | None, valid: bool) -> str:
    """Return a value rounded so that two of its digits are uncertain."""
    few = _decimals(value, _DIGITS)
    if uncertainty is None or not 0 < uncertainty < math.inf:
        return _rounded(value, few)
    # Keep at least one digit of the value, even if the uncertainty is larger.
    decimals = max(_decimals(uncertainty, 2), _decimals(value, 1))
    if not valid:
        return _rounded(value, min(few, decimals))
    return f"{_rounded(value, decimals)} ± {_rounded(uncertainty, decimals)}"


def _decimals(value: float, digits: int) -> int:
    """Return the number of decimals that shows `digits` digits; negative for large values."""
    if value == 0 or not math.isfinite(value):
        return digits
    return digits - 1 - math.floor(math.log10(abs(value)))


def _rounded(value: float, decimals: int) -> str:
    return f"{round(value, decimals):.{max(0, decimals)}f}"
