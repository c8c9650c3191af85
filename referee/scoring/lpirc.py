# SPDX-License-Identifier: Apache-2.0
"""The LPIRC figures: mAP per watt-hour, normalised accuracy, ranking and prizes.

Source: K. Gauen et al., "Low-Power Image Recognition Challenge", ASP-DAC 2017, and the rules of
2015-2019.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from referee.core.places import shared_places


def score(mean_ap: float | None, energy_wh: float | None) -> float | None:
    """Return mAP, a fraction, divided by the session's energy in watt-hours, in 1/Wh.

    Without a mAP, or without a finite energy above 0, a session has no score: return None. So it is
    with an energy that no meter measures, 1e-310 Wh, which gives no finite number.
    """
    if mean_ap is None or energy_wh is None:
        return None
    if not math.isfinite(mean_ap) or not math.isfinite(energy_wh) or energy_wh <= 0:
        return None
    value = mean_ap / energy_wh
    return value if math.isfinite(value) else None


def normalized_accuracy(
    mean_ap: float | None, images_processed: int, set_size: int
) -> float | None:
    """Return mAP times set size / images processed, or None without a mAP or a processed image.

    The result estimates the mAP that the solution would reach with time for all images. It is no
    mAP: it exceeds 1 where the processed images hold more than their share of the rare classes.
    The paper's formula fixes the set size at 20,000. Here it is the contest's number of images.
    An image counts as processed if it was answered, as the paper's text and its table II have it;
    an image that was only fetched does not.
    """
    if mean_ap is None or images_processed <= 0:
        return None
    return mean_ap * set_size / images_processed


@dataclass(frozen=True)
class Entry:
    """A solution's figures for the ranking; mAP is a fraction, None means missing.

    An entry that is not `eligible` is ranked, and counts for mean and sigma, but wins no prize.
    """

    name: str
    mean_ap: float | None
    energy_wh: float | None
    eligible: bool = True

    @property
    def score(self) -> float | None:
        """Return mAP per watt-hour, or None."""
        return score(self.mean_ap, self.energy_wh)


@dataclass(frozen=True)
class Standing:
    """An entry with its place; `rank` is None for an entry without a score."""

    rank: int | None
    entry: Entry


def rank(entries: Sequence[Entry]) -> list[Standing]:
    """Return the entries by falling score; entries without a score come last, in the order given.

    Equal scores share a rank, and the next rank is left out: 1, 2, 2, 4.
    """
    places = shared_places([entry.score for entry in entries])
    standings = [Standing(place, entry) for place, entry in zip(places, entries, strict=True)]
    return sorted(
        standings, key=lambda standing: math.inf if standing.rank is None else standing.rank
    )


class Sigma(Enum):
    """The kind of standard deviation for the extra prizes; the rules of 2015-16 leave it open."""

    SAMPLE = "sample"
    POPULATION = "population"


@dataclass(frozen=True)
class Prize:
    """An extra prize: its winners, and the limit that they kept (None: too few entries).

    Winners with equal values share the prize. There is no winner if no entry keeps the limit.
    """

    winners: tuple[Entry, ...]
    limit: float | None


def least_energy_prize(entries: Sequence[Entry], sigma: Sigma = Sigma.SAMPLE) -> Prize:
    """Award the least energy among entries whose mAP is at least mean + 1 sigma of all mAPs.

    Entries without a score cannot win and do not enter the mean.
    """
    limit = _limit([mean_ap for _, mean_ap, _ in _complete(entries)], sigma, +1)
    able = [
        (energy_wh, entry)
        for entry, mean_ap, energy_wh in _complete(entries)
        if limit is not None and mean_ap >= limit and entry.eligible
    ]
    least = min((energy_wh for energy_wh, _ in able), default=None)
    return Prize(tuple(entry for energy_wh, entry in able if energy_wh == least), limit)


def highest_map_prize(entries: Sequence[Entry], sigma: Sigma = Sigma.SAMPLE) -> Prize:
    """Award the highest mAP among entries whose energy is at most mean - 1 sigma of all energies.

    Entries without a score cannot win and do not enter the mean.
    """
    limit = _limit([energy_wh for _, _, energy_wh in _complete(entries)], sigma, -1)
    able = [
        (mean_ap, entry)
        for entry, mean_ap, energy_wh in _complete(entries)
        if limit is not None and energy_wh <= limit and entry.eligible
    ]
    highest = max((mean_ap for mean_ap, _ in able), default=None)
    return Prize(tuple(entry for mean_ap, entry in able if mean_ap == highest), limit)


def reaches(value: float | None, threshold: float) -> bool:
    """Tell whether a score is at least a past champion's; the rules of 2019 ask it for a prize."""
    return value is not None and value >= threshold


CHAMPIONS = {
    2015: Entry("2015", 0.02971, 1.634),
    2016: Entry("2016", 0.03469, 0.7891),
    2017: Entry("2017", 0.24838, 2.08188),
    2018: Entry("2018", 0.18318, 0.412),
}
"""The on-site winners by year, as published; the rules of 2019 quote 2018's score as 0.4446."""


def _complete(entries: Sequence[Entry]) -> list[tuple[Entry, float, float]]:
    """Return entry, mAP and energy of the entries that have a score."""
    return [
        (entry, entry.mean_ap, entry.energy_wh)
        for entry in entries
        if entry.score is not None and entry.mean_ap is not None and entry.energy_wh is not None
    ]


def _limit(values: list[float], sigma: Sigma, sign: int) -> float | None:
    """Return mean plus or minus one standard deviation, or None for fewer than two values."""
    if len(values) < 2:
        return None
    spread = statistics.stdev(values) if sigma is Sigma.SAMPLE else statistics.pstdev(values)
    return statistics.fmean(values) + sign * spread
