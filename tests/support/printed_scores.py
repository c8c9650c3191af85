# SPDX-License-Identifier: Apache-2.0
"""A check whether a printed score can be the printed mAP divided by the printed energy."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from enum import Enum


class Agreement(Enum):
    """The relation of a printed score to the quotient of the printed figures."""

    EQUAL = "equal"
    """The quotient rounds to the printed score."""
    WITHIN_ROUNDING = "within rounding"
    """The quotient differs, but some mAP and energy that print like this give the score."""
    OUTSIDE_ROUNDING = "outside rounding"
    """No mAP and energy that print like this give the score."""


@dataclass(frozen=True)
class PrintedScore:
    """The quotient, rounded to the digits of the printed score, and its relation to the score."""

    quotient: Decimal
    agreement: Agreement


def check_printed(mean_ap: str, energy_wh: str, score: str) -> PrintedScore:
    """Divide a printed mAP by a printed energy and compare the quotient with the printed score.

    Each figure may be off by half a unit of its last printed digit.
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
    """Return the least and the greatest number that round to this value."""
    exponent = value.as_tuple().exponent
    half = Decimal(5).scaleb(int(exponent) - 1)
    return value - half, value + half
