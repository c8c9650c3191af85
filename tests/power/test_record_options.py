# SPDX-License-Identifier: Apache-2.0
"""`python -m power record`: loads that give back, chosen quantities, runs without an end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.logs.power_log import read_power_log
from tests.support.fakes import eventually

ROOT = Path(__file__).parents[2]
RANGES = ("--update", "0.1", "--volts", "150", "--amps", "0.1")


@contextmanager
def recording_until_stopped(resource: str, log: Path) -> Iterator[subprocess.Popen[str]]:
    """Give a program that records without an end, once it has some readings."""
    with subprocess.Popen(
        [sys.executable, "-m", "power", "record", resource, *RANGES, "--until-stopped"]
        + ["--out", str(log), "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        eventually(lambda: log.exists() and log.read_bytes().count(b"START") > 5)
        yield process


@pytest.mark.slow
def test_a_bidirectional_run_tells_both_energies(
    start_emulator: Callable[..., Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What was taken and given are those of the load, each with its ±, and the log has them."""
    emulator = start_emulator("--steps", "0:6,1.3:-4")
    log = tmp_path / "log.csv"
    words = ("--seconds", "2", "--expect", "bidirectional", "--items", "P,S,UTHD")
    code = main(["record", emulator.resource, *RANGES, *words, "--out", str(log), "--json"])
    found = json.loads(capfd.readouterr().out)
    assert (0, found["verdict"] in ("VALID", "SUSPECT")) == (code, True), found["findings"]
    assert found["energy_positive_wh"] == pytest.approx(6 * 1.3 / 3600, rel=1e-4)
    assert found["energy_negative_wh"] == pytest.approx(-4 * 0.7 / 3600, rel=1e-4)
    assert 0 < found["uncertainty_positive_wh"] < 0.1 * found["energy_positive_wh"]
    assert 0 < found["uncertainty_negative_wh"] < -0.1 * found["energy_negative_wh"]
    assert ["WHP", "WHM", "AH", "S", "UTHD"] == list(read_power_log(log)[-1].quantities)
    assert 0 == main(["audit", str(log)])
    out = capfd.readouterr().out
    assert "taken    0.00216" in out
    assert "given    -0.00077" in out


@pytest.mark.slow
def test_a_log_is_packed_after_its_run(
    start_emulator: Callable[..., Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The output names the packed log, and its audit finds the energy of the run."""
    emulator, log = start_emulator(), tmp_path / "log.csv"
    words = ("--seconds", "1", "--gzip", "--json")
    assert 0 == main(["record", emulator.resource, *RANGES, *words, "--out", str(log)])
    out, err = capfd.readouterr()
    recorded = json.loads(out)
    assert f"{log}.gz" == recorded["log"]
    assert f"packed   {log}.gz" in err
    assert ["log.csv.gz", "log.json"] == sorted(path.name for path in tmp_path.glob("log*"))
    assert 0 == main(["audit", recorded["log"], "--json"])
    audited = json.loads(capfd.readouterr().out)
    assert recorded["energy_wh"] == audited["energy_wh"]
    assert 2 == main(["record", emulator.resource, "--out", recorded["log"]])
    assert f"would be a packed log, and the rows of a run are written plain: give {log}" in (
        capfd.readouterr().err
    )
    assert 2 == main(["record", emulator.resource, "--out", str(log)])
    assert "already exists" in capfd.readouterr().err


@pytest.mark.slow
def test_a_run_without_an_end_lasts_until_somebody_ends_it(
    start_emulator: Callable[..., Any], tmp_path: Path
) -> None:
    """Ctrl-C is its ordinary end, and the energy is judged."""
    emulator, log = start_emulator(), tmp_path / "log.csv"
    with recording_until_stopped(emulator.resource, log) as process:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=180)
    found = json.loads(out)
    assert 0 == process.returncode
    assert "STOP" == found["end_state"]
    assert 36_000_000 == found["settings"]["timer_s"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seconds", "1.5"), "whole seconds are counted: give 1 or 2"),
        (("--seconds", "0.5"), "is too short: give 1 s or more"),
        (("--seconds", "ten"), "is no duration: write it as 90, 90s, 10m or 1h30m"),
        (("--seconds", "5", "--until-stopped"), "not allowed with argument"),
        (("--items", "S,VOLTS"), "'VOLTS' is no quantity of the meter"),
    ],
)
def test_wrong_options_are_told_before_the_meter_is_touched(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence says what would be right."""
    with pytest.raises(SystemExit) as end:
        main(["record", "TCPIP::192.0.2.1::INSTR", "--out", str(tmp_path / "a.csv"), *words])
    assert 2 == end.value.code
    assert said in capsys.readouterr().err


def test_a_sampled_meter_has_power_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody integrates both directions of a plug."""
    words = ("--expect", "bidirectional", "--out", str(tmp_path / "a.csv"))
    assert 2 == main(["record", "shelly:192.0.2.7", *words])
    assert "leave --items and --expect out" in capsys.readouterr().err


@pytest.mark.slow
def test_another_program_marks_the_recording_that_runs(
    run_power: Callable[..., Any], start_emulator: Callable[..., Any], tmp_path: Path
) -> None:
    """Each phase has its mean power, in the result and in an audit of the log."""
    emulator, log = start_emulator(), tmp_path / "log.csv"
    with recording_until_stopped(emulator.resource, log) as process:
        done = run_power("mark", "warm", "--json")
        assert (0, "warm") == (done.returncode, json.loads(done.stdout)["text"]), done.stderr
        rows = log.read_bytes().count(b"START")
        eventually(lambda: log.read_bytes().count(b"START") > rows + 5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=180)
    found = json.loads(out)
    assert [None, "warm"] == [phase["text"] for phase in found["phases"]]
    for phase in found["phases"]:
        truth_wh = 5.0 * phase["seconds"] / 3600
        # On a busy machine the emulator carries START out some milliseconds after it was written.
        assert abs(phase["energy_wh"] - truth_wh) <= 2 * phase["uncertainty_wh"]
        assert 0 < phase["time_wh"] < phase["uncertainty_wh"]
        assert abs(phase["mean_power_w"] - 5.0) <= 0.01 + phase["mean_power_uncertainty_w"]
    together_s = sum(phase["seconds"] for phase in found["phases"])
    assert found["duration_s"] == pytest.approx(together_s)
    assert 0 < found["duration_uncertainty_s"] < 0.5
    assert abs(found["mean_power_w"] - 5.0) <= 0.001 + found["mean_power_uncertainty_w"]
    assert found["begun_utc"].endswith("+00:00")
    done = run_power("audit", str(log))
    assert "phase    warm: " in done.stdout
    assert " s of integration" in done.stdout
    audited = json.loads(run_power("audit", str(log), "--json").stdout)
    assert audited["mean_power_w"] == found["mean_power_w"]
    for again, phase in zip(audited["phases"], found["phases"], strict=True):
        # The times of a log have four decimals.
        assert again["energy_wh"] == pytest.approx(phase["energy_wh"], abs=1e-3 * 5 / 3600)
    done = run_power("mark", "late")
    assert (2, True) == (done.returncode, "no recording is running on this computer" in done.stderr)
