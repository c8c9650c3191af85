# SPDX-License-Identifier: Apache-2.0
"""The tie of a process to the one that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)


def stop_with_parent(parent_pid: int, by: int = signal.SIGTERM) -> None:
    """Ask the kernel to stop this process by a signal when its parent dies, even by SIGKILL.

    Only Linux does this. Everywhere a parent that is gone already ends this process at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, by, 0, 0, 0)
    if os.getppid() != parent_pid:
        raise SystemExit("the program that started this one is gone already")
