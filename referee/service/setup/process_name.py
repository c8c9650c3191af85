# SPDX-License-Identifier: Apache-2.0
"""The name of a program's process, as `top`, `ps -e` and the console show it.

Programs that were forked from one command share its command line, so that tells them no longer
apart. Only Linux has such names, of 15 bytes; elsewhere each program has a command line of its own.
"""

from __future__ import annotations

import ctypes
import sys

_PR_SET_NAME = 15  # prctl(2)
_PREFIX = "ref "
_METERS = "power "


def name_process(name: str) -> None:
    """Give this process, and those that it forks, a name."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def name_of(program: str) -> str:
    """Return the name of a program's process: `ref desk`."""
    return f"{_PREFIX}{program}"


def named_program(name: str) -> str:
    """Return the program whose process has a name: `desk`, `power emulate`, or '' for another."""
    if name.startswith(_METERS):
        return name
    return name.removeprefix(_PREFIX) if name.startswith(_PREFIX) else ""
