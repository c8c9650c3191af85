# SPDX-License-Identifier: Apache-2.0
"""One measurement: its samples in order, which of them were read, and when it is over; pure."""

from __future__ import annotations

from collections.abc import Sequence

from power.ptd.protocol import MOST_SAMPLES, Start
from power.ptd.samples import PtdSample


class PtdMeasurement:
    """The samples between `Go` and `Stop`.

    The first `rampup` samples are only shown: they are in no total, and `RL` leaves them out.
    """

    def __init__(self, start: Start, interval_s: float) -> None:
        self.interval_s = interval_s
        self.mark = start.mark
        self.most = MOST_SAMPLES if start.samples is None else start.samples
        self._rampup = start.rampup
        self._timed = start.samples is not None
        self._newest: PtdSample | None = None
        self._samples: list[PtdSample] = []
        self._read = 0

    @property
    def samples(self) -> Sequence[PtdSample]:
        """Return the samples that count."""
        return self._samples

    @property
    def newest(self) -> PtdSample | None:
        """Return the newest sample, one of the ramp-up too."""
        return self._newest

    @property
    def kind(self) -> str:
        """Return how the answers name it: `timed` or `untimed`."""
        return "timed" if self._timed else "untimed"

    @property
    def full(self) -> bool:
        """Tell whether it has all its samples."""
        return len(self._samples) >= self.most

    def describe(self) -> str:
        """Return the answer to its start."""
        number = f"{self.most}" if self._timed else f"maximum {self.most}"
        return (
            f"Starting {self.kind} measurement, {number} samples at "
            f"{round(1000 * self.interval_s)}ms with {self._rampup} rampup samples"
        )

    def add(self, sample: PtdSample) -> None:
        """Add the next sample."""
        self._newest = sample
        if self._rampup > 0:
            self._rampup -= 1
        elif not self.full:
            self._samples.append(sample)

    def take(self, count: int | None) -> list[PtdSample]:
        """Return the last samples of those that nobody has read, and note all as read.

        None takes all of them. The list is empty, and nothing is noted, if there are too few.
        """
        unread = len(self._samples) - self._read
        wanted = unread if count is None else count
        if not 0 < wanted <= unread:
            return []
        self._read = len(self._samples)
        return self._samples[-wanted:]
