# SPDX-License-Identifier: Apache-2.0
"""The syntax trees of the project's files, which the tests of layers and style walk."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file; it is parsed once for all tests of a process.

    The collector rests meanwhile, and never sees the trees: it would walk them, in which nothing
    is garbage, for three times as long as the parser takes.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.freeze()
        if collects:
            gc.enable()
