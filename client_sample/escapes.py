# SPDX-License-Identifier: Apache-2.0
"""What a program prints where its terminal lacks a character."""

from __future__ import annotations

import io
import sys


def print_escapes() -> None:
    """Let standard output print an escape for each character that its encoding lacks.

    Python does so for standard error by itself.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
