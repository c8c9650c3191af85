# SPDX-License-Identifier: Apache-2.0
"""`python -m power record --live`, as somebody at a terminal runs it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import termios
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.live.address import listening_socket
from power.logs.power_log import read_power_log
from tests.support.fakes import eventually

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
SETTINGS = ("--update", "0.1", "--volts", "150", "--amps", "0.1")


def record(resource: str, log: Path, *options: str, **streams: Any) -> subprocess.Popen[str]:
    """Start a recording of a second or more."""
    command = [sys.executable, "-m", "power", "record", resource, *SETTINGS]
    return subprocess.Popen([*command, "--out", str(log), *options], cwd=ROOT, text=True, **streams)


def test_the_page_follows_the_run_and_gets_its_result(
    start_emulator: Callable[..., Any], tmp_path: Path
) -> None:
    """Its address is printed; readings, a lost link and the verdict are those of the log."""
    (tmp_path / "schedule").write_text("start+1 unplug seconds=0.5\n")
    emulator = start_emulator("--schedule", str(tmp_path / "schedule"))
    log = tmp_path / "run.jsonl"
    options = ("--seconds", "3", "--json", "--live", "--live-address", "127.0.0.1:0")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with record(emulator.resource, log, *options, **pipes) as process:
        assert process.stderr is not None and process.stdout is not None
        name, url = process.stderr.readline().split()
        assert "live" == name
        newest: dict[str, Any] = {}

        def ended() -> bool:
            with urllib.request.urlopen(url + "news", timeout=180) as answer:
                newest.update(json.load(answer))
            return newest["result"] is not None

        with urllib.request.urlopen(url + "metrics", timeout=180) as answer:
            assert b"power_meter_readings_total" in answer.read()
        eventually(ended)
        printed = json.loads(process.stdout.read())
        assert 0 == process.wait(timeout=180), process.stderr.read()
    rows = read_power_log(log)
    assert ("run.jsonl", len(rows)) == (newest["about"]["log"], newest["number"])
    assert [row.power_w for row in rows] == [one[2] for one in newest["samples"]]
    assert printed["energy_wh"] == newest["result"]["energy_wh"] == newest["energy_wh"]
    # A link that is lost during a question has another sentence than one that was closed before it.
    assert any("is tried again" in text for _, text in newest["messages"])
    assert printed["verdict"] == newest["result"]["verdict"]


def test_the_terminal_shows_the_curve(emulator: Any, tmp_path: Path) -> None:
    """Figures and curves are redrawn in place, without colours where nobody wants them."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (30, 70))
    options = ("--seconds", "1", "--live=terminal")
    env = {**os.environ, "NO_COLOR": "1", "TERM": "xterm"}
    with record(
        emulator.resource, tmp_path / "run.csv", *options, env=env, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                shown += part
        assert 0 == process.wait(timeout=180)
    os.close(ours)
    text = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", shown.decode())
    picture, result = text.rsplit("energy   ", 1)
    assert result.startswith("0.00138889 Wh"), "the result comes below the last picture"
    assert re.search("ENDED (VALID|SUSPECT)  run.csv", picture)
    assert "power 5 W   energy 0.00138889 Wh   time 1 s of 1 s" in picture
    assert "the whole run, 0 to 1 s" in picture
    assert "6 W┤" in picture
    assert not re.search(rb"\x1b\[[0-9;]*[34][0-9]m", shown), "there is no colour"


def test_an_address_in_use_ends_the_command_before_the_meter_is_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence says what to choose, and there is no log."""
    with listening_socket("127.0.0.1:0") as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        words = ["record", "X", "--out", str(tmp_path / "run.csv"), "--live"]
        assert 2 == main([*words, "--live-address", address])
    assert "--live-address HOST:PORT" in capsys.readouterr().err
    assert [] == list(tmp_path.glob("run*"))


def test_live_in_front_of_the_resource_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """A resource string is no way of showing a run."""
    with pytest.raises(SystemExit) as caught:
        main(["record", "--live", "TCPIP::10.0.0.5::INSTR", "--out", "run.csv"])
    assert 2 == caught.value.code
    assert "write --live=page, or --live at the end" in capsys.readouterr().err


def test_without_rich_the_terminal_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence names the extra, and the page that needs none."""
    monkeypatch.setattr("power.commands.live_view.find_spec", lambda name: None)
    words = ["record", "X", "--out", str(tmp_path / "run.csv"), "--live=terminal"]
    assert 2 == main(words)
    assert "(the extra 'live'). Or use --live=page" in capsys.readouterr().err
