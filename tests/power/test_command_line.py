# SPDX-License-Identifier: Apache-2.0
"""`python -m power`: output, exit codes, and help."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.power_log import read_power_log

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.slow


def test_identify(run_power: Run, emulator: Any) -> None:
    """Maker, model, serial and firmware, as text and as JSON."""
    done = run_power("identify", emulator.resource)
    assert (0, "YOKOGAWA WT310 C2PH00000E firmware F1.03\n") == (done.returncode, done.stdout)
    done = run_power("identify", emulator.resource, "--json")
    assert "WT310" == json.loads(done.stdout)["model"]


def test_read(run_power: Run, emulator: Any) -> None:
    """One JSON object for each reading."""
    done = run_power("read", emulator.resource, "--count", "3", "--interval", "0.3", "--json")
    assert 0 == done.returncode, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [5.0] * 3 == [row["power_w"] for row in rows]
    assert {"RESET"} == {row["state"] for row in rows}


def test_record(run_power: Run, start_emulator: Callable[..., Any], tmp_path: Path) -> None:
    """The log is written, the energy right, and the verdict VALID."""
    emulator = start_emulator("--steps", "0:4,1:8", "--model", "WT310E")
    log = tmp_path / "log.csv"
    options = ("--seconds", "2", "--update", "0.1", "--volts", "150", "--amps", "0.1")
    done = run_power("record", emulator.resource, *options, "--out", str(log), "--json")
    assert 0 == done.returncode, done.stderr
    result = json.loads(done.stdout)
    assert "VALID" == result["verdict"]
    assert 12 / 3600 == pytest.approx(result["energy_wh"], rel=1e-5)
    assert "WT310E" == result["identity"]["model"]
    assert " W " in done.stderr
    rows = read_power_log(log)
    assert rows[-1].energy_wh == result["energy_wh"]


def test_record_does_not_overwrite(run_power: Run, emulator: Any, tmp_path: Path) -> None:
    """An existing log is wrong use, found before the meter is touched."""
    log = tmp_path / "log.csv"
    log.write_text("precious")
    done = run_power("record", emulator.resource, "--out", str(log))
    assert 2 == done.returncode
    assert "exists already" in done.stderr
    assert "precious" == log.read_text()


def test_a_meter_that_does_not_answer_is_exit_code_1(run_power: Run) -> None:
    """One sentence on stderr, nothing on stdout."""
    done = run_power("identify", "TCPIP::127.0.0.1,9::inst0::INSTR")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("error: TCPIP::127.0.0.1,9::inst0::INSTR cannot be opened")


@pytest.mark.parametrize(
    "arguments",
    [
        ("emulate", "--steps", "five"),
        ("emulate", "--watts", "nan"),
        ("emulate", "--volts", "0"),
        ("emulate", "--profile", "/nonexistent.csv"),
        ("emulate", "--model", "WT9000"),
        ("record", "X"),
        ("fly",),
        (),
    ],
)
def test_wrong_use_is_exit_code_2(run_power: Run, arguments: tuple[str, ...]) -> None:
    """Whatever is wrong with the arguments, there is a message and no traceback."""
    done = run_power(*arguments)
    assert 2 == done.returncode
    assert done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["identify", "read", "record", "emulate"])
def test_help_of_every_command(run_power: Run, command: str) -> None:
    """Help says more than the options' names."""
    done = run_power(command, "--help")
    assert 0 == done.returncode
    assert len(done.stdout) > 400
