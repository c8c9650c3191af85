# SPDX-License-Identifier: Apache-2.0
"""The meter's own memory for measured values (STORe and RECall, pages 6-30 and 6-32)."""

from __future__ import annotations

from typing import Generic, TypeVar

MOST_BLOCKS = 9000
"""The largest block number of RECall (page 6-30)."""

_Block = TypeVar("_Block")


class Memory(Generic[_Block]):
    """Blocks of values, one at each update, or one each interval; a full memory stores no more."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.interval_s = 0
        self._next_s: float | None = None

    @property
    def is_on(self) -> bool:
        """Tell whether it stores."""
        return self._next_s is not None

    def switch(self, on: bool, now: float) -> None:
        """Begin to store into an empty memory, or end; ON again begins anew."""
        if on:
            self.blocks = []
        self._next_s = now if on else None

    def offer(self, block: _Block, at_s: float) -> None:
        """Store a block if one is due."""
        if self._next_s is None or at_s < self._next_s - 1e-9:
            return
        self.blocks.append(block)
        self._next_s += self.interval_s
        if len(self.blocks) >= MOST_BLOCKS:
            self._next_s = None
