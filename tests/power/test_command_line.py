# SPDX-License-Identifier: Apache-2.0
"""`python -m power`: output, exit codes, and help."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.emulator.instrument import serial_at
from power.logs.power_log import read_power_log
from tests.support.fakes import eventually

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.slow


def test_identify(run_power: Run, emulator: Any) -> None:
    """`identify` prints maker, model, serial and firmware, as text and as JSON."""
    done = run_power("identify", emulator.resource)
    serial = serial_at(emulator.resource)
    assert (0, f"YOKOGAWA WT310 {serial} firmware F1.03\n") == (done.returncode, done.stdout)
    done = run_power("identify", emulator.resource, "--json")
    assert "WT310" == json.loads(done.stdout)["model"]


def test_read(run_power: Run, emulator: Any) -> None:
    """`read` prints one JSON object for each reading."""
    done = run_power("read", emulator.resource, "--count", "8", "--interval", "0.3", "--json")
    assert 0 == done.returncode, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert 8 == len(rows)
    # A meter that was just switched on has no values before its first update.
    assert [5.0] * 3 == [row["power_w"] for row in rows[-3:]]
    assert {"RESET"} == {row["state"] for row in rows}


def test_read_follows_the_meter_until_an_interrupt(emulator: Any) -> None:
    """Each reading is a line of JSON as it comes; Ctrl-C is a good end."""
    options = ("--follow", "--json", "--interval", "0.1")
    with subprocess.Popen(
        [sys.executable, "-m", "power", "read", emulator.resource, *options],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        rows = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=180)
        assert (0, "") == (process.returncode, errors)
    assert [5.0] * 3 == [row["power_w"] for row in rows]
    assert sorted(row["monotonic_s"] for row in rows) == [row["monotonic_s"] for row in rows]


def test_record(run_power: Run, start_emulator: Callable[..., Any], tmp_path: Path) -> None:
    """`record` writes the log and the right energy; it may note lost readings on a busy machine."""
    emulator = start_emulator("--steps", "0:4,1:8", "--model", "WT310E")
    log = tmp_path / "log.csv"
    options = ("--seconds", "2", "--update", "0.1", "--volts", "150", "--amps", "0.1")
    done = run_power("record", emulator.resource, *options, "--out", str(log), "--json")
    assert 0 == done.returncode, done.stderr
    result = json.loads(done.stdout)
    assert result["verdict"] in ("VALID", "SUSPECT"), result["findings"]
    assert 12 / 3600 == pytest.approx(result["energy_wh"], rel=1e-5)
    assert "WT310E" == result["identity"]["model"]
    assert "" == done.stderr, "there is no progress bar in a pipe"
    rows = read_power_log(log)
    assert rows[-1].energy_wh == result["energy_wh"]


def test_record_names_rescue_when_somebody_ends_its_run(
    run_power: Run, start_emulator: Callable[..., Any], tmp_path: Path
) -> None:
    """A STOP at the panel leaves a verdict, and whoever starts it again learns how to fetch it."""
    (tmp_path / "keys").write_text("start+1 panel key=STOP\n")
    emulator = start_emulator("--schedule", str(tmp_path / "keys"))
    options = ("--seconds", "300", "--update", "0.1", "--volts", "150", "--amps", "0.1")
    done = run_power("record", emulator.resource, *options, "--out", str(tmp_path / "log.csv"))
    assert 1 == done.returncode
    assert "(INVALID)" in done.stdout
    assert f"python -m power rescue {emulator.resource}" in done.stderr


def test_progress_on_a_terminal(start_emulator: Callable[..., Any], tmp_path: Path) -> None:
    """A bar counts the seconds and shows the newest power and energy."""
    emulator = start_emulator()
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    with subprocess.Popen(
        [sys.executable, "-m", "power", "record", emulator.resource, "--seconds", "1"]
        + [
            "--update",
            "0.1",
            "--volts",
            "150",
            "--amps",
            "0.1",
            "--out",
            str(tmp_path / "log.csv"),
        ],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                shown += part
        assert 0 == process.wait(timeout=180)
    os.close(ours)
    text = shown.decode()
    assert "1.0 of 1 s" in text
    assert "s left" in text
    assert 1 == text.count("\n"), "the line is rewritten in place"
    assert "5 W, 0.00138889 Wh" in text


def test_record_does_not_overwrite(run_power: Run, emulator: Any, tmp_path: Path) -> None:
    """`record` refuses an existing log before it touches the meter."""
    log = tmp_path / "log.csv"
    log.write_text("precious")
    done = run_power("record", emulator.resource, "--out", str(log))
    assert 2 == done.returncode
    assert "already exists" in done.stderr
    assert "precious" == log.read_text()


def test_a_meter_that_does_not_answer_is_exit_code_1(run_power: Run) -> None:
    """A silent meter gives exit code 1, one sentence on stderr, and nothing on stdout."""
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
        ("emulate", "--fault", "fire"),
        ("record", "X"),
        ("record", "X", "--out", "/tmp/x.csv", "--seconds", "0"),
        ("record", "X", "--out", "/tmp/x.csv", "--seconds", "36000001"),
        ("record", "X", "--out", "/tmp/x.csv", "--update", "0.3"),
        ("record", "X", "--out", "/tmp/x.csv", "--update", "nan"),
        ("record", "X", "--out", "/tmp/x.csv", "--volts", "17"),
        ("record", "X", "--out", "/tmp/x.csv", "--timeout", "inf"),
        ("identify", "X", "--timeout", "0"),
        ("read", "X", "--count", "0"),
        ("selftest", "X", "--seconds", "0"),
        ("audit", "/nonexistent.csv"),
        ("fault", "nowhere", "silent"),
        ("fly",),
    ],
)
def test_wrong_use_is_exit_code_2(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong arguments give exit code 2 and a sentence, before any meter is asked."""
    assert 2 == run_here(*arguments)
    assert capsys.readouterr().err


