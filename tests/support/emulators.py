# SPDX-License-Identifier: Apache-2.0
"""Emulated meters as processes of their own, started as a user starts them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


class Emulator:
    """An emulator process that is ready, and the resource string that it printed."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "power", "emulate", "--port", "0", *options],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        self.resource = self.line.split()[1]

    def end(self) -> int:
        """Ask the process to end and return its exit code."""
        assert self.process.stdout is not None
        self.process.terminate()
        code = self.process.wait(timeout=180)
        self.process.stdout.close()
        return code
