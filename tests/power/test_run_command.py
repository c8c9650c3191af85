# SPDX-License-Identifier: Apache-2.0
"""`python -m power run`: a command between two idle times, on an emulated meter on the wire."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.commands.child import MeasuredCommand
from power.emulator.interpreter import Interpreter
from power.emulator.process import ControlServer
from power.emulator.vxi11 import Vxi11Server
from power.logs.audit import audit
from tests.support.fakes import eventually

ROOT = Path(__file__).parents[2]
OPTIONS = ("--update", "0.1", "--volts", "150", "--amps", "0.1", "--idle", "0.8")
# It lets the load take 3 W more for a second, and tells for how long.
WORK = """
import socket, sys, time
stream = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rw")
def load(watts):
    stream.write(f"load watts={watts}\\n"); stream.flush(); stream.readline()
    return time.monotonic()
begun = load(8)
time.sleep(1)
print(load(5) - begun)
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def meter(interpreter: Interpreter, tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Return the resource string of an emulated meter of 5 W, and the port that controls it."""
    guard = threading.Condition()
    server = Vxi11Server(interpreter, guard)
    with closing(server), closing(ControlServer(interpreter, guard, port=0)) as control:
        yield server.resource, control.port


def run_json(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    """Run the command in this process; return its exit status, its JSON and its standard error."""
    code = main(["run", *words])
    out, errors = capfd.readouterr()
    return code, json.loads(out), errors


def test_the_net_energy_of_a_known_step(
    meter: tuple[str, int],
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It lies within its ±; each of N gets its share; standard output is one object."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    resource, port = meter
    command = (sys.executable, "-S", "-c", WORK, str(port))
    code, found, errors = run_json(
        capfd, resource, *OPTIONS, "--count", "10", "--json", "--", *command
    )
    assert (0, 0) == (code, found["exit"]), found
    seconds = float(errors.splitlines()[-1])
    assert found["verdict"] in ("VALID", "SUSPECT"), found["findings"]
    assert abs(found["net_energy_wh"] - 3 * seconds / 3600) <= found["net_uncertainty_wh"]
    assert found["idle_w"] == pytest.approx(5.0)
    assert found["seconds"] >= seconds
    assert found["energy_wh"] == pytest.approx(
        found["net_energy_wh"] + 5.0 * found["seconds"] / 3600
    )
    assert 10 == found["count"]
    assert found["joules_each"] == pytest.approx(found["net_energy_wh"] * 360)
    assert None is found["log"]
    assert [] == list(tmp_path.glob("power-run-*")), "the readings were not asked for"


def test_the_exit_status_is_the_command_s_and_the_log_can_be_kept(
    meter: tuple[str, int], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A command that fails has an energy all the same, but none of each thing that it should do.

    Its text is for people, and the log is audited.
    """
    log = tmp_path / "log.csv"
    command = ("sh", "-c", "echo at work; exit 3")
    words = (*OPTIONS, "--count", "7", "--out", str(log))
    code = main(["run", meter[0], *words, "--", *command])
    out, errors = capfd.readouterr()
    assert 3 == code, out + errors
    assert "at work\n" in out
    assert "exit status 3; idle at 5 W" in out
    assert "each     none: with exit status 3 nobody knows how many of the 7" in out
    assert f"log      {log}" in out
    assert "idle     0.8 s, then the command" in errors
    judged = audit(log)
    assert "recorded" == judged.source
    assert "net_below_error" in [finding.code for finding in judged.result.findings]


def test_a_command_that_does_not_exist_touches_no_meter(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The name is looked up first, so a meter that is not there is not missed."""
    assert 2 == main(["run", "TCPIP::192.0.2.1::INSTR", "--", "no-such-command-here"])
    assert "no-such-command-here: no such command" in capfd.readouterr().err


def test_an_idle_time_shorter_than_three_updates_is_refused(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The sentence says how long it must be."""
    assert 2 == main(["run", "TCPIP::192.0.2.1::INSTR", "--idle", "2", "--", "true"])
    assert "give at least 3, or a shorter --update" in capfd.readouterr().err


def test_ctrl_c_goes_to_the_command_and_the_run_ends_properly(
    meter: tuple[str, int], tmp_path: Path
) -> None:
    """The command ends as it likes, the idle time after it is measured, and there is an energy."""
    trap = "trap 'echo caught >&2; exit 7' INT; echo begun >&2; while :; do sleep 0.05; done"
    with subprocess.Popen(
        [sys.executable, "-m", "power", "run", meter[0], *OPTIONS, "--json", "--count", "9"]
        + ["--", "sh", "-c", trap],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        while "begun" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=180)
    found = json.loads(out)
    assert (7, 7) == (process.returncode, found["exit"]), errors
    assert (9, None) == (found["count"], found["joules_each"])
    assert "caught" in errors
    assert None is not found["idle_after_w"]
    assert "idle_once" not in [finding["code"] for finding in found["findings"]]


def test_a_second_signal_kills_the_command(tmp_path: Path) -> None:
    """The first one is passed on; whoever insists ends the measurement, too."""
    deaf = tmp_path / "deaf"
    script = 'trap "" INT TERM; touch "$0"; while :; do sleep 0.05; done'
    child = MeasuredCommand(["sh", "-c", script, str(deaf)])
    child.launch()
    child.look()
    eventually(deaf.exists)
    assert child.take(signal.SIGTERM)
    assert not child.take(signal.SIGTERM)
    child.finish()
    assert 128 + signal.SIGKILL == child.exit
    eventually(lambda: child.ended_s is not None)


def test_a_signal_while_the_command_starts_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process runs before its number is known, and nobody must wait for it in vain."""
    child = MeasuredCommand(["sleep", "600"])
    start = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> Any:
        process = start(*arguments, **options)
        assert child.take(signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    child.launch()
    child.look()
    child.finish()
    assert 128 + signal.SIGTERM == child.exit


def test_a_signal_before_the_command_cancels_it() -> None:
    """Who ends the measurement in the idle time wants no command."""
    child = MeasuredCommand(["sleep", "600"])
    assert not child.take(signal.SIGINT)
    child.launch()
    child.look()
    assert (None, None) == (child.begun_s, child.exit)
    child.finish()


def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    """A command that the system refuses to start fails with its words."""
    (tmp_path / "data").write_bytes(b"\x7fELF, but not really")
    (tmp_path / "data").chmod(0o755)
    child = MeasuredCommand([str(tmp_path / "data")])
    child.launch()
    child.look()
    assert child.failed
    assert "could not be started" in child.trouble
