# SPDX-License-Identifier: Apache-2.0
"""The path of a file that a command writes: for the parsers of both packages."""

from __future__ import annotations

import argparse
import stat
from pathlib import Path


def file_to_write(text: str) -> Path:
    """Return a path that no device or pipe has; it may be a folder, or not be there.

    A file is written beside its place and then moved there. Over a device that would put a file in
    the device's place for every program of the machine, and a pipe that nobody reads would hold
    the command for ever.
    """
    path = Path(text)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # Not there, or no name that can be: the writer says it.
        return path
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise argparse.ArgumentTypeError(f"{text} is a device or a pipe: name a file")
    return path
