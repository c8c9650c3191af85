# SPDX-License-Identifier: Apache-2.0
"""Memory that a process has freed goes back to the system, where the C library keeps it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable


def memory_trimmer() -> Callable[[], object]:
    """Return a function that gives freed memory back; elsewhere than with glibc it does nothing.

    glibc keeps what each thread has freed, up to hundreds of megabytes after some long answers.
    """
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return (lambda: trim(0)) if trim is not None else (lambda: None)
