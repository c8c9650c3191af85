# SPDX-License-Identifier: Apache-2.0
"""mAP per watt-hour and what goes with it."""

from __future__ import annotations

import math

import pytest

from referee.scoring.lpirc import normalized_accuracy, score


def test_score_is_map_per_watt_hour():
    """The winner of 2015: 0.02971 at 1.634 Wh."""
    assert 0.01818 == round(score(0.02971, 1.634), 5)


@pytest.mark.parametrize("energy_wh", [None, 0.0, -1.0, math.nan, math.inf, -math.inf])
def test_no_score_without_energy(energy_wh):
    """No energy is better than wrong energy."""
    assert None is score(0.1, energy_wh)


@pytest.mark.parametrize("mean_ap", [None, math.nan])
def test_no_score_without_map(mean_ap):
    """Without a mAP there is no score."""
    assert None is score(mean_ap, 1.0)


def test_normalized_accuracy_takes_the_set_size_as_data():
    """The winner of 2016 processed 7,347 of 20,000 images: 9.44 %."""
    assert 0.0944 == round(normalized_accuracy(0.03469, 7347, 20000), 4)
    assert None is normalized_accuracy(0.03469, 0, 20000)
    assert None is normalized_accuracy(None, 100, 20000)
