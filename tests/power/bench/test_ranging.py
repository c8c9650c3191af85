# SPDX-License-Identifier: Apache-2.0
"""The choice of fixed ranges."""

from __future__ import annotations

import pytest

from power.bench.ranging import Extremes, propose, smallest_range
from power.energy.accuracy import Accuracy

VOLTS = (15.0, 30.0, 60.0, 150.0, 300.0, 600.0)
AMPS = (0.05, 0.1, 0.2, 0.5, 1.0)
MAINS_E = Accuracy(0.001, 0.0005)


def seen(current_a: float = 0.05, peak_a: float = 0.08) -> Extremes:
    """Return a device's measured maxima at 120 V."""
    return Extremes(120.0, current_a, 170.0, peak_a, 2.0, 5.0, 6.0)


@pytest.mark.parametrize(
    ("rms", "peak", "size"),
    [
        (0.04, 0.05, 0.05),
        (0.041, 0.05, 0.1),
        (0.01, 0.12, 0.05),
        (0.01, 0.121, 0.1),
        (0.8, 2.4, 1.0),
        (0.81, 1.0, None),
        (0.1, 2.41, None),
    ],
)
def test_rms_and_peak_both_need_room(rms: float, peak: float, size: float | None) -> None:
    """RMS and peak both fit with a quarter to spare; a peak may be three times the range."""
    assert size == smallest_range(AMPS, rms, peak, 3)


def test_the_first_choice_is_the_smallest_that_fits() -> None:
    """The smallest range that fits comes first; larger ones follow, each less certain."""
    choices = propose(seen(), VOLTS, AMPS, MAINS_E)
    assert [(150.0, 0.1), (150.0, 0.2), (150.0, 0.5)] == [
        (choice.voltage_range_v, choice.current_range_a) for choice in choices
    ]
    assert [0.0125, 0.02, 0.0425] == pytest.approx([choice.uncertainty_w for choice in choices])
    assert 0.0125 / 5.0 == pytest.approx(choices[0].share)


def test_nothing_fits() -> None:
    """A device beyond the largest range gets no proposal."""
    assert [] == propose(seen(current_a=5.0, peak_a=8.0), VOLTS, AMPS, MAINS_E)
