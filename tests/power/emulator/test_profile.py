# SPDX-License-Identifier: Apache-2.0
"""Load profiles and their exact integral."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.emulator.profile import (
    LoadProfile,
    bursts,
    constant,
    energy_wh,
    parse_steps,
    read_csv,
)

WATTS = st.floats(min_value=-100, max_value=1000)


@st.composite
def profiles(draw: st.DrawFn) -> LoadProfile:
    """Draw a profile of up to eight steps, repeating or not."""
    gaps = draw(st.lists(st.floats(min_value=0.01, max_value=10), max_size=7))
    times = [0.0]
    for gap in gaps:
        times.append(times[-1] + gap)
    watts = draw(st.lists(WATTS, min_size=len(times), max_size=len(times)))
    period = draw(st.none() | st.floats(min_value=times[-1] + 0.1, max_value=times[-1] + 20))
    return LoadProfile(tuple(times), tuple(watts), period)


@given(profiles(), st.floats(0, 100), st.floats(0, 100), st.floats(0, 100))
def test_integrals_of_neighbouring_spans_add_up(
    profile: LoadProfile, a: float, b: float, c: float
) -> None:
    """The integrals of two neighbouring spans add up to the integral of both."""
    a, b, c = sorted((a, b, c))
    whole = profile.energy_j(a, c)
    parts = profile.energy_j(a, b) + profile.energy_j(b, c)
    assert math.isclose(whole, parts, rel_tol=1e-9, abs_tol=1e-6)


@given(profiles(), st.floats(0, 50), st.floats(0.001, 20))
def test_the_integral_is_the_area(profile: LoadProfile, begin: float, length: float) -> None:
    """A fine sum of midpoints agrees with the closed form, up to its steps."""
    count = 2000
    step = length / count
    total = sum(profile.power_w(begin + (k + 0.5) * step) * step for k in range(count))
    spread = max(profile.watts) - min(profile.watts)
    # The sum may be wrong by one step at each jump inside the span.
    jumps = len(profile.times_s) * (1 + length / (profile.period_s or math.inf))
    tolerance = 1e-6 + 1.01 * spread * step * (jumps + 2)
    assert abs(total - profile.energy_j(begin, begin + length)) <= tolerance


def test_steps_of_the_command_line() -> None:
    """A text of seconds and watts is a profile whose last power holds."""
    profile = parse_steps("0:4.0,5:7.5,12:3")
    assert [4.0, 4.0, 7.5, 3.0, 3.0] == [profile.power_w(t) for t in (-1, 4.999, 5, 12, 1e6)]
    assert (4 * 5 + 7.5 * 7 + 3 * 8) / 3600 == pytest.approx(energy_wh(profile, 0, 20))


@pytest.mark.parametrize("text", ["", "5", "0:4,5", "a:b", "1:4", "0:4,0:5", "0:4,5:nan", "0:inf"])
def test_broken_steps_are_refused(text: str) -> None:
    """Each malformed text is a ValueError that names the fault."""
    with pytest.raises(ValueError):
        parse_steps(text)


def test_bursts_repeat() -> None:
    """Ten periods have ten times the energy of one."""
    profile = bursts(2.0, 9.0, 1.5, 0.3)
    assert 10 * (9 * 0.45 + 2 * 1.05) == pytest.approx(profile.energy_j(0, 15))


def test_constant() -> None:
    """One watt for an hour is one watt-hour."""
    assert 1.0 == energy_wh(constant(1.0), 100, 3700)


def test_a_power_log_is_a_profile(tmp_path: Path) -> None:
    """A power log's columns are found by name, and rows without a power are left out."""
    path = tmp_path / "log.csv"
    path.write_text("utc,power_w,elapsed_s\nx,,0.1\nx,4,0.5\nx,6,1.5\n")
    profile = read_csv(path)
    assert ((0.0, 1.0), (4.0, 6.0)) == (profile.times_s, profile.watts)


def test_a_power_log_of_json_lines_is_a_profile(tmp_path: Path) -> None:
    """Rows without a power, and half a line of a killed program, are skipped."""
    path = tmp_path / "log.jsonl"
    rows = [{"elapsed_s": 3.0, "power_w": 5}, {"elapsed_s": 4.0, "power_w": None}]
    rows.append({"elapsed_s": 5.0, "power_w": 7.5})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"elapsed_s": 6.0, "pow')
    assert LoadProfile((0.0, 2.0), (5.0, 7.5)) == read_csv(path)


def test_two_columns_are_a_profile(tmp_path: Path) -> None:
    """A header line is optional, and the last power lasts."""
    path = tmp_path / "load.csv"
    path.write_text("seconds,watts\n0,4\n1,6\n")
    assert read_csv(path).energy_j(0, 20) == pytest.approx(4 + 19 * 6)


@pytest.mark.parametrize("text", ["", "a,b\nc,d\n", "0,4\n0,5\n"])
def test_a_file_that_is_no_profile_is_named(tmp_path: Path, text: str) -> None:
    """The error for a malformed profile has the file's name."""
    path = tmp_path / "load.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match="load.csv"):
        read_csv(path)
