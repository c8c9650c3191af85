# SPDX-License-Identifier: Apache-2.0
"""A forked process has what its command line asks for, and nothing of the command that made it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from referee.programs import forked
from tests.support.contests import make_contest
from tests.support.fakes import eventually
from tests.support.running import alive

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks without danger"),
]

ROOT = Path(__file__).parents[2]

# What a process becomes: it tells what it has, or waits for a signal.
PROGRAM = """
import json, logging, os, signal, sys, threading

def main(words):
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # As the command lines do.
    if words == ["wait"]:
        print("waits", flush=True)
        signal.pause()
    if words == ["fail"]:
        logging.getLogger().error("this first")
        raise ValueError("that was expected")
    umask = os.umask(0)
    files = {int(n): os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")}
    print(json.dumps({"files": files, "umask": umask, "leads": os.getsid(0) == os.getpid(),
                      "argv": sys.argv}))
    threading.Timer(0.01, print, ["a thread that is waited for"]).start()
    raise SystemExit(3)
"""


def run(tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run a command that forks, where a package `program` is; its output goes into files."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program/__init__.py").touch()
    (tmp_path / "program/cli.py").write_text(PROGRAM)
    head = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n"
    command = [sys.executable, "-c", head + textwrap.dedent(code)]
    told = [tmp_path / "told", tmp_path / "errors"]
    with told[0].open("w") as stdout, told[1].open("w") as stderr:
        done = subprocess.run(command, cwd=tmp_path, stdout=stdout, stderr=stderr, timeout=180)
    texts = [path.read_text() for path in told]
    return subprocess.CompletedProcess(command, done.returncode, *texts)


def test_a_process_has_its_own_files_and_ends_as_itself(tmp_path: Path) -> None:
    """It leads a session, and runs none of what its parent does at its own end."""
    done = run(
        tmp_path,
        """
        import atexit, os, tempfile
        from referee.programs.forked import Forked
        atexit.register(print, "the parent ends")
        kept = tempfile.TemporaryDirectory(dir=".")
        locked, given = open("lock", "w"), open("given", "w")
        os.dup2(given.fileno(), 7)
        process = Forked()
        os.umask(0o077)
        with open("out", "wb") as out, open("err", "wb") as err:
            process.run(["python", "-m", "program", "tell"], out.fileno(), err.fileno(), [7])
        print(process.wait(60), process.poll(), os.path.isdir(kept.name))
        """,
    )
    assert ("3 3 True\nthe parent ends\n", "") == (done.stdout, done.stderr)
    assert "" == (tmp_path / "err").read_text()
    first, *others = (tmp_path / "out").read_text().splitlines()
    told: dict[str, Any] = json.loads(first)
    assert ["a thread that is waited for"] == others
    assert (0o077, True, ["program", "tell"]) == (told["umask"], told["leads"], told["argv"])
    names = {int(n): Path(path).name for n, path in told["files"].items() if int(n) in range(8)}
    del names[3]  # The folder that is being read.
    assert {0: "null", 1: "out", 2: "err", 7: "given"} == names


def test_a_process_tells_its_end_by_a_signal_or_an_error(tmp_path: Path) -> None:
    """The exit code is negative after a signal, and a traceback is in the log after an error."""
    done = run(
        tmp_path,
        """
        import logging, os, subprocess, sys
        from referee.programs.forked import Forked
        logging.basicConfig()
        waits, fails = Forked(), Forked()
        reading, writing = os.pipe()
        waits.run(["python", "-m", "program", "wait"], writing, 2, [])
        assert os.read(reading, 100) == b"waits\\n" and waits.poll() is None
        try:
            waits.wait(0.0)
        except subprocess.TimeoutExpired:
            print("it runs")
        waits.terminate()
        fails.run(["python", "-m", "program", "fail"], writing, 2, [])
        print(waits.wait(), fails.wait())
        waits.terminate()
        """,
    )
    assert "it runs\n-15 1\n" == done.stdout
    lines = done.stderr.splitlines()
    assert ("ERROR:root:this first", "ValueError: that was expected") == (lines[0], lines[-1])


def test_a_process_that_nobody_needs_ends(tmp_path: Path) -> None:
    """It ends when it is dismissed, and when the command that made it was killed."""
    done = run(
        tmp_path,
        """
        import os, signal
        from referee.programs.forked import Forked
        dismissed = Forked()
        dismissed.dismiss()
        print(dismissed.wait(60), flush=True)
        print(Forked().pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
    )
    code, left = done.stdout.split()
    assert ("0", -9) == (code, done.returncode)
    eventually(lambda: not alive(int(left)))


def test_a_process_with_threads_forks_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork would hold the locks of other threads for ever, so the programs start as commands."""
    contest = make_contest(tmp_path)
    contest.database.close()
    threads = tmp_path / "task"
    for number in ("1", "2"):
        (threads / number).mkdir(parents=True)
    monkeypatch.setattr(forked, "_THREADS", threads)
    with forked.forked_for(contest.config) as processes:
        assert [] == processes
