# SPDX-License-Identifier: Apache-2.0
"""A command of the referee that its desk runs: a process of its own, which stands back."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence

from referee.errors import Unavailable

_MOST_S = 1800.0
_NICENESS = 10


def run_own_command(words: Sequence[str], bound_s: float = _MOST_S) -> tuple[int, str]:
    """Run `referee` with these words; return its exit code and what it said on standard error.

    The desk's threads, which read the meters, go first. Raises `Unavailable` after the bound.
    """
    nice = shutil.which("nice")
    stands_back = [] if nice is None else [nice, "-n", str(_NICENESS)]
    command = [*stands_back, sys.executable, "-m", "referee", *words]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=bound_s,
        )
    except subprocess.TimeoutExpired:
        text = f"'referee {words[0]}' took more than {bound_s:g} s. Run it in a terminal."
        raise Unavailable(text) from None
    return done.returncode, done.stderr.decode("utf-8", "replace")
