# SPDX-License-Identifier: Apache-2.0
"""The type of a function that runs blocking work, which each server brings with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class BlockingRunner(Protocol):
    """A way to call a function that may block, without blocking other requests.

    It returns the function's result or raises its exception.
    """

    def __call__(self, work: Callable[[], T], /) -> T: ...


def run_here(work: Callable[[], T]) -> T:
    """Call a function in this thread, as programs do that have a thread for each request."""
    return work()