def test_a_mistyped_wire_log_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wire log that cannot be opened is refused before the meter is touched."""
    path = tmp_path / "no" / "meter.jsonl"
    assert 2 == main(["read", "TCPIP::127.0.0.1,9::inst0::INSTR", "--wire-log", str(path)])
    assert str(path) in capsys.readouterr().err


def test_wrong_use_of_the_process(run_power: Run) -> None:
    """The exit code of wrong use reaches the shell."""
    done = run_power("fly")
    assert 2 == done.returncode
    assert "Traceback" not in done.stderr


def run_here(*arguments: str) -> int:
    """Run a command in this process and return its exit code."""
    try:
        return main(arguments)
    except SystemExit as wrong:
        return int(str(wrong.code))


@pytest.mark.parametrize(
    "command",
    "list identify selftest range read record rescue audit plot emulate fault".split(),
)
def test_help_of_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command's help has more than the names of its options."""
    assert 0 == run_here(command, "--help")
    assert len(capsys.readouterr().out) > 300


def test_range(run_power: Run, start_emulator: Callable[..., Any]) -> None:
    """`range` proposes 150 V and 100 mA for a device of 8 to 9 W at 120 V."""
    emulator = start_emulator("--bursts", "8,9,0.8,0.5")
    done = run_power("range", emulator.resource, "--seconds", "2", "--json")
    assert 0 == done.returncode, done.stderr
    told = json.loads(done.stdout)
    assert told["readings"] > told["readings_without_values"]
    first = told["choices"][0]
    assert 150.0 == first["voltage_range_v"]
    assert 0.1 == first["current_range_a"]


@pytest.mark.slow
def test_range_answers_for_a_load_that_pulses(
    run_power: Run, start_emulator: Callable[..., Any]
) -> None:
    """Auto-range never settles on 1 and 8 W; on fixed ranges `range` sees the peaks of both."""
    emulator = start_emulator("--bursts", "1,8,2,0.5")
    done = run_power("range", emulator.resource, "--seconds", "4", "--json")
    assert 0 == done.returncode, done.stderr
    told = json.loads(done.stdout)
    assert told["readings_without_values"] > 0
    assert told["readings_on_fixed_ranges"] > 0
    assert pytest.approx(8 / 120 * 2**0.5, rel=1e-3) == told["seen"]["current_peak_a"]
    assert (1.0, 8.0) == pytest.approx(
        (told["seen"]["least_power_w"], told["seen"]["most_power_w"]), rel=1e-3
    )
    assert 0.1 == told["choices"][0]["current_range_a"]
    assert "watching again on fixed ranges" in done.stderr


def test_selftest(run_power: Run, start_emulator: Callable[..., Any]) -> None:
    """`selftest` passes the emulated meter."""
    done = run_power("selftest", start_emulator().resource, "--seconds", "1", "--json")
    outcomes = {check["name"]: check["outcome"] for check in json.loads(done.stdout)["checks"]}
    assert 0 == done.returncode, done.stdout
    assert "FAIL" not in outcomes.values()
    assert "OK" == outcomes["integration"]


def test_audit_and_plot(run_power: Run, start_emulator: Callable[..., Any], tmp_path: Path) -> None:
    """A recorded log gets the same verdict in an audit, and can be drawn."""
    log = tmp_path / "log.csv"
    options = ("--seconds", "1", "--update", "0.1", "--volts", "150", "--amps", "0.1", "--quiet")
    done = run_power("record", start_emulator().resource, *options, "--out", str(log), "--json")
    recorded = json.loads(done.stdout)
    judged = json.loads(run_power("audit", str(log), "--json").stdout)
    assert recorded["energy_wh"] == judged["energy_wh"]
    assert recorded["verdict"] == judged["verdict"]
    for suffix in ("html", "svg", "png"):
        out = tmp_path / f"log.{suffix}"
        assert 0 == run_power("plot", str(log), "-o", str(out)).returncode
        assert out.stat().st_size > 1000
    assert 2 == run_power("plot", str(log), "-o", str(tmp_path / "log.pdf")).returncode


