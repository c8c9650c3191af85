# SPDX-License-Identifier: Apache-2.0
"""Printed figures: whether a printed score can be the quotient of the printed mAP and energy."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from enum import Enum


class Agreement(Enum):
    """How a printed score relates to the quotient of the printed figures."""

    EQUAL = "equal"
    """The quotient rounds to the printed score."""
    WITHIN_ROUNDING = "within rounding"
    """It does not, but some values that print as these mAP and energy have that score."""
    OUTSIDE_ROUNDING = "outside rounding"
    """No values that print as these mAP and energy have that score."""


@dataclass(frozen=True)
class PrintedScore:
    """The quotient, rounded to the digits of the printed score, and how they relate."""

    quotient: Decimal
    agreement: Agreement


def check_printed(mean_ap: str, energy_wh: str, score: str) -> PrintedScore:
    """Divide a printed mAP by a printed energy and compare with the printed score.

    The figures are taken with the digits as printed, each within half a unit of its last place.
    """
    printed = Decimal(score)
    low_ap, high_ap = _bounds(Decimal(mean_ap))
    low_energy, high_energy = _bounds(Decimal(energy_wh))
    low, high = _bounds(printed)
    quotient = (Decimal(mean_ap) / Decimal(energy_wh)).quantize(printed, ROUND_HALF_EVEN)
    if quotient == printed:
        return PrintedScore(quotient, Agreement.EQUAL)
    possible = low_ap / high_energy <= high and low <= high_ap / low_energy
    return PrintedScore(
        quotient, Agreement.WITHIN_ROUNDING if possible else Agreement.OUTSIDE_ROUNDING
    )


def _bounds(value: Decimal) -> tuple[Decimal, Decimal]:
    """Return the least and the greatest number that print as this value."""
    exponent = value.as_tuple().exponent
    half = Decimal(5).scaleb(int(exponent) - 1)
    return value - half, value + half
