# SPDX-License-Identifier: Apache-2.0
"""The LPIRC figures: mAP per watt-hour, normalised accuracy, ranking and prizes.

Source: K. Gauen et al., "Low-Power Image Recognition Challenge", ASP-DAC 2017, and the rules of
2015-2019.

A rule decides exactly: a place, a tie, and whether a value reaches a limit. The number behind a
double is that of its shortest decimal, see `exact`. Printed figures are rounded, and no rule reads
them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from referee.core.arguments import finite_number, real_number
from referee.core.places import shared_places
from referee.errors import ArgumentError

# Two roundings to a double, and what a text of fewer digits has lost, are less.
_ROUNDING = 1e-14


def score(mean_ap: float | None, energy_wh: float | None) -> float | None:
    """Return mAP, a fraction, divided by the session's energy in watt-hours, in 1/Wh.

    Without a mAP, or without a finite energy above 0, a session has no score: return None. So it is
    with an energy that no meter measures, 1e-310 Wh, which gives no finite number. Raises
    ArgumentError for what is no number at all.
    """
    if mean_ap is None or energy_wh is None:
        return None
    mean_ap, energy_wh = real_number(mean_ap, "mean_ap"), real_number(energy_wh, "energy_wh")
    if not math.isfinite(mean_ap) or not math.isfinite(energy_wh) or energy_wh <= 0:
        return None
    value = mean_ap / energy_wh
    return value if math.isfinite(value) else None


def exact(value: float) -> Fraction:
    """Return the number that a finite double stands for: its shortest decimal.

    That is what JSON and CSV print, and reads back as the same double. It is also what a meter or a
    table printed in the first place: 0.1 is one tenth here, not the double's 0.1000000000000000055.
    """
    return Fraction(repr(float(value)))


def exact_score(mean_ap: float | None, energy_wh: float | None) -> Fraction | None:
    """Return the quotient that `score` rounds to a double, or None where there is no score.

    0.001 / 0.07 and 0.003 / 0.21 are equal here; as doubles they differ in the last bit.
    """
    if mean_ap is None or energy_wh is None or score(mean_ap, energy_wh) is None:
        return None
    return exact(mean_ap) / exact(energy_wh)


def behind_score(
    rounded: float | None, mean_ap: float | None, energy_wh: float | None
) -> float | Fraction | None:
    """Return the exact quotient behind a score that is stored or that somebody tells.

    A score that is not that of these figures stands as it is: another file has its figures.
    """
    quotient = None if rounded is None else exact_score(mean_ap, energy_wh)
    if rounded is None or quotient is None:
        return rounded
    return quotient if math.isclose(rounded, quotient, rel_tol=_ROUNDING) else rounded


def normalized_accuracy(
    mean_ap: float | None, images_processed: int, set_size: int
) -> float | None:
    """Return mAP times set size / images processed, or None without a mAP or a processed image.

    The result estimates the mAP that the solution would reach with time for all images. It is no
    mAP: it exceeds 1 where the processed images hold more than their share of the rare classes.
    The paper's formula fixes the set size at 20,000. Here it is the contest's number of images.
    An image counts as processed if it was answered, as the paper's text and its table II have it;
    an image that was only fetched does not.
    Raises ArgumentError for a mAP that is NaN or no number, for numbers of images that are not
    whole or below 0, and for more images processed than there are.
    """
    for count, name in ((images_processed, "images_processed"), (set_size, "set_size")):
        if finite_number(count, name) % 1 or count < 0:
            raise ArgumentError(f"{name} is {count}: give a whole number of images, from 0 on")
    if images_processed > set_size:
        raise ArgumentError(
            f"images_processed is {images_processed}, more than the {set_size} images of the set:"
            " give (mean_ap, images_processed, set_size)"
        )
    if mean_ap is None or images_processed <= 0:
        return None
    mean_ap = finite_number(mean_ap, "mean_ap")
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

    @property
    def exact_score(self) -> Fraction | None:
        """Return mAP per watt-hour, not rounded, or None."""
        return exact_score(self.mean_ap, self.energy_wh)


@dataclass(frozen=True)
class Standing:
    """An entry with its place; `rank` is None for an entry without a score."""

    rank: int | None
    entry: Entry


def rank(entries: Sequence[Entry]) -> list[Standing]:
    """Return the entries by falling score; entries without a score come last, in the order given.

    Equal quotients share a rank (`exact_score`), and the next rank is left out: 1, 2, 2, 4.
    """
    places = shared_places([entry.exact_score for entry in entries])
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
    """An extra prize: its winners, and the limit of its rule (None: too few entries).

    Winners with equal values share the prize. There is no winner if no entry keeps the limit.
    `limit` is rounded to a double, for print.
    """

    winners: tuple[Entry, ...]
    limit: float | None


def least_energy_prize(entries: Sequence[Entry], sigma: Sigma = Sigma.SAMPLE) -> Prize:
    """Award the least energy among entries whose mAP is at least mean + 1 sigma of all mAPs.

    Entries without a score cannot win and do not enter the mean. All arithmetic is exact.
    """
    limit = _Limit.of([mean_ap for _, mean_ap, _ in _complete(entries)], sigma, +1)
    able = [
        (energy_wh, entry)
        for entry, mean_ap, energy_wh in _complete(entries)
        if limit is not None and limit.kept_by(mean_ap) and entry.eligible
    ]
    least = min((energy_wh for energy_wh, _ in able), default=None)
    winners = tuple(entry for energy_wh, entry in able if energy_wh == least)
    return Prize(winners, None if limit is None else limit.rounded())


def highest_map_prize(entries: Sequence[Entry], sigma: Sigma = Sigma.SAMPLE) -> Prize:
    """Award the highest mAP among entries whose energy is at most mean - 1 sigma of all energies.

    Entries without a score cannot win and do not enter the mean. All arithmetic is exact.
    """
    limit = _Limit.of([energy_wh for _, _, energy_wh in _complete(entries)], sigma, -1)
    able = [
        (mean_ap, entry)
        for entry, mean_ap, energy_wh in _complete(entries)
        if limit is not None and limit.kept_by(energy_wh) and entry.eligible
    ]
    highest = max((mean_ap for mean_ap, _ in able), default=None)
    winners = tuple(entry for mean_ap, entry in able if mean_ap == highest)
    return Prize(winners, None if limit is None else limit.rounded())


def reaches(entry: Entry, champion: Entry) -> bool:
    """Tell whether a score is at least a past champion's; the rules of 2019 ask it for a prize."""
    score, threshold = entry.exact_score, champion.exact_score
    return score is not None and threshold is not None and score >= threshold


