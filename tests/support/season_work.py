# SPDX-License-Identifier: Apache-2.0
"""Work for the workers of a season: some of it kills them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from referee.errors import InputError


def square(number):
    """Return the square of a number."""
    return number * number


def kill_once(path):
    """Kill the process that does this for the first time; the second time return its name."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return Path(path).name
    os.kill(os.getpid(), signal.SIGKILL)


def kill_or_square(number):
    """Kill any process that is given a negative number."""
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def refuse(number):
    """Raise what a worker raises that has another ground truth."""
    raise InputError(f"no such truth for {number}")
