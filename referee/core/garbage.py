# SPDX-License-Identifier: Apache-2.0
"""Python's collector of garbage, which rests while much is loaded that stays."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collections_paused() -> Iterator[None]:
    """Pause the garbage collector while a process loads many objects, none of them garbage.

    Among them are modules: looks in between would be a sixth of a server's start. The collector is
    the whole process's, so a process with other threads keeps it.
    """
    enabled = gc.isenabled() and threading.active_count() == 1
    if enabled:
        gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def keep_what_is_loaded() -> None:
    """Take all that there is out of every later look for garbage, the one at the end included.

    A process calls it when its modules are loaded: they stay as long as it runs.
    """
    gc.freeze()
