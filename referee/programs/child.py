# SPDX-License-Identifier: Apache-2.0
"""A child process that the referee starts, restarts when it dies, and stops."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from referee.programs.forked import Forked

# A process that keeps dying is restarted after a wait that doubles each time, up to the maximum.
# A process that lived for _STEADY_S begins again with the first wait.
_RESTART_FIRST_S = 0.2
_RESTART_MOST_S = 5.0
_STEADY_S = 30.0
# A log that has grown beyond this is put aside, and the one that was aside before is dropped. So a
# flood of requests cannot fill the disk with lines.
_LOG_MOST_BYTES = 50 * 2**20

_log = logging.getLogger(__name__)


class Child:
    """One child process with its command, its log file and its restarts.

    `title` is its name in messages. `descriptors` are the file descriptors that it inherits.
    """

    def __init__(
        self, title: str, command: Sequence[str], log: Path, descriptors: Sequence[int] = ()
    ) -> None:
        self.title = title
        self.command = command
        self._log_path = log
        self._descriptors = descriptors
        self._process: subprocess.Popen[bytes] | Forked | None = None
        self._started_s = 0.0
        self._restart_s = _RESTART_FIRST_S

    @property
    def pid(self) -> int | None:
        """Return the process id of the newest start, or None before the first start."""
        return None if self._process is None else self._process.pid

    def start(self, forked: Forked | None = None) -> None:
        """Start the process, or let `forked` become it; its output goes to its log file."""
        with self._log_path.open("ab") as log:
            self._start(log.fileno(), log.fileno(), forked)

    def start_with_pipe(self, forked: Forked | None = None) -> IO[bytes]:
        """Start the process as `start` does, and return its standard output."""
        reading, writing = os.pipe()
        try:
            with self._log_path.open("ab") as log:
                self._start(writing, log.fileno(), forked)
        finally:
            os.close(writing)
        return os.fdopen(reading, "rb")

    def _start(self, stdout: int, stderr: int, forked: Forked | None) -> None:
        if forked is not None:
            forked.run(self.command, stdout, stderr, self._descriptors)
            self._process = forked
        else:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=self._descriptors,
                # Ctrl-C reaches the supervisor alone. It stops the other processes in order.
                start_new_session=True,
            )
        self._started_s = time.monotonic()

    def look_after(self, alarm: Callable[[str], None]) -> None:
        """Restart the process if it has ended.

        A process that keeps ending waits longer each time. `alarm` gets a sentence about the
        first end of such a series.
        """
        self._bound_log()
        process = self._process
        if process is None or process.poll() is None:
            return
        age = time.monotonic() - self._started_s
        if age > _STEADY_S:
            self._restart_s = _RESTART_FIRST_S
        if age < self._restart_s:
            return
        text = (
            f"The {self.title} ended ({process.returncode}) and is started again; "
            f"{self._log_path} says why."
        )
        _log.error("%s", text)
        first = self._restart_s == _RESTART_FIRST_S
        self._restart_s = min(2 * self._restart_s, _RESTART_MOST_S)
        self.start()
        if first:
            alarm(text)

    def _bound_log(self) -> None:
        """Put a long log aside and empty it; what the process writes meanwhile may be lost.

        The process keeps the file open for appending, so the file itself must stay.
        """
        try:
            if self._log_path.stat().st_size <= _LOG_MOST_BYTES:
                return
        except FileNotFoundError:
            return
        aside = self._log_path.with_name(self._log_path.name + ".1")
        try:
            shutil.copyfile(self._log_path, aside)
        except OSError:
            aside.unlink(missing_ok=True)  # The disk is full, and answers need the room more.
        os.truncate(self._log_path, 0)

    def terminate(self) -> None:
        """Ask the process to end."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()

    def wait(self, timeout_s: float) -> None:
        """Wait until the process has ended; after `timeout_s` kill it and its own children."""
        if self._process is None:
            return
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