def test_an_official_run_needs_fixed_ranges(run_power: Run, tmp_path: Path) -> None:
    """`--official` refuses auto-range before it touches the meter, unless a reason is given."""
    done = run_power("record", "X", "--official", "--out", str(tmp_path / "log.csv"))
    assert 2 == done.returncode
    assert "python -m power range" in done.stderr


def test_an_official_run_is_refused_above_one_percent(
    run_power: Run, start_emulator: Callable[..., Any], tmp_path: Path
) -> None:
    """`--official` refuses an uncertainty above 1 %, unless a reason is given."""
    resource = start_emulator("--watts", "5").resource
    options = ("--seconds", "1", "--update", "0.25", "--volts", "600", "--amps", "1", "--official")
    refused, told = tmp_path / "refused.csv", tmp_path / "told.csv"
    done = run_power("record", resource, *options, "--out", str(refused), "--json")
    result = json.loads(done.stdout)
    codes = {finding["code"] for finding in result["findings"]}
    assert (1, "SUSPECT") == (done.returncode, result["verdict"])
    assert {"spec_1_percent", "official_bound"} <= codes
    assert {"ambient_c": "not recorded", "calibrated": "not recorded"} == result["conditions"]
    reason = ("--above-1-percent", "no smaller range", "--ambient-c", "22", "--json")
    done = run_power("record", resource, *options, *reason, "--out", str(told))
    result = json.loads(done.stdout)
    codes = {finding["code"] for finding in result["findings"]}
    assert 0 == done.returncode, result["findings"]
    assert "official_bound" not in codes
    assert "above_1_percent_reason" in codes
    judged = json.loads(run_power("audit", str(told), "--json").stdout)
    for name in ("verdict", "uncertainty_wh", "conditions", "budget_wh"):
        assert result[name] == judged[name], name


def test_a_direct_current_meter_is_advised(
    run_power: Run, start_emulator: Callable[..., Any]
) -> None:
    """A supply of 5 V and 2 A gets 15 V and 2 A, with ± 0.70 %; text has no `inf`."""
    emulator = start_emulator("--watts", "10", "--volts", "5", "--hertz", "0", "--model", "WT310E")
    done = run_power("range", emulator.resource, "--seconds", "2")
    assert "propose  --volts 15 --amps 2   ± 0.07 W (0.70 % of the mean power)" in done.stdout
    assert "--volts 15 --amps 5   ± 0.16 W (1.60 % of the mean power, SPEC asks" in done.stdout
    idle = start_emulator("--watts", "0")
    done = run_power("range", idle.resource, "--seconds", "1")
    assert "inf" not in done.stdout
    assert "the device drew no power" in done.stdout


def test_a_fault_by_hand(run_power: Run, tmp_path: Path) -> None:
    """The control port takes faults and tells the true energy."""
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "power", "emulate", "--control", "0", "--fault", "silent"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stderr is not None
        address = process.stderr.readline().split()[1]
        process.stdout.readline()
        done = run_power("fault", address, "off", "panel key=START", "status")
        assert 0 == done.returncode, done.stderr
        ok, again, status = done.stdout.splitlines()
        assert ("ok", "ok") == (ok, again)
        assert "START" == json.loads(status)["state"]
        assert 2 == run_power("fault", address, "fire").returncode
        done = run_power("fault", address, "panel key=SELF_DESTRUCT")
        assert (1, "error: there is no key") == (done.returncode, done.stderr[:22])
    finally:
        process.terminate()
        process.communicate(timeout=180)


def test_a_broken_schedule_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error for a malformed schedule names file and line."""
    path = tmp_path / "disaster.txt"
    path.write_text("1 silent\nsoon unplug\n")
    assert 2 == run_here("emulate", "--schedule", str(path))
    assert "disaster.txt, line 2" in capsys.readouterr().err


def test_a_killed_recorder_loses_no_row_and_no_integration(
    start_emulator: Callable[..., Any], run_power: Run, tmp_path: Path
) -> None:
    """After kill -9 the log and its facts are readable, and the meter's run ends by itself."""
    emulator = start_emulator()
    log = tmp_path / "log.csv"
    process = subprocess.Popen(
        [sys.executable, "-m", "power", "record", emulator.resource, "--seconds", "3"]
        + ["--update", "0.1", "--volts", "150", "--amps", "0.1", "--out", str(log)],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: log.exists() and log.read_text().count("\n") > 5)
    seen = log.read_text()
    process.kill()
    process.communicate()
    rows = read_power_log(log)
    assert len(rows) >= 5
    assert log.read_text().startswith(seen)
    assert 3 == json.loads(log.with_suffix(".json").read_text())["settings"]["timer_s"]
    # The killed process's connection is closed, and the run goes on to its timer's end.
    deadline_s = time.monotonic() + 180
    state = "START"
    while state == "START" and time.monotonic() < deadline_s:
        done = run_power("read", emulator.resource, "--json")
        state = json.loads(done.stdout)["state"]
    reading = json.loads(done.stdout)
    assert ("TIMEUP", 3.0) == (state, reading["integration_s"])
    assert 15 / 3600 == pytest.approx(reading["energy_wh"], rel=1e-5)
