# SPDX-License-Identifier: Apache-2.0
"""However a worker ends, the referee goes on and says why."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import pytest

from referee.errors import Unavailable
from referee.extras.ovic.judging import confined
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.jobs import Done, run_job

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
pytestmark = pytest.mark.slow

STEP = 'import os, signal, sys, time; print(\'{"event": "step", "step": "run"}\', flush=True)\n'
CONFINED = (
    "from referee.extras.ovic.judging.confined import Limits, confine_myself\n"
    "confine_myself(Limits(seconds={seconds}, memory_bytes=1 << 30))\n"
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Let nobody wait for the core, however busy the machine of the tests is."""
    monkeypatch.setattr(confined, "waited_s", lambda pid: 0.0)


def work(program: str, **limits) -> Done:
    """Let a program take the worker's place."""
    worker = [sys.executable, "-c", program]
    return run_job(Path("model.tflite"), "probe", Limits(**limits), worker=worker)


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL"])
def test_a_crash_is_a_failure_that_names_the_signal(name):
    """A model that kills its process is told by the step and the signal."""
    (failure,) = work(STEP + f"os.kill(os.getpid(), signal.{name})").failures
    assert "crash" == failure.rule
    assert "a model that can be run on an image" == failure.expected
    assert name in failure.found


def test_an_endless_worker_is_killed_with_its_children():
    """At the wall-clock limit the worker dies, although a child of it holds its output open."""
    program = STEP + "os.fork(); signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass"
    (failure,) = work(program, seconds=2).failures
    assert "time" == failure.rule


def dies(pid: int) -> bool:
    """Wait up to 180 s for a process, no child of ours, to end; tell whether it did."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 180)[0])
    finally:
        os.close(descriptor)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
@pytest.mark.parametrize("pipes", ["", "os.close(1); os.close(2)"])
def test_a_child_that_outlives_the_worker_is_killed(pipes, tmp_path):
    """A child of the worker dies with it, whether or not it holds the worker's output open."""
    path = tmp_path / "pid"
    child = f"open({str(path)!r}, 'w').write(str(os.getpid())); {pipes or 'pass'}"
    program = (
        f"import os, signal\nready, told = os.pipe()\nif os.fork():\n    os.close(told)\n"
        f"    os.read(ready, 1)\n    os._exit(0)\n{child}\nos.close(told)\nsignal.pause()"
    )
    assert work(program, seconds=3).failures
    assert dies(int(path.read_text()))


def test_a_worker_that_waits_for_its_core_proves_nothing(monkeypatch):
    """Stopped after four times its limit, a worker that only waited is no failure of the model."""
    monkeypatch.setattr(confined, "waited_s", lambda pid: 1e6)
    with pytest.raises(Unavailable, match="it was stopped after 2 s"):
        work(STEP + "while True: signal.pause()", seconds=0.5)


def test_a_worker_that_has_closed_its_output_is_killed_too():
    """A worker that says nothing more and does not end is stopped at the limit."""
    program = STEP + "os.close(1); os.close(2)\nwhile True: signal.pause()"
    (failure,) = work(program, seconds=2).failures
    assert "time" == failure.rule


def test_the_processors_time_ends_a_worker_with_its_own_reason():
    """A worker that has used its processor time is told by the time, and not by its death."""
    program = STEP + CONFINED.format(seconds=0.9) + "while True: pass"
    (failure,) = work(program, seconds=60).failures
    assert "time" == failure.rule


def test_the_alarm_ends_a_worker_without_a_referee():
    """The worker's own alarm ends it if nobody else does."""
    program = STEP + CONFINED.format(seconds=0.1) + "while True: signal.pause()"
    (failure,) = work(program, seconds=60).failures
    assert "time" == failure.rule


def test_endless_output_is_cut_off():
    """Output beyond the limit stops the worker; the referee keeps no more than the limit."""
    program = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    (failure,) = work(program, output_bytes=1 << 20).failures
    assert "output" == failure.rule


def test_endless_errors_are_not_kept():
    """Standard error may be endless: its end alone is kept, and time ends the worker."""
    program = "import sys\nwhile True: sys.stderr.write('x' * 65536)"
    (failure,) = work(program, seconds=2).failures
    assert "time" == failure.rule


def test_a_confined_worker_gets_no_more_memory():
    """Beyond the address space the worker fails, and the failure names the limit."""
    (failure,) = work(STEP + CONFINED.format(seconds=60) + "bytearray(2 << 30)").failures
    assert ("memory", "it asks for more") == (failure.rule, failure.found)


def test_a_confined_worker_writes_no_file(tmp_path):
    """A worker cannot fill the disk."""
    path = tmp_path / "file"
    program = STEP + CONFINED.format(seconds=60) + f"open({str(path)!r}, 'wb').write(b'x' * 9999)"
    (failure,) = work(program).failures
    assert "crash" == failure.rule
    assert 0 == path.stat().st_size


@pytest.mark.parametrize(
    "text", ["'noise'", "'[1]'", "'{}'", "'{\"event\": 1}'", "'[' * 100_000", "'\\xff'"]
)
def test_what_the_worker_cannot_have_written_is_a_crash(text):
    """Lines outside the protocol are refused."""
    (failure,) = work(f"print({text})").failures
    assert ("crash", "a worker that speaks its protocol") == (failure.rule, failure.expected)


def test_a_worker_that_ends_early_has_crashed():
    """An exit without the last message is a crash with the exit code and the last line."""
    (failure,) = work(STEP + "sys.exit('no such thing')").failures
    assert "crash" == failure.rule
    assert "exit code 1" in failure.found and "no such thing" in failure.found
