# SPDX-License-Identifier: Apache-2.0
"""A power log as columns: numpy arrays and a DataFrame, from logs that the recorder wrote."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import power
from power.bench.recorder import Recorder
from power.cli import main
from power.energy.judge import RunFacts
from power.logs.facts_file import facts_path, save_facts
from power.logs.power_log import ALL_COLUMNS, PowerLog
from power.meter import MEASURED, QUALITIES, ElementValues, MeterSettings, Reading

SETTINGS = MeterSettings(
    timer_s=8, update_interval_s=0.5, voltage_range_v=150.0, current_range_a=0.1
)


@pytest.fixture(scope="module", autouse=True)
def pandas() -> Any:
    """Return pandas, which an extra brings; workers without these tests need not load it."""
    return pytest.importorskip("pandas", reason="needs the extra [pandas]")


@pytest.fixture(params=["run.csv", "run.jsonl"])
def log(request: pytest.FixtureRequest, make_bench: Callable[..., Any], tmp_path: Path) -> Path:
    """Return a log of 8 s at 5 W with a second without a link, and its facts beside it."""
    bench = make_bench(schedule="start+3 unplug seconds=1")
    path = tmp_path / str(request.param)
    recorder = Recorder(bench.meter, clock=bench.time.clock, sleep=bench.time.sleep)
    recording = recorder.record(SETTINGS, path)
    facts = RunFacts(recording.identity, SETTINGS)
    save_facts(path, facts.ended(recording.result.session_s, recording.readings[-1]))
    return path


def test_a_log_is_a_typed_frame(log: Path) -> None:
    """Each column has its type, and the numbers are those of the run."""
    frame = power.read_log(log)
    assert list(ALL_COLUMNS) == list(frame.columns)
    numbers = {*ALL_COLUMNS} - {"utc", "state"}
    assert {np.dtype(np.float64)} == {frame[name].dtype for name in numbers}
    assert "UTC" == str(frame["utc"].dt.tz)
    assert ["START", "TIMEUP"] == sorted(frame["state"].unique())
    assert frame["elapsed_s"].is_monotonic_increasing
    assert [5.0] == frame["power_w"].unique().tolist()
    assert 5.0 * 8 / 3600 == pytest.approx(frame["energy_wh"].iloc[-1], rel=1e-5)
    assert (0.0 < frame["uncertainty_w"]).all()
    apart_s = frame["utc"].diff().dt.total_seconds().dropna()
    assert apart_s.to_numpy() == pytest.approx(np.diff(frame["elapsed_s"]), abs=0.002)


def test_the_frame_says_how_far_the_energy_can_be_trusted(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The attributes are plain values, and the verdict is that of `audit`."""
    attributes = power.read_log(log).attrs
    assert 0 == main(["audit", str(log), "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert json.loads(json.dumps(attributes["result"])) == {
        name: printed[name] for name in attributes["result"]
    }
    assert ("VALID", "recorded") == (attributes["verdict"], attributes["facts"])
    assert ["gap"] == [finding["code"] for finding in attributes["findings"]]
    assert attributes["uncertainty_wh"] == printed["uncertainty_wh"]
    assert 150.0 == attributes["settings"]["voltage_range_v"]
    assert "WT310" == attributes["identity"]["model"]
    assert {"elapsed_s", *MEASURED, *QUALITIES} <= attributes["units"].keys()


def test_a_copy_of_the_frame_keeps_its_attributes(log: Path) -> None:
    """A selection of rows still says what the units are."""
    frame = power.read_log(log)
    assert frame.attrs == frame[frame["power_w"] > 1].attrs


def test_a_log_without_its_facts_has_no_limit_of_error(log: Path) -> None:
    """Without the file beside it the verdict is SUSPECT and no power has a limit."""
    facts_path(log).unlink()
    frame = power.read_log(log)
    assert ("SUSPECT", "guessed", None) == (
        *(frame.attrs["verdict"], frame.attrs["facts"], frame.attrs["identity"]),
    )
    assert frame["uncertainty_w"].isna().all()


def test_the_arrays_are_those_of_the_frame(log: Path) -> None:
    """Who has no pandas gets the same columns as numpy arrays."""
    columns, frame = power.read_columns(log), power.read_log(log)
    assert list(frame.columns) == list(columns)
    assert np.issubdtype(columns["utc"].dtype, np.datetime64)
    assert frame["state"].tolist() == columns["state"].tolist()
    for name in set(columns) - {"utc", "state"}:
        assert np.array_equal(frame[name], columns[name], equal_nan=True), name


def test_what_the_meter_had_no_number_for_is_nan(
    tmp_path: Path, make_reading: Callable[..., Reading]
) -> None:
    """A missing power is NaN and no zero, and the elements of a sum have columns."""
    with PowerLog(tmp_path / "log.csv", elements=True) as log:
        log.add(make_reading(1.0, power_w=None, absent={"power_w": "no data"}))
        log.add(make_reading(2.0, elements=(ElementValues(2, 4.0, None),)))
    frame = power.read_log(tmp_path / "log.csv")
    assert [True, False] == frame["power_w"].isna().tolist()
    assert 4.0 == frame["element_2_power_w"][1]
    assert frame["element_2_energy_wh"].isna().all()
    assert "W" == frame.attrs["units"]["element_2_power_w"]


def test_a_log_without_a_row_is_an_empty_frame(tmp_path: Path) -> None:
    """A log that a killed program left before its first reading has columns and no energy."""
    with PowerLog(tmp_path / "log.csv"):
        pass
    frame = power.read_log(tmp_path / "log.csv")
    assert (0, "INVALID", None) == (len(frame), frame.attrs["verdict"], frame.attrs["energy_wh"])
    assert "float64" == str(frame["power_w"].dtype)
    assert "UTC" == str(frame["utc"].dt.tz)


def test_a_log_of_2015_is_a_frame(tmp_path: Path) -> None:
    """Five columns without a header are read too; they have no power factor."""
    (tmp_path / "old.csv").write_text("".join(f"120,0.05,6,{k / 600},{k}\n" for k in range(1, 4)))
    frame = power.read_log(tmp_path / "old.csv")
    assert [6.0] * 3 == frame["power_w"].tolist()
    assert frame["power_factor"].isna().all()


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "", '{"elapsed_s": 1}\n'])
def test_what_is_no_log_is_refused(tmp_path: Path, content: str) -> None:
    """The error names the file."""
    path = tmp_path / "other.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match="other.csv"):
        power.read_log(path)


def test_without_pandas_a_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the extra, and the function that needs no pandas."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"extra 'pandas'\). Or use power.read_columns"):
        power.read_log(tmp_path / "log.csv")
