# SPDX-License-Identifier: Apache-2.0
"""Contests of several years side by side, as in table I of the LPIRC paper."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Year:
    """A year's scores in a few figures, in the unit of the scores.

    `mean` is that of all `entries`, `best_mean` that of the `best` highest, or of all where there
    are fewer. The improvements are the ratios to the means of the year before; they are None for
    the first year, and after a mean of 0.
    """

    name: str
    entries: int
    mean: float
    best: int
    best_mean: float
    improvement: float | None
    best_improvement: float | None


def compare_years(years: Sequence[tuple[str, Sequence[float]]], best: int = 5) -> list[Year]:
    """Return the figures of each year, from names and scores; the oldest year comes first.

    Each year has one score or more, and `best` is 1 or more. Source: K. Gauen et al., "Low-Power
    Image Recognition Challenge", ASP-DAC 2017, table I.
    """
    compared: list[Year] = []
    for name, scores in years:
        highest = sorted(scores, reverse=True)[:best]
        mean, best_mean = statistics.fmean(scores), statistics.fmean(highest)
        before = compared[-1] if compared else None
        compared.append(
            Year(
                name=name,
                entries=len(scores),
                mean=mean,
                best=len(highest),
                best_mean=best_mean,
                improvement=None if before is None else _ratio(mean, before.mean),
                best_improvement=None if before is None else _ratio(best_mean, before.best_mean),
            )
        )
    return compared


def _ratio(value: float, before: float) -> float | None:
    return value / before if before > 0 else None
