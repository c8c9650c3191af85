# SPDX-License-Identifier: Apache-2.0
"""A process of the referee is restarted when it dies, and its death is reported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from referee.programs import child as module
from referee.programs.child import Child
from tests.support.fakes import BOUND_S, eventually


def python(log: Path, code: str) -> Child:
    """Return a child that runs this code."""
    return Child("control desk", [sys.executable, "-c", code], log)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the path of a child's log."""
    return tmp_path / "desk.log"


def test_a_child_that_died_is_started_again(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm names the child, its exit status and its log; the log keeps its old lines."""
    monkeypatch.setattr(module, "_RESTART_FIRST_S", 0.0)
    child = python(log, "print('hello', flush=True); raise SystemExit(3)")
    child._restart_s = 0.0
    child.start()
    first, told = child.pid, []
    eventually(lambda: child.look_after(told.append) or child.pid != first)
    child.wait(BOUND_S)
    assert [f"The control desk ended (3) and is started again; {log} says why."] == told
    assert ["hello", "hello"] == log.read_text().splitlines()


def test_a_child_that_dies_again_and_again_is_told_once_and_started_ever_more_slowly(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pause before each restart doubles up to its bound, and the operators get one alarm."""
    moments = iter(range(0, 1000, 10))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(moments)))
    monkeypatch.setattr(module, "_STEADY_S", 1e9)
    child = python(log, "")
    child.start()
    told: list[str] = []
    pauses = []
    for _ in range(6):
        child.wait(BOUND_S)
        child.look_after(told.append)
        pauses.append(child._restart_s)
    child.wait(BOUND_S)
    assert [0.4, 0.8, 1.6, 3.2, 5.0, 5.0] == pauses
    assert 1 == len(told)


def test_a_child_that_runs_is_left_alone(log: Path) -> None:
    """A running child is neither reported nor restarted, and `wait` ends it by force."""
    child = python(log, "import signal; signal.signal(15, signal.SIG_IGN); signal.pause()")
    child.start()
    first = child.pid
    child.look_after(pytest.fail)
    assert first == child.pid
    child.terminate()
    child.wait(0.0)
    child.terminate()
    assert child._process is not None and child._process.returncode in (-9, -15)


def test_a_child_that_never_began_can_be_ended(log: Path) -> None:
    """A child that was never started can be ended."""
    child = python(log, "")
    child.look_after(pytest.fail)
    child.terminate()
    child.wait(0.0)
    assert child.pid is None


def test_output_can_be_read(log: Path) -> None:
    """A first start may hand the child's output to its starter."""
    child = python(log, "print('ready here')")
    with child.start_with_pipe() as stdout:
        assert b"ready here\n" == stdout.read()
    child.wait(BOUND_S)


def test_a_long_log_is_put_aside(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond its bound a log starts anew, the old lines stand beside it, and writing goes on."""
    monkeypatch.setattr(module, "_LOG_MOST_BYTES", 10)
    with log.open("ab", buffering=0) as held:  # As the process holds it.
        held.write(b"old lines\n")
        python(log, "").look_after(pytest.fail)
        assert "old lines\n" == log.read_text()
        held.write(b"more\n")
        python(log, "").look_after(pytest.fail)
        held.write(b"new\n")
    assert "old lines\nmore\n" == log.with_name("desk.log.1").read_text()
    assert "new\n" == log.read_text()


def test_a_full_disk_keeps_no_log_aside(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the copy has no room the log is emptied all the same."""

    def full(source: Path, target: Path) -> None:
        target.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_LOG_MOST_BYTES", 10)
    monkeypatch.setattr(module.shutil, "copyfile", full)
    log.write_text("x" * 20)
    python(log, "").look_after(pytest.fail)
    assert ("", False) == (log.read_text(), log.with_name("desk.log.1").exists())
