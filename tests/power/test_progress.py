# SPDX-License-Identifier: Apache-2.0
"""The progress line leaves nothing behind, however its program ends."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from power.commands.progress import progress_line, tell
with progress_line(1.0) as draw:
    draw(0.5, "6.80 W")
    tell("half")
print("multiprocessing.synchronize" in sys.modules)
"""


def test_the_line_has_no_lock_of_all_processes() -> None:
    """Such a lock is a semaphore, which a program that leaves at once would leave to the system."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert ("half\nFalse\n", 0) == (done.stdout, done.returncode), done.stderr
