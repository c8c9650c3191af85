# SPDX-License-Identifier: Apache-2.0
"""Samples, their lines, and what is told of many."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from power.energy.uncertainty import Measuring, power_limit_w
from power.meter import Identity, MeterSettings, Reading
from power.ptd import samples
from power.ptd.measurement import PtdMeasurement
from power.ptd.protocol import Start
from power.ptd.samples import PtdSample, sample_of

WT310 = Identity("YOKOGAWA", "WT310", "EMU000000", "F1.03")
# The pattern by which power-dev's server finds its samples in the log.
LOGGED = re.compile(
    r"^Time,[^,]*,Watts,[^,]*,Volts,(?P<v>[^,]*),Amps,(?P<a>[^,]*),PF,[^,]*,Mark,(?P<mark>[^,]*)"
)


def sample(watts: float, share: float | None = 0.002, at: str = "t") -> PtdSample:
    """Return a sample with this power."""
    return PtdSample(at, "m", watts, 120.0, watts / 120, 1.0, share)


def test_times_have_the_months_first_and_milliseconds() -> None:
    """Clients read %m-%d-%Y %H:%M:%S.%f, in the zone of the process."""
    moment = datetime(2026, 1, 22, 15, 5, 14, 313_999, UTC)
    assert "01-22-2026 15:05:14.313" == samples.stamp(moment, UTC)
    assert "01-22-2026 17:05:14.313" == samples.stamp(moment, timezone(timedelta(hours=2)))


def test_a_reading_becomes_a_line_of_the_log(make_reading: Callable[..., Reading]) -> None:
    """The line has the form that power-dev looks for; the answer to RL is the same without mark."""
    reading = make_reading(1.0, power_w=22.97, voltage_v=227.37, current_a=0.20434)
    settings = MeterSettings(timer_s=0)
    made = sample_of(reading, Measuring(WT310, settings), "01-22-2026 15:05:14.313", "x_ranging")
    line = samples.log_line(made)
    assert (
        "Time,01-22-2026 15:05:14.313,Watts,22.970000,Volts,227.370000,Amps,0.204340,"
        "PF,-1.000000,Mark,x_ranging" == line
    )
    found = LOGGED.match(line)
    assert found is not None
    assert "x_ranging" == found["mark"]
    assert line == samples.answer_line(made) + ",Mark,x_ranging"


def test_the_uncertainty_of_a_sample_is_the_meters_limit_of_error(
    make_reading: Callable[..., Reading],
) -> None:
    """The share is that of the accuracy table, with the ranges that the reading names."""
    measuring = Measuring(WT310, MeterSettings(timer_s=0))
    reading = make_reading(1.0, power_w=6.0, power_factor=1.0, frequency_hz=60.0)
    limit_w = power_limit_w(reading, measuring)
    assert limit_w is not None
    share = sample_of(reading, measuring, "t", "m").share
    assert limit_w / 6.0 == share
    # IM WT310-02EN, page 7-7: 0.1 % of reading and 0.1 % of range, here 150 V times 0.1 A.
    assert share == pytest.approx((0.001 * 6.0 + 0.001 * 15.0) / 6.0, rel=0.01)
    for unknown in ({"power_w": 0.0}, {"power_w": None}, {"voltage_range_v": None}):
        assert sample_of(make_reading(1.0, **unknown), measuring, "t", "m").share is None


def test_a_value_that_is_missing_is_minus_one_and_has_a_sentence(
    make_reading: Callable[..., Reading],
) -> None:
    """The checker of power-dev knows the sentences by their beginning."""
    absent = {"power_w": "over range", "power_factor": "no data"}
    reading = make_reading(1.0, power_w=None, absent=absent)
    made = sample_of(reading, Measuring(WT310, MeterSettings(timer_s=0)), "t", "m")
    assert (-1.0, 120.0, -1.0) == (made.watts, made.volts, made.pf)
    assert [
        "Bad watts reading nan from WT310 (over range)",
        "Bad pf reading nan from WT310 (no data)",
    ] == samples.faults_of(reading, "WT310")


def test_totals_count_good_samples_alone() -> None:
    """Mean, least, most, samples, errors, good; without a good one the figures are -1."""
    some = [sample(4.0), sample(-1.0), sample(8.0), samples.missed("t", "m")]
    assert "Watts,6.000000,4.000000,8.000000,4,2,2" == samples.total_line("Watts", some)
    assert "Volts,120.000000,120.000000,120.000000,4,1,3" == samples.total_line("Volts", some)
    assert "Amps,-1.000000,-1.000000,-1.000000,0,0,0" == samples.total_line("Amps", [])


def test_uncertainty_counts_above_within_and_unknown() -> None:
    """1 % itself is within."""
    shares = (0.002, 0.01, 0.018, None)
    line = samples.uncertainty_line([sample(5.0, share) for share in shares])
    assert "Uncertainty,0.010000,0.002000,0.018000,4,1,2,1" == line
    assert "Uncertainty,-1.000000,-1.000000,-1.000000,0,0,0,0" == samples.uncertainty_line([])


def test_samples_are_read_once() -> None:
    """Unread samples are those after the newest that anybody has read."""
    run = PtdMeasurement(Start(1000, 0, "m"), 1.0)
    assert [] == run.take(None)
    for watts in (1.0, 2.0, 3.0):
        run.add(sample(watts))
    assert [] == run.take(4)
    assert [2.0, 3.0] == [one.watts for one in run.take(2)]
    assert [] == run.take(1)
    run.add(sample(4.0))
    assert [4.0] == [one.watts for one in run.take(None)]


def test_the_ramp_up_is_shown_but_does_not_count() -> None:
    """A timed measurement is full after its samples, and takes no more."""
    run = PtdMeasurement(Start(1000, 2, "m", samples=2), 1.0)
    assert "Starting timed measurement, 2 samples at 1000ms with 2 rampup samples" == run.describe()
    run.add(sample(1.0))
    assert run.newest == sample(1.0)
    for watts in (2.0, 3.0, 4.0, 5.0):
        run.add(sample(watts))
    assert [3.0, 4.0] == [one.watts for one in run.samples]
    assert run.full
