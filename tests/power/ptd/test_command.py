# SPDX-License-Identifier: Apache-2.0
"""`python -m power ptd` as a process: how power-dev starts it, uses it and ends it."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.connect import open_wt310
from power.meter import IntegrationState, MeterSettings
from tests.support.fakes import eventually
from tests.support.leave import LEAVE
from tests.support.shelly_plug import ShellyPlug, serving

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
Run = Callable[..., subprocess.CompletedProcess[str]]


def started(*words: str) -> subprocess.Popen[str]:
    """Start the script `ptd`."""
    return subprocess.Popen(
        [sys.executable, "-c", "import sys; from power.cli import ptd; sys.exit(ptd())", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def talking(process: subprocess.Popen[str]) -> Iterator[Callable[[str], str]]:
    """Yield a function that asks and returns the first line; `RL` reads its samples, too."""
    assert process.stdout is not None
    told, found = [], None
    while found is None:
        told.append(process.stdout.readline())
        assert told[-1], told
        found = re.search(r"Listening on port (\d+)", told[-1])
    assert "This is not SPEC PTDaemon" in told[0]
    with socket.create_connection(("127.0.0.1", int(found[1])), timeout=180) as client:
        with client.makefile("rw", newline="\r\n") as lines:

            def ask(request: str) -> str:
                lines.write(f"{request}\r\n")
                lines.flush()
                answer = lines.readline().rstrip()
                for _ in range(int(answer.split()[1]) if answer.startswith("Last") else 0):
                    assert lines.readline().startswith("Time,")
                return answer

            yield ask


def test_power_dev_starts_uses_and_ends_it(emulator: Any, tmp_path: Path) -> None:
    """With PTDaemon's flags it serves, logs, ends by SIGTERM, and gives the meter back."""
    port = emulator.resource.split(",")[1].partition(":")[0]
    log = tmp_path / "ptd.log"
    before = settings_of(emulator.resource)
    process = started(
        *("-l", str(log), "-p", "0", "-n", "--update", "0.1", "49", f"127.0.0.1,{port}")
    )
    with process, talking(process) as ask:
        assert "YokogawaWT310" == ask("Identify").split(",")[0]
        assert "Range V changed" == ask("SR,V,120.0")
        assert "Range A changed" == ask("SR,A,0.05")
        ask("Go,0,0,s_testing")
        eventually(lambda: ask("RL,2") == "Last 2 samples")
        process.terminate()
        assert process.stdout is not None
        whole = process.stdout.read()
        assert 0 == process.wait(180), whole
    assert "ERROR" not in whole
    assert re.search(
        r"^\d\d-\d\d-\d{4} \d\d:\d\d:\d\d\.\d{3}: Go with mark 's_testing'$", whole, re.MULTILINE
    )
    assert re.search(r"^[-\d]+ [:.\d]+: Completed test$", whole, re.MULTILINE)
    written = log.read_text()
    assert written.count(",Mark,s_testing\n") >= 2
    assert ",NOTICE,Completed test\n" in written
    assert before == settings_of(emulator.resource)


def test_a_console_that_nobody_reads_stops_nothing(emulator: Any, tmp_path: Path) -> None:
    """With a full pipe behind its output it samples, answers, and ends by SIGTERM."""
    port = emulator.resource.split(",")[1].partition(":")[0]
    process = started("-p", "0", "-n", "--update", "0.1", "49", f"127.0.0.1,{port}")
    with process, talking(process) as ask:
        # Each answer is a line on the console: far more than the 64 KiB of a pipe.
        for _ in range(1500):
            assert ask("Identify").startswith("YokogawaWT310,")
        ask("Go,0,0,unread")
        eventually(lambda: ask("RL,2") == "Last 2 samples")
        process.terminate()
        assert 0 == process.wait(180)
        assert process.stdout is not None
        assert "Request from client: 'Identify'" in process.stdout.read()


def test_a_meter_of_another_kind_serves_means_without_ranges(tmp_path: Path) -> None:
    """A plug is device type 0: its power is the mean of an update, and its ranges are unknown."""
    with serving(ShellyPlug()) as at:
        process = started("-p", "0", "--update", "0.1", "0", f"shelly:{at}?interval=0.1&accuracy=1")
        with process, talking(process) as ask:
            fields = ask("Identify").split(",")
            assert ("ShellySNPL-00112EU", ["1", "1", "1", "0", "0", "0", "0"]) == (
                fields[0],
                fields[2:9],
            )
            assert ["power", "1", "0"] == [fields[11].removeprefix("mode="), *fields[12:14]]
            assert "Ranges,-1,-1.000000,-1,-1.000000" == ask("RR")
            assert "Range V changed" == ask("SR,V,120")
            for _ in range(2):
                assert ask("Go,100,0,plug").startswith("Starting untimed measurement")
                eventually(lambda: ask("RL,1") == "Last 1 samples")
                assert "Stopping untimed measurement" == ask("Stop")
            assert ask("Watts").startswith("Watts,5.000000,5.000000,5.000000,")
            # 1 % of 5 W, and 0.1 W for the step of its power.
            assert "0.030000" == ask("Uncertainty").split(",")[1]
            process.terminate()


def settings_of(resource: str) -> object:
    """Return all settings of an emulated meter."""
    meter = open_wt310(resource)
    try:
        return meter.settings()
    finally:
        meter.close()


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("0", "x"), 2, "power emulate"),
        (("8", "x"), 2, "device type 8 is not driven here"),
        (("-g", "49", "abc"), 2, "no GPIB address"),
        (("49", "COM1@38401"), 2, "38401"),
        (("-l", "/", "49", "COM1"), 2, "Is a directory"),
        (("49", "TCPIP::127.0.0.1,1::inst0::INSTR"), 1, "error: "),
    ],
)
def test_what_cannot_be_served_is_told(
    words: tuple[str, ...], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong use is code 2, no meter is code 1, and a sentence says what is wrong."""
    assert code == main(["ptd", *words])
    assert why in capsys.readouterr().err


def test_an_energy_that_nobody_has_fetched_is_not_wiped(
    emulator: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """An integration that runs goes on, and a sentence says how to fetch its energy."""
    meter = open_wt310(emulator.resource)
    meter.prepare(MeterSettings(timer_s=0, update_interval_s=0.1))
    meter.start()
    meter.close()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert 1 == main(["ptd", "-p", port, "49", emulator.resource])
    assert "power rescue" in capsys.readouterr().err
    try:
        assert IntegrationState.START is meter.attach()
        meter.stop()
        meter.reset(LEAVE)
    finally:
        meter.close()


def test_a_port_in_use_is_told(emulator: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody waits for clients that cannot come, and the meter is given back."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert 2 == main(["ptd", "-p", port, "--update", "0.1", "49", emulator.resource])
    assert "in use" in capsys.readouterr().err


def test_a_device_type_that_does_not_fit_names_the_right_one(
    emulator: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A WT310 is no device of type 52."""
    assert 1 == main(["ptd", "52", emulator.resource])
    assert "give device type 49" in capsys.readouterr().err
