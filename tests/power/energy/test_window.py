# SPDX-License-Identifier: Apache-2.0
"""The energy of a part of an integration comes from the integrator's readings around its edges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.energy.verdict import Verdict
from power.energy.window import coarse_finding, energy_between
from power.meter import IntegrationState, Reading

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """Return a moment after noon."""
    return NOON + timedelta(seconds=seconds)


def readings(*energies_wh: float | None) -> list[Reading]:
    """Return a reading a second from noon on."""
    return [
        Reading(float(k), at(k), 120.0, 0.05, 6.0, energy, float(k), IntegrationState.START)
        for k, energy in enumerate(energies_wh)
    ]


@pytest.mark.parametrize(
    ("begin_s", "end_s", "expected"),
    [
        (0, 4, 10.0),
        (1, 3, 5.0),
        (0.5, 2.5, 4.0),  # 0.5 at the begin, 4.5 at the end
        (1.25, 1.75, 1.0),
        (3, 3.1, 0.4),
        (-0.1, 2, None),
        (2, 4.1, None),
        (2, 2, None),
        (3, 2, None),
    ],
)
def test_between_two_readings_energy_grows_evenly(begin_s, end_s, expected):
    """The window's edges may lie between readings, and never beyond them."""
    log = readings(0.0, 1.0, 3.0, 6.0, 10.0)
    assert expected == pytest.approx(energy_between(log, at(begin_s), at(end_s)))


def test_a_reading_without_an_energy_is_left_out():
    """A lost value does not break the window: its neighbours give the energy."""
    assert 2.0 == energy_between(readings(0.0, None, None, 6.0), at(1), at(2))
    assert energy_between(readings(None, None), at(0), at(1)) is None
    assert energy_between([], at(0), at(1)) is None


@given(st.floats(0, 9), st.floats(0, 9), st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_parts_of_a_window_add_up(one, other, steps):
    """A window's energy is the sum of its parts', and never negative."""
    energies = [sum(steps[:k]) for k in range(10)]
    middle, end = sorted((one, other))
    whole, first, second = (
        energy_between(readings(*energies), at(a), at(b))
        for a, b in ((0, end), (0, middle), (middle, end))
    )
    parts = [0.0 if it is None else it for it in (first, second)]
    assert (0.0 if whole is None else whole) == pytest.approx(sum(parts), abs=1e-9)
    assert min(parts) >= -1e-12


def test_a_log_that_is_too_coarse_is_suspect():
    """A gap of more than a tenth of the window makes its energy SUSPECT, with both times."""
    log = readings(*map(float, range(31)))
    finding = coarse_finding(log, at(10), at(15))
    assert finding is not None
    assert ("coarse_window", Verdict.SUSPECT) == (finding.code, finding.severity)
    assert "1.0 s apart" in finding.text and "5.0 s" in finding.text
    assert coarse_finding(log, at(5), at(25)) is None