CHAMPIONS = {
    2015: Entry("2015", 0.02971, 1.634),
    2016: Entry("2016", 0.03469, 0.7891),
    2017: Entry("2017", 0.24838, 2.08188),
    2018: Entry("2018", 0.18318, 0.412),
}
"""The on-site winners by year, as published; the rules of 2019 quote 2018's score as 0.4446."""


@dataclass(frozen=True)
class _Limit:
    """The limit mean + `sign` sigma of some values, `sign` +1 or -1; `variance` is sigma squared.

    Sigma is seldom a fraction, so nobody computes it here: who is d beyond the mean keeps the limit
    if d is not negative and d squared is at least the variance.
    """

    mean: Fraction
    variance: Fraction
    sign: int

    @classmethod
    def of(cls, values: Sequence[float], sigma: Sigma, sign: int) -> _Limit | None:
        """Return the limit of values, or None for fewer than two."""
        known = [exact(value) for value in values]
        if len(known) < 2:
            return None
        mean = sum(known, Fraction()) / len(known)
        squares = sum(((value - mean) ** 2 for value in known), Fraction())
        return cls(mean, squares / (len(known) - (sigma is Sigma.SAMPLE)), sign)

    def kept_by(self, value: float) -> bool:
        """Tell whether a value is at least the limit, or at most for a `sign` of -1."""
        beyond = self.sign * (exact(value) - self.mean)
        return beyond >= 0 and beyond**2 >= self.variance

    def rounded(self) -> float:
        """Return the limit as a double."""
        return float(self.mean + self.sign * _root(self.variance))


def _root(value: Fraction) -> Fraction:
    """Return the square root, exactly where it is a fraction, else to 128 bits and more."""
    bits = 128 + value.denominator.bit_length()
    root = math.isqrt(value.numerator * value.denominator << 2 * bits)
    return Fraction(root, value.denominator << bits)


def _complete(entries: Sequence[Entry]) -> list[tuple[Entry, float, float]]:
    """Return entry, mAP and energy of the entries that have a score."""
    return [
        (entry, entry.mean_ap, entry.energy_wh)
        for entry in entries
        if entry.score is not None and entry.mean_ap is not None and entry.energy_wh is not None
    ]
