# SPDX-License-Identifier: Apache-2.0
"""The energy beside a score whose rules have none."""

from __future__ import annotations

import pytest

from referee.commands.energy import RunEnergy, energy_line


@pytest.mark.parametrize(
    ("time_wh", "told"),
    [
        (None, "8.33333 Wh per 1,000 images (0.208333 Wh, 25 images)"),
        (0.0, "8.33333 Wh per 1,000 images (0.208333 Wh, 25 images)"),
        (0.0016, "8.33 Wh per 1,000 images (0.208 Wh ± 0.0016 Wh by time, 25 images)"),
        (0.03, "8 Wh per 1,000 images (0.21 Wh ± 0.03 Wh by time, 25 images)"),
    ],
)
def test_an_energy_per_image_has_the_digits_of_its_window(time_wh, told):
    """What the ends of the runs leave open is in the figure of each image, too."""
    assert f"\nEnergy, beside the score: {told}" == energy_line(
        RunEnergy(0.625 / 3, 25, time_wh=time_wh)
    )


def test_a_run_without_an_energy_has_none_for_an_image():
    """An INVALID log divides nothing."""
    assert "no energy" in energy_line(RunEnergy(None, 25))
