# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and calls that hang: every command ends, and gives the panel back."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.commands.interrupt import Interrupt, Job, hanging, listening, raise_interrupt
from power.errors import MeterSilent
from power.logs.power_log import read_power_log
from tests.support.fakes import eventually

ROOT = Path(__file__).parents[2]
RANGES = ("--update", "0.1", "--volts", "150", "--amps", "0.1")
# Who wants the end waits for a meter for a fraction of a second. A busy machine may need longer
# for an answer, so where the meter must answer, the command has these bounds.
PATIENT = """
import sys
from power.cli import main
from power.commands import as_found, options
as_found._HASTY_ANSWER_S = as_found._HASTY_PUT_BACK_S = as_found._PUT_BACK_S = 180.0
options._HASTY_ANSWER_S = options._HASTY_WORDS_S = options.LAST_S = 180.0
sys.exit(main(sys.argv[1:]))
"""


pytestmark = pytest.mark.usefixtures("terminal_that_can_close")


def test_a_job_that_ends_has_ended() -> None:
    """The result of a job that ends is there, and its error is raised where it is waited for."""
    done: list[int] = []
    assert Job(lambda: done.append(1), "t").wait(lambda: math.inf, lambda: False)
    assert [1] == done

    def fail() -> None:
        raise MeterSilent("mute")

    with pytest.raises(MeterSilent, match="mute"):
        Job(fail, "t").wait(lambda: math.inf, lambda: False)


def test_a_wish_that_python_drops_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """A KeyboardInterrupt that comes in a callback is lost to Python, and not to the command."""
    with contextlib.suppress(KeyboardInterrupt):
        raise_interrupt()
    assert Interrupt().asked()
    assert 1 == main(["identify", "TCPIP::192.0.2.1::INSTR"])
    assert "interrupted\n" == capsys.readouterr().err
    assert not Interrupt().asked()


@pytest.mark.parametrize(("gives_up_s", "ordered"), [(0.0, False), (math.inf, True)])
def test_a_job_that_hangs_holds_nobody(gives_up_s: float, ordered: bool) -> None:
    """After the time of grace, or a second Ctrl-C, nobody waits for a call that hangs."""
    release = threading.Event()
    try:
        assert not Job(release.wait, "t").wait(lambda: gives_up_s, lambda: ordered)
        assert hanging()
    finally:
        release.set()
    eventually(lambda: not hanging())


def test_the_first_wish_asks_and_the_second_orders() -> None:
    """A wish ends the sleep at which it comes; later sleeps last."""
    interrupt = Interrupt()
    assert (False, False, math.inf) == (interrupt.asked(), interrupt.ordered, interrupt.asked_s)
    interrupt.abort = False
    interrupt.ask()
    assert (True, False) == (interrupt.asked(), interrupt.ordered)
    first_s = interrupt.asked_s
    assert first_s == interrupt.since_s()
    interrupt.ask()
    assert (True, first_s) == (interrupt.ordered, interrupt.asked_s)
    assert -math.inf == interrupt.since_s()
    interrupt.sleep(0.0)
    interrupt.abort = True
    with pytest.raises(KeyboardInterrupt):
        interrupt.sleep(0.0)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_every_signal_asks(name: str) -> None:
    """Ctrl-C, SIGTERM and a closed terminal are answered alike, and only within the block."""
    number = getattr(signal, name)
    before = signal.getsignal(number)
    asked: list[int] = []
    with listening(lambda: asked.append(1)):
        os.kill(os.getpid(), number)
        eventually(lambda: [1] == asked)
    assert before == signal.getsignal(number)


