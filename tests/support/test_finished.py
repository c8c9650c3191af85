# SPDX-License-Identifier: Apache-2.0
"""A command that is run to its end is a process of its own, as `python -m` starts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.finished import finished

# It tells what it is, leaves something to the end, and ends with 3.
PROGRAM = """
import atexit, os, sys
atexit.register(print, "at the end")
print(__name__, sys.argv[1:], os.getcwd(), os.environ.get("WORD"), os.getpid())
print("é \\ud83d", file=sys.stderr)
sys.exit(3)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module that another process can import."""
    (tmp_path / "told_program.py").write_text(PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    return "told_program"


@pytest.mark.slow
def test_a_command_has_its_own_folder_environment_and_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """Each start sees the environment of its moment, and its end is told by the exit code."""
    for word in ("first", "second"):
        monkeypatch.setenv("WORD", word)
        done = finished(program, "--one", "two", cwd=tmp_path)
        told, last = done.stdout.splitlines()
        assert f"__main__ ['--one', 'two'] {tmp_path} {word} " in told
        assert int(told.rpartition(" ")[2]) != os.getpid()
        assert (3, "at the end", "é \\ud83d\n") == (done.returncode, last, done.stderr)


@pytest.mark.slow
def test_an_error_is_told_as_python_tells_it(program: str) -> None:
    """A module that is not there ends with 1, and says so on standard error."""
    done = finished(f"{program}_that_is_missing")
    assert (1, "") == (done.returncode, done.stdout)
    assert f"No module named {program}_that_is_missing" in done.stderr
