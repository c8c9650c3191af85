# SPDX-License-Identifier: Apache-2.0
"""Readings as columns: the same in every bit, and small."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from power.bench.recorder import Recorder
from power.energy.judge import RunFacts, judge_run
from power.logs.audit import audit
from power.logs.facts_file import save_facts
from power.logs.power_log import PowerLog, read_power_log
from power.meter import ElementValues, IntegrationState, MeterFlag, MeterSettings, Reading
from power.readings import Readings

Make = Callable[..., Reading]

# Twelve columns of eight bytes, and what an array keeps for its growth.
MOST_BYTES_OF_A_READING = 150


def grown_bytes(job: Callable[[], object]) -> int:
    """Return the most memory that a job took at a time."""
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def odd_readings(make_reading: Make) -> list[Reading]:
    """Return readings of which each has something that the others lack."""
    east = timezone(timedelta(hours=9))
    return [
        make_reading(1.0, state=IntegrationState.RESET),
        make_reading(2.0, power_w=None, absent={"power_w": "over range"}),
        make_reading(3.0, flags=frozenset({MeterFlag.OVER_RANGE}), energy_wh=float("inf")),
        make_reading(0.1 + 0.2, utc=datetime(2026, 1, 1, 9, 0, 0, 7, tzinfo=east)),
        make_reading(5.0, utc=datetime(2026, 1, 1)),
        make_reading(6.0, voltage_range_v=None, power_factor=0.5, frequency_hz=None),
        make_reading(7.0, elements=(ElementValues(1, 4.0, None), ElementValues(3, None, -0.1))),
        make_reading(8.0, elements=(ElementValues(2, 1.0, 2.0),), voltage_peak_v=169.7),
        make_reading(9.0),
    ]


def test_a_reading_comes_back_as_it_was(odd_readings: list[Reading]) -> None:
    """Columns keep reasons, flags, ranges, elements, time zones and each bit of a number."""
    kept = Readings(odd_readings)
    assert odd_readings == list(kept)
    assert [row.utc.tzinfo for row in odd_readings] == [row.utc.tzinfo for row in kept]
    assert (kept[-1], kept[1:3]) == (odd_readings[-1], odd_readings[1:3])
    assert kept == odd_readings and kept != odd_readings[:-1]
    with pytest.raises(IndexError):
        kept[len(odd_readings)]


def test_a_copy_does_not_grow(odd_readings: list[Reading], make_reading: Make) -> None:
    """Who judges a run that goes on has the readings of one moment."""
    kept = Readings(odd_readings)
    twin = kept.copy()
    twin.columns()
    kept.append(make_reading(10.0, elements=(ElementValues(1, 5.0, 5.0),)))
    assert odd_readings == list(twin)
    assert 10.0 == kept[-1].monotonic_s


def test_the_end_gets_flags_and_ranges(odd_readings: list[Reading]) -> None:
    """What a log has no columns for joins the last reading, and no other one."""
    last = replace(odd_readings[-1], flags=frozenset({MeterFlag.SCALING}), current_range_a=2.0)
    kept = Readings(odd_readings)
    assert [*odd_readings[:-1], last] == list(kept.ending_with(last))
    assert odd_readings == list(kept)


def test_chosen_readings_have_their_own_values(odd_readings: list[Reading]) -> None:
    """A choice among chosen readings, with and without holes, keeps to its places."""
    rows = Readings(odd_readings).columns(1)
    late = rows.where(rows.numbers("monotonic_s") > 4.0)
    assert [5.0, 6.0, 7.0, 8.0, 9.0] == late.numbers("monotonic_s").tolist()
    peaked = late.where(late.having(lambda kind: "voltage_peak_v" not in kind.none))
    assert [8.0] == peaked.numbers("monotonic_s").tolist()
    holed = rows.where(rows.numbers("monotonic_s") != 6.0)
    assert odd_readings[7] == holed.reading(5)
    assert odd_readings[7] == holed.where(holed.numbers("monotonic_s") > 7.0).reading(0)
    assert [4.0] == holed.where(holed.numbers("monotonic_s") == 7.0).element(1, "power_w").tolist()


def test_the_judge_takes_a_list_and_columns_alike(
    make_reading: Make, fixed_settings: MeterSettings
) -> None:
    """A verdict does not depend on how the readings are kept."""
    rows = [make_reading(at / 2, power_w=5.0 + at) for at in range(40)]
    facts = RunFacts(None, fixed_settings, 10.0, flags=frozenset({MeterFlag.UNCHECKED}))
    assert judge_run(rows, facts) == judge_run(Readings(rows), facts)


@pytest.mark.slow
def test_a_long_log_is_judged_in_little_memory(
    tmp_path: Path, make_reading: Make, fixed_settings: MeterSettings
) -> None:
    """Each reading of a log takes its numbers, and not ten times as much as objects."""
    path, rows = tmp_path / "log.csv", 20_000
    with PowerLog(path) as log:
        for at in range(rows):
            log.add(make_reading(float(at), power_w=5.0 + at / 7, power_factor=at / rows))
    save_facts(path, RunFacts(None, fixed_settings, float(rows)))
    audit(path)  # what is imported and cached at the first call is no part of it
    assert grown_bytes(lambda: read_power_log(path)) < rows * MOST_BYTES_OF_A_READING + 200_000
    # The judge works on a few columns at a time.
    assert grown_bytes(lambda: audit(path)) < 2 * rows * MOST_BYTES_OF_A_READING + 4_000_000


def test_a_recorder_keeps_columns(
    make_bench: Callable[..., Any], tmp_path: Path, fixed_settings: MeterSettings
) -> None:
    """A recording of days fits into the memory of a small computer."""
    bench = make_bench()
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    recording = recorder.record(fixed_settings, tmp_path / "log.csv")
    assert isinstance(recording.readings, Readings)
    assert len(recording.readings) == len(read_power_log(tmp_path / "log.csv"))
