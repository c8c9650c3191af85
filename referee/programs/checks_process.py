# SPDX-License-Identifier: Apache-2.0
"""The process of the slow checks, which the desk starts and watches."""

from __future__ import annotations

import subprocess
import threading
import time

from referee.service.setup.config import Config
from referee.service.setup.program import command_of

_MOST_S = 600.0
_END_S = 20.0
_LOOK_S = 0.1


def run_in_a_process(config: Config, stopping: threading.Event) -> str:
    """Make all slow checks in a process of their own; return '' or why they were not made.

    The process ends within twenty seconds when `stopping` is set, and dies with this one.
    """
    command = command_of("checks", config)
    path = config.storage.folder / "logs" / "checks.log"
    with path.open("ab") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    deadline = time.monotonic() + _MOST_S
    while child.poll() is None and time.monotonic() < deadline:
        if stopping.wait(_LOOK_S):
            break
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        return f"the checks were stopped: they had not ended after {_MOST_S:.0f} s"
    return "" if child.returncode == 0 else f"the checks ended with {child.returncode}"