def test_nohup_is_respected() -> None:
    """A program that ignores a closed terminal goes on to ignore it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with listening(lambda: None):
            assert signal.SIG_IGN is signal.getsignal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


class Control:
    """An emulated meter with its control port, and commands on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.emulator = subprocess.Popen(
            [sys.executable, "-m", "power", "emulate", "--control", "0"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.emulator.stdout is not None and self.emulator.stderr is not None
        self.address = self.emulator.stderr.readline().split()[1]
        self.resource = self.emulator.stdout.readline().split()[1]

    def start(self, *arguments: str, patient: bool = False) -> subprocess.Popen[str]:
        """Start a command on the meter; a patient one waits long for it after a signal, too."""
        command, *options = arguments
        program = ["-c", PATIENT] if patient else ["-m", "power"]
        return subprocess.Popen(
            [sys.executable, *program, command, self.resource, *options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the meter to its end."""
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=180)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def fault(self, *lines: str) -> str:
        """Switch faults on; return the answers."""
        return subprocess.run(
            [sys.executable, "-m", "power", "fault", self.address, *lines],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=180,
        ).stdout

    def recording(self, patient: bool = False) -> tuple[subprocess.Popen[str], Path]:
        """Start a recording of a minute, and return it once it has some rows."""
        log = self.folder / "log.csv"
        options = ("--seconds", "60", *RANGES, "--out", str(log))
        process = self.start("record", *options, patient=patient)
        eventually(lambda: log.exists() and log.read_text().count("\n") > 5)
        return process, log

    def close(self) -> None:
        """End the emulator."""
        self.emulator.terminate()
        self.emulator.communicate(timeout=180)


@pytest.fixture
def control(tmp_path: Path) -> Any:
    """Return an emulated meter in a process of its own."""
    with contextlib.closing(Control(tmp_path)) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_recording_properly(control: Control, number: int) -> None:
    """Ctrl-C and SIGTERM end the integration, judge it, and give the panel back."""
    process, log = control.recording(patient=True)
    process.send_signal(number)
    out, err = process.communicate(timeout=180)
    assert "Wh" in out and "INVALID" not in out, (out, err)
    assert '"state": "STOP"' in control.fault("status")
    assert "STOP" == read_power_log(log)[-1].state.value
    assert 0 == control.run("record", "--seconds", "1", *RANGES, "--out", f"{log}.2").returncode


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["unplug seconds=600", "hang seconds=600", "silent count=900"])
def test_a_recording_without_a_link_is_left_and_rescued(control: Control, fault: str) -> None:
    """Without a link a recording ends, says what goes on, and can be rescued; its rows stay."""
    process, log = control.recording()
    control.fault(fault)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=180)
    assert 1 == process.returncode
    assert "left before the result was read" in err and "python -m power rescue" in err
    assert "Traceback" not in err
    assert "INVALID" in out and "still running" in out
    rows = len(read_power_log(log))
    control.fault("off", "panel key=STOP")
    refused = control.run("record", "--seconds", "1", *RANGES, "--out", f"{log}.2")
    assert 1 == refused.returncode and str(log) in refused.stderr, refused.stderr
    rescued = control.run("rescue")
    assert f"log      {log}" in rescued.stdout, rescued.stderr
    assert len(read_power_log(log)) > rows


FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
"""


@pytest.mark.slow
def test_a_full_disk_ends_nothing(control: Control) -> None:
    """On a full disk the run goes on, the missing rows are printed, and a rescue mends the log."""
    log = control.folder / "log.csv"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            FULL + PATIENT,
            "record",
            control.resource,
            "--seconds",
            "60",
            *RANGES,
        ]
        + ["--out", str(log)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: log.exists() and log.stat().st_size == 2000)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=180)
    assert 1 == process.returncode
    assert "Wh" in out and "INVALID" not in out, out
    assert "the measurement goes on" in err and "rows are missing" in err
    rows = len(read_power_log(log))
    rescued = control.run("rescue")
    assert f"log      {log}" in rescued.stdout, rescued.stderr
    assert len(read_power_log(log)) == rows + 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("identify",), ("read",), ("range", "--seconds", "1"), ("selftest",)]
)
def test_every_command_gives_the_panel_back(control: Control, command: tuple[str, ...]) -> None:
    """After each command the panel is unlocked, and the meter talks as before."""
    wire = control.folder / "wire.jsonl"
    done = control.run(*command, "--wire-log", str(wire))
    assert 0 == done.returncode, done.stdout + done.stderr
    sent = wire.read_text()
    assert sent.rindex(":COMMunicate:REMote OFF") > max(sent.rfind(":COMMunicate:REMote ON"), 0)
    assert ":COMMunicate:HEADer 1" in sent
    assert "panel may still be locked" not in done.stderr


@pytest.mark.slow
def test_an_interrupted_selftest_leaves_the_meter_as_it_was(control: Control) -> None:
    """SIGTERM in the middle of a self-test puts the settings back and unlocks the panel."""
    wire = control.folder / "wire.jsonl"
    options = ("--seconds", "60", "--wire-log", str(wire))
    process = control.start("selftest", *options, patient=True)
    eventually(lambda: wire.exists() and ":INTEGrate:STARt" in wire.read_text())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=180)
    assert (1, "interrupted\n") == (process.returncode, err)
    assert '"state": "RESET"' in control.fault("status")
    assert ":COMMunicate:REMote OFF" in wire.read_text()
