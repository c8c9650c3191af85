# SPDX-License-Identifier: Apache-2.0
"""The emulated circuit of a drill fits the ranges that the event configures."""

from __future__ import annotations

import pytest

from power.emulator.profile import read_csv
from referee.extras.drill.play.meters import load_options, load_profile, volts_of, watts_of
from referee.service.setup.lane_config import MeterSection


@pytest.mark.parametrize("volts", [None, 15.0, 60.0, 150.0, 300.0])
@pytest.mark.parametrize("amperes", [None, 0.005, 0.5, 20.0])
def test_the_load_lies_well_inside_the_ranges(volts, amperes):
    """Voltage and current fill between a tenth and nine tenths of their ranges."""
    section = MeterSection(voltage_range_v=volts, current_range_a=amperes)
    if volts is not None:
        assert 0.1 <= volts_of(section) / volts <= 0.9
    if amperes is not None:
        assert 0.1 <= watts_of(section) / volts_of(section) / amperes <= 0.5


def test_a_lane_for_direct_current_gets_direct_current():
    """The options follow the mode and the element of the configuration."""
    assert "--hertz" not in load_options(MeterSection())
    direct = load_options(MeterSection(mode="DC", element="SIGMA"))
    assert ["--hertz", "0"] == direct[2:4]
    assert "WT333E" in direct


def test_the_load_moves_around_its_mean(tmp_path):
    """It lasts longer than any drill, stays near its mean, and a seed decides it."""
    path = tmp_path / "load.csv"
    path.write_text(load_profile(10.0, 1))
    profile = read_csv(path)
    assert profile.times_s[-1] > 1800
    assert 8.0 <= min(profile.watts) < 9.0 and 11.0 < max(profile.watts) <= 12.0
    assert load_profile(10.0, 1) == path.read_text() != load_profile(10.0, 2)
