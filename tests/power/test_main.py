# SPDX-License-Identifier: Apache-2.0
"""`python -m power` as a program: Ctrl-C before it has begun."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Ctrl-C comes while the module `power.cli` is imported.
EARLY = """
import importlib.abc, runpy, sys

class Early(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "power.cli":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Early())
runpy.run_module("power", run_name="__main__")
"""


def test_ctrl_c_while_the_program_loads_is_told_in_a_line() -> None:
    """There is no traceback, and the exit code is that of a command that was interrupted."""
    done = subprocess.run(
        [sys.executable, "-c", EARLY], cwd=ROOT, capture_output=True, text=True, timeout=180
    )
    assert (1, "", "interrupted\n") == (done.returncode, done.stdout, done.stderr)
