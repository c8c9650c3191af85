# SPDX-License-Identifier: Apache-2.0
"""`selftest --real` against an emulator on a real wire."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.commands import selftest
from power.commands.selftest import TerminalPerson
from power.connect import open_wt310
from power.emulator.instrument import serial_at
from power.meter import IntegrationState
from tests.support.emulators import Emulator

ROOT = Path(__file__).parents[2]
_TRIES = 10


@pytest.fixture
def walk(emulator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a function that walks steps with typed lines, and returns the exit code."""

    def run(typed: str, *options: str) -> int:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        report = ("--report", str(tmp_path / "c.json"))
        return main(["selftest", emulator.resource, "--real", *report, *options])

    return run


def only(*names: str) -> list[str]:
    """Return the options that choose steps."""
    return [part for name in names for part in ("--only", name)]


def test_a_walk_with_typed_answers(
    walk: Callable[..., int], emulator: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Typed lines answer the steps; report, text and conversation lie side by side."""
    meter = open_wt310(emulator.resource)
    # Auto-range changes a range by itself, so fixed ranges show what the walk leaves behind.
    for head, value in ((":INPut:VOLTage", "150"), (":INPut:CURRent", "0.1")):
        meter.conversation.command(f"{head}:RANGe {value}")
        meter.conversation.command(f"{head}:AUTO OFF")
    found = dict(meter.take_snapshot())
    meter.close()
    typed = "n as delivered\n\n\ny\n\nn the lamp stays\n"
    assert 0 == walk(typed, *only("identity", "illegal", "second", "lockout"), "--json")
    printed = capsys.readouterr()
    report = json.loads((tmp_path / "c.json").read_text())
    assert report == json.loads(printed.out)
    steps = {entry["step"]: entry for entry in report["entries"]}
    assert ["identity", "illegal", "second", "lockout"] == list(steps)
    assert ("n", "as delivered") == (steps["identity"]["answer"], steps["identity"]["remark"])
    assert steps["second"]["observed"]["the second"].startswith("MeterBusy")
    assert "n the lamp stays" == steps["lockout"]["observed"]["keys work, with lockout"]
    assert "1" == steps["lockout"]["observed"]["LOCKout?, with lockout"]
    assert ">> Press SHIFT and LOCAL at the meter (with lockout)." in printed.err
    assert "keys work, with lockout: n the lamp stays" in (tmp_path / "c.txt").read_text()
    sent = [json.loads(line) for line in (tmp_path / "c.wire.jsonl").read_text().splitlines()]
    assert ":COMMunicate:LOCKout ON" in [event["text"] for event in sent if "text" in event]
    meter = open_wt310(emulator.resource)
    assert found == dict(meter.take_snapshot())
    assert "0" == meter.conversation.ask(":COMMunicate:LOCKout?")
    meter.close()


def test_a_walk_goes_on_in_another_run(
    walk: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The end of the input ends a walk with exit code 1; the same command goes on."""
    assert 1 == walk("", *only("illegal", "clear"))
    assert "open     clear" in capsys.readouterr().err
    begun = json.loads((tmp_path / "c.json").read_text())
    assert ["illegal"] == [entry["step"] for entry in begun["entries"]]
    assert 0 == walk("n\n", *only("clear"))
    assert "please send this file to the maintainers" in capsys.readouterr().err
    after = json.loads((tmp_path / "c.json").read_text())
    assert begun["entries"] == after["entries"][:1]
    assert "done" == after["entries"][1]["outcome"]


def test_a_report_of_another_meter_is_refused_unchanged(
    walk: Callable[..., int], emulator: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A report of another meter is refused before anything is changed, and stays as it is."""
    path = tmp_path / "c.json"
    assert 0 == walk("", *only("second"))
    serial = serial_at(emulator.resource)
    text = path.read_text().replace(serial, "C2OTHER")
    path.write_text(text)
    capsys.readouterr()
    assert 2 == walk("", *only("second"))
    assert f"is about WT310 C2OTHER, and this is WT310 {serial}" in capsys.readouterr().err
    assert text == path.read_text()


def test_wrong_use_is_told_before_the_meter_is_asked(
    walk: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown step is exit code 2; --only needs --real; --checklist needs no meter."""
    assert 2 == walk("", *only("lock"))
    assert "there is no step 'lock'" in capsys.readouterr().err
    assert 2 == main(["selftest", "TCPIP::127.0.0.1,9::INSTR", "--only", "busy"])
    assert "add --real" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["selftest", "--checklist"])
    assert 0 == ended.value.code
    assert "| `lockout` |" in capsys.readouterr().out


def test_a_serial_port_is_not_opened_twice(
    serial_meter: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On RS-232 the step `second` opens nothing, and says why."""
    report = tmp_path / "c.json"
    command = ["selftest", serial_meter.resource, "--real", *only("second")]
    assert 0 == main([*command, "--report", str(report)])
    (entry,) = json.loads(report.read_text())["entries"]
    assert "not tried" in entry["observed"]["the second"]
    assert "YOKOGAWA" in entry["observed"]["the first, after it"]


def test_ctrl_c_at_a_terminal_leaves_the_meter_as_found(tmp_path: Path) -> None:
    """Ctrl-C in a running integration stops it, puts the settings back and unlocks the panel.

    Who wants the end gets it within 2 s. A machine that is too busy for that must say what is left
    undone; then the test begins again, with another meter.
    """
    for attempt in range(_TRIES):
        emulator = Emulator("--watts", "5")
        try:
            shown = _interrupted_walk(emulator, tmp_path / f"{attempt}.json")
            if b"did not get its settings back" in shown or b"keep a locked panel" in shown:
                continue
            meter = open_wt310(emulator.resource)
            assert IntegrationState.RESET is meter.state(), shown.decode()
            flags = ("LOCKout", "REMote")
            left = [meter.conversation.ask(f":COMMunicate:{flag}?") for flag in flags]
            meter.close()
            assert ["0", "0"] == left, shown.decode()
            return
        finally:
            emulator.end()
    raise AssertionError(f"the meter was not left as found in {_TRIES} tries: {shown.decode()}")


def test_what_ctrl_c_could_not_undo_is_said(
    walk: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A meter that does not answer in time may go on; the person who leaves it is told."""
    monkeypatch.setattr(TerminalPerson, "wait", _press_ctrl_c)
    monkeypatch.setattr(selftest, "in_time", lambda *_, **__: "the meter does not answer")
    assert 1 == walk("", *only("keys"))
    told = "the meter may still integrate, or keep a locked panel: the meter does not answer"
    assert told in capsys.readouterr().err


def _press_ctrl_c(*_: object) -> None:
    raise KeyboardInterrupt


def _interrupted_walk(emulator: Emulator, report: Path) -> bytes:
    """Walk to the keys at a terminal, press Ctrl-C there, and return what was shown."""
    ours, theirs = pty.openpty()
    command = ["selftest", emulator.resource, "--real", "--only", "keys", "--report", str(report)]
    with subprocess.Popen(
        [sys.executable, "-m", "power", *command],
        cwd=ROOT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        os.write(ours, b"\n")
        # A terminal that stays open would be read without end.
        bound = threading.Timer(180, process.kill)
        bound.start()
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while b"Press STOP at the meter" not in shown:
                shown += os.read(ours, 4096)
            process.send_signal(signal.SIGINT)
            while part := os.read(ours, 4096):
                shown += part
        bound.cancel()
        assert 1 == process.wait(timeout=180), shown.decode()
    os.close(ours)
    return shown
