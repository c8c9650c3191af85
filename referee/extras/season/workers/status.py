# SPDX-License-Identifier: Apache-2.0
"""The line that says how far a season is."""

from __future__ import annotations

import time
from collections.abc import Callable

from tqdm import tqdm

from referee.core.counts import counted
from referee.extras.season.rescoring import SeasonProgress

_WIDTH = 60


class Status:
    """What is under way, how fast, and how long it will take, as text for `show`."""

    def __init__(
        self, show: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show = show
        self._clock = clock
        self._what = ""
        self._begun_s = 0.0

    def tell(self, what: str, progress: SeasonProgress) -> None:
        """Show how far it is; the time left follows from the bytes, the rate counts bundles."""
        now_s = self._clock()
        if what != self._what:
            self._what, self._begun_s = what, now_s
        elapsed_s = now_s - self._begun_s
        bar = tqdm.format_meter(
            round(progress.bytes_done),
            max(progress.bytes, 1),
            elapsed_s,
            ncols=_WIDTH,
            unit="B",
            unit_scale=True,
            bar_format="{percentage:3.0f}%|{bar}| {elapsed}, {remaining} left",
        )
        rate = progress.bundles_done / elapsed_s if elapsed_s > 0 else 0.0
        broken = f", {progress.broken} broken" if progress.broken else ""
        self._show(
            f"{what}: {progress.bundles_done} of {counted(progress.bundles, 'bundle')}{broken},"
            f" {rate:.1f} a second {bar}"
        )
