# SPDX-License-Identifier: Apache-2.0
"""Commands that run until somebody ends them, with standard output in a pipe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import pytest

from tests.support.forks import FORKS, environment, forked, pipe


class Forked:
    """A command that was forked; it has what tests need of `subprocess.Popen`."""

    def __init__(self, module: str, arguments: Sequence[str], cwd: Path, errors: Path) -> None:
        ours, theirs = pipe()
        self._process = forked(module, arguments, cwd, (theirs, str(errors)))
        theirs.close()
        self.stdout: TextIO | None = open(os.dup(ours.fileno()))
        ours.close()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    @property
    def returncode(self) -> int | None:
        """Return the exit code, negative after a signal, or None while the process runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code if the process has ended."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raise `subprocess.TimeoutExpired` if it does not come in time."""
        self._process.join(timeout)
        code = self.returncode
        if code is None:
            raise subprocess.TimeoutExpired([self._process.name], timeout or 0.0)
        return code

    def communicate(self, timeout: float | None = None) -> None:
        """Wait for the end, and let nobody read the output any more."""
        self.wait(timeout)
        if self.stdout is not None:
            self.stdout.close()

    def send_signal(self, number: int) -> None:
        """Send a signal to a process that runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End the process at once."""
        self.send_signal(signal.SIGKILL)


Started = subprocess.Popen[str] | Forked

# A program that is started as its user does loads everything itself. A library that it shall load
# before all others comes too late for a fork.
_BY_USERS = False
_LOADED_FIRST = "LD_PRELOAD"


@contextmanager
def as_users_start() -> Iterator[None]:
    """Let no program be forked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules[__name__], "_BY_USERS", True)
        yield


def started(
    module: str, arguments: Sequence[str], cwd: Path, errors: Path, python: str | Path
) -> Started:
    """Start `PYTHON -m MODULE ARGUMENTS…`, whose standard error goes to a new file."""
    errors.write_text("")
    if FORKS and not _BY_USERS and python == sys.executable and _LOADED_FIRST not in os.environ:
        return Forked(module, arguments, cwd, errors)
    with errors.open("w") as file:
        return subprocess.Popen(
            [str(python), "-m", module, *arguments],
            cwd=cwd,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
