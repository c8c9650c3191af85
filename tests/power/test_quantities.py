# SPDX-License-Identifier: Apache-2.0
"""Chosen quantities: their names, and their way from the meter into a log and out of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import power
from power.bench.recorder import Recorder
from power.emulator.profile import constant
from power.emulator.waveform import parse_waveform
from power.errors import MeterRefused
from power.logs.power_log import read_power_log
from power.meter import MeterSettings
from power.quantities import item_of, parse_quantities, unit_of
from power.readings import Readings
from power.values import (
    reading_from_json,
    reading_to_json,
    settings_from_json,
    settings_to_json,
)
from power.wt310 import output

SETTINGS = MeterSettings(
    timer_s=3,
    update_interval_s=0.5,
    voltage_range_v=150.0,
    current_range_a=0.1,
    quantities=("S", "Q", "UTHD", "ITHD", "IK3"),
)


def test_names_are_the_manual_s() -> None:
    """Any case, each once; what is in each reading is left out, and the order is kept."""
    assert ("S", "Q", "UTHD", "UK3") == parse_quantities("P, S,q,LAMBDA,UTHD,S,uk3")
    assert ("VA", "%", "V", None) == tuple(map(unit_of, ("S", "ITHD", "UK50", "UK51")))
    assert ("S,1", "UK,SIGMa,3") == (item_of("S", "1"), item_of("UK3", "SIGMa"))


@pytest.mark.parametrize("text", ["", "X", "UK0", "UK051", "P1", "S;Q"])
def test_another_name_is_refused(text: str) -> None:
    """The sentence lists what there is."""
    with pytest.raises(ValueError, match=r"no quantity of the meter\. Choose from AH, "):
        parse_quantities(text)


def test_too_many_are_refused() -> None:
    """Each makes a reply longer."""
    with pytest.raises(ValueError, match="21 quantities are too many"):
        parse_quantities(",".join(f"UK{order}" for order in range(1, 22)))


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_quantities_reach_the_log(
    make_bench: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    """Apparent and reactive power, distortion and one harmonic are those of the load."""
    waveform = parse_waveform("1:1:0,3:0.6:20")
    bench = make_bench(constant(5.0), None, "", current_waveform=waveform)
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    recording = recorder.record(SETTINGS, tmp_path / name)
    assert SETTINGS == recording.settings
    rows = read_power_log(tmp_path / name)
    assert [row.quantities for row in recording.readings] == [row.quantities for row in rows]
    row = rows[-3]
    assert row.quantities["S"] == pytest.approx(row.voltage_v * row.current_a, rel=1e-3)  # type: ignore[operator]
    assert row.quantities["ITHD"] == pytest.approx(100 * 0.6 / (1 + 0.36) ** 0.5, rel=1e-3)
    assert row.quantities["IK3"] == pytest.approx(0.6 * 5 / 120, rel=1e-2)
    columns = power.read_columns(tmp_path / name)
    assert row.quantities["IK3"] == columns["item_IK3"][-3]
    assert Readings([row])[0] == row == reading_from_json(reading_to_json(row))
    assert SETTINGS == settings_from_json(settings_to_json(SETTINGS))


def test_a_meter_without_harmonics_is_refused_by_name(
    make_bench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentence names the quantity, and the option that has it."""
    bench = make_bench()
    monkeypatch.setattr(
        output, "item_of", lambda name, element: "NOSUCH" if name == "UTHD" else f"{name},{element}"
    )
    with pytest.raises(MeterRefused, match="does not show UTHD.*option G5"):
        bench.meter.prepare(SETTINGS)
