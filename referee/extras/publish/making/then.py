# SPDX-License-Identifier: Apache-2.0
"""The organiser's command that copies a site to its host."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

_MOST_S = 600.0
"""A command that takes longer is stopped: the first copy of a site with evidence is the longest."""

_END_S = 5.0


class Then:
    """A command for the shell that runs after each change, one at a time."""

    def __init__(
        self, command: str, tell: Callable[[str], object], most_s: float = _MOST_S
    ) -> None:
        self._command, self._tell, self._most_s = command, tell, most_s
        self._told = ""
        self.failed = False

    def run(self) -> None:
        """Run the command to its end; tell each new fault, and that it is over."""
        fault = self._fault()
        self.failed = bool(fault)
        if fault != self._told:
            self._tell(fault or "The command of --then has worked again.")
        self._told = fault

    def _fault(self) -> str:
        process = subprocess.Popen(
            self._command, shell=True, stdin=subprocess.DEVNULL, start_new_session=True
        )
        try:
            code = process.wait(self._most_s)
        except subprocess.TimeoutExpired:
            return (
                f"The command of --then had not ended after {self._most_s:g} s, and was stopped. "
                "It is tried again."
            )
        finally:
            _end(process)
        return "" if code == 0 else f"The command of --then ended with {code}. It is tried again."


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a command with all that it has started; Ctrl-C ends it so, too."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, kind)
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            continue
