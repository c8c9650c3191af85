# SPDX-License-Identifier: Apache-2.0
"""The energy under samples within a window."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from power.sampled.source import Sample
from power.sampled.trapezoid import Integral

steps = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=30)
watts = st.floats(-50, 50)


def integral(
    samples: list[Sample], begin_s: float = 0.0, end_s: float = math.inf, interval_s: float = 1.0
) -> Integral:
    """Return the integral of samples in a window."""
    made = Integral(begin_s, interval_s, longest_gap_s=2.0)
    made.end_s = end_s
    for sample in samples:
        made.add(sample)
    return made


@given(steps, watts, st.booleans())
def test_a_constant_power_gives_power_times_time(
    steps_s: list[float], power_w: float, means: bool
) -> None:
    """However the samples lie, a constant power over a window is exactly power times length."""
    times = list(accumulate(steps_s))
    samples = [
        Sample(at_s, power_w, span_s=step_s if means else 0.0)
        for at_s, step_s in zip(times, steps_s, strict=True)
    ]
    begin_s, end_s = times[0] / 2 + times[-1] / 4, times[-1] * 0.9
    if end_s <= begin_s:
        return
    found = integral([Sample(-0.1, power_w), *samples], begin_s, end_s)
    assert found.energy_ws == pytest.approx(power_w * (end_s - begin_s), abs=1e-9)
    assert found.complete


@given(steps, st.data())
def test_two_windows_add_up_to_the_whole(steps_s: list[float], data: st.DataObject) -> None:
    """The energies of two windows that touch add up to that of both."""
    times = list(accumulate(steps_s, initial=0.0))
    samples = [
        Sample(at_s, data.draw(watts), span_s=data.draw(st.sampled_from([0.0, 0.3])))
        for at_s in times
    ]
    cut_s = data.draw(st.floats(0, times[-1]))
    left, right, whole = (
        integral(samples, begin_s, end_s).energy_ws
        for begin_s, end_s in ((0, cut_s), (cut_s, times[-1]), (0, times[-1]))
    )
    assert left + right == pytest.approx(whole, abs=1e-7)


def test_a_trapezoid_between_moments() -> None:
    """Between samples of moments the power goes straight, and the window cuts it."""
    ramp = [Sample(0, 0), Sample(2, 8)]
    assert integral(ramp, 0, 2).energy_ws == pytest.approx(8)
    assert integral(ramp, 1, 2).energy_ws == pytest.approx(6)
    assert integral(ramp, 0.5, 1).energy_ws == pytest.approx((2 + 4) / 2 * 0.5)


def test_a_sum_of_means() -> None:
    """A mean counts for its span alone, however the powers around it go."""
    means = [Sample(0, 99), Sample(1, 2, span_s=1), Sample(3, 5, span_s=2)]
    assert integral(means, 0, 3).energy_ws == pytest.approx(2 + 10)
    assert integral(means, 0.5, 2).energy_ws == pytest.approx(1 + 5)


def test_spans_that_overlap_count_once() -> None:
    """A mean that reaches back over the sample before counts from there on."""
    assert (
        integral([Sample(0, 1), Sample(1, 4, span_s=1), Sample(2, 4, span_s=1.5)], 0, 2).energy_ws
        == 8
    )


def test_a_gap_is_counted_and_told() -> None:
    """A time longer than the longest gap counts by a straight line, and as unseen."""
    found = integral([Sample(0, 4), Sample(2, 4), Sample(5, 10)], 0, 5)
    assert found.energy_ws == pytest.approx(8 + 21)
    assert found.unseen_s == pytest.approx(3)
    assert integral([Sample(0, 4), Sample(5, 10)], 1, 3).unseen_s == pytest.approx(2)


def test_an_update_has_the_mean_and_the_energy_of_its_end() -> None:
    """Each whole interval from the begin on has its mean power and the energy up to its end."""
    made = integral([Sample(10, 2)], 10.5)
    made.add(Sample(11, 2, 230, 1))
    assert made.update is None
    made.add(Sample(12, 6, 232, 3))
    assert made.update is not None
    assert (made.update.number, made.update.energy_ws) == (1, pytest.approx(1 + 1.5))
    assert made.update.power_w == pytest.approx(2.5)
    assert (made.update.voltage_v, made.update.current_a) == (231, 2)
    made.add(Sample(20, 6))
    assert (made.update.number, made.update.power_w) == (9, pytest.approx(6))


def test_updates_of_a_long_run_do_not_drift() -> None:
    """After a hundred thousand updates of 0.1 s an update still ends at its instant."""
    made = integral([Sample(0, 1)], 0, interval_s=0.1)
    made.add(Sample(10_000, 1, span_s=10_000))
    assert made.update is not None
    assert made.update.number == 100_000
    assert made.update.energy_ws == pytest.approx(10_000, rel=1e-9)


def test_a_window_without_a_sample_before_it() -> None:
    """What lies between the begin and the first sample takes its power, and nobody saw it."""
    found = integral([Sample(3, 5), Sample(4, 5)], 0, 4)
    assert (found.energy_ws, found.unseen_s) == (pytest.approx(20), pytest.approx(3))


def test_a_missing_end_is_held() -> None:
    """Without a sample at the end the last power goes on to it, unseen."""
    found = integral([Sample(0, 5), Sample(1, 5)], 0, 3)
    assert not found.complete
    found.hold()
    assert found.complete
    assert (found.energy_ws, found.unseen_s) == (pytest.approx(15), pytest.approx(2))


def test_a_sample_out_of_order_is_left_out() -> None:
    """A sample that is not later than the one before changes nothing."""
    found = integral([Sample(0, 1), Sample(2, 1)], 0)
    found.add(Sample(1, 99))
    found.add(Sample(2, 99))
    assert found.energy_ws == 2
