# SPDX-License-Identifier: Apache-2.0
"""The command that `run` measures, as a child process; signals reach it once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from power.clock import real_elapsed_s


class MeasuredCommand:
    """One command: any thread may ask for its start, and the main thread's `look` starts it.

    So it inherits no priority of the thread that reads the meter. `quiet_stdout` sends its standard
    output to standard error. `trouble` says why it could not be started.
    """

    def __init__(self, words: Sequence[str], *, quiet_stdout: bool = False) -> None:
        """Choose the command; raise ValueError if there is none of this name."""
        if shutil.which(words[0]) is None:
            raise ValueError(
                f"{words[0]}: no such command. Write the program's name or path behind --, as in: "
                "run RESOURCE -- python bench.py"
            )
        self._words = words
        self._quiet_stdout = quiet_stdout
        self._wanted = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._passed = False
        self._starting = False
        self._cancelled = False
        self._early: int | None = None
        self.begun_s: float | None = None
        self.ended_s: float | None = None
        self.failed = False
        self.trouble = ""

    def launch(self) -> None:
        """Ask for the start; the second call does nothing."""
        self._wanted.set()

    def look(self) -> None:
        """Start the command if somebody has asked for that; called again and again."""
        if not self._wanted.is_set() or self.begun_s is not None or self.failed:
            return
        # A signal from here on is for the command, although its process is not known yet.
        self._starting = True
        if not self._cancelled:
            self._start()
        self._starting = False
        if self._early is not None:
            self.take(self._early)

    def _start(self) -> None:
        try:
            self.begun_s = real_elapsed_s()
            self._process = subprocess.Popen(
                self._words, stdout=sys.stderr if self._quiet_stdout else None
            )
        except OSError as error:
            self.begun_s, self.failed = None, True
            self.trouble = f"{self._words[0]} could not be started: {error.strerror or error}"
            return
        threading.Thread(target=self._wait, args=(self._process,), daemon=True).start()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self.ended_s = real_elapsed_s()

    @property
    def running(self) -> bool:
        """Tell whether the command runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit(self) -> int | None:
        """Return the command's exit status as a shell tells it, None if it has not ended."""
        code = None if self._process is None else self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def take(self, number: int) -> bool:
        """Pass a signal on to the running command; return whether that answers the signal.

        The second one kills the command. A Ctrl-C at the terminal reaches the command without us.
        After a signal that comes before the command it is not started any more.
        """
        if self._starting:
            self._early = number
            return True
        process = self._process
        if process is None or process.poll() is not None:
            self._cancelled = True
            return False
        if self._passed:
            process.kill()
            return False
        self._passed = True
        if number != signal.SIGINT or not _at_terminal():
            process.send_signal(number)
        return True

    def finish(self) -> None:
        """Wait until the command has ended, if it was started."""
        if self._process is not None:
            self._process.wait()


def _at_terminal() -> bool:
    """Tell whether a terminal sends its Ctrl-C to this program and its children."""
    if sys.platform == "win32":
        return True
    for descriptor in (0, 1, 2):
        with suppress(OSError):
            return os.tcgetpgrp(descriptor) == os.getpgrp()
    return False
