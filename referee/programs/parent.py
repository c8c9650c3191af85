# SPDX-License-Identifier: Apache-2.0
"""The tie of a program to the supervisor that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # prctl(2)


def stop_with_parent(parent_pid: int) -> None:
    """Ask the kernel to stop this process when its supervisor dies, even by SIGKILL."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent_pid:
        raise SystemExit("the supervisor is gone already")
