# SPDX-License-Identifier: Apache-2.0
"""A session as the coach sees it: answers, requests and energy, each with its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from power.energy.moments import Until
from referee.scoring import Detections, GroundTruth

Ints = NDArray[np.int64]

Span = tuple[float, float]
"""A begin and an end in seconds of the session; the end is not before the begin."""


class Course(Protocol):
    """The energy until any moment of the session (see `power.energy.moments.EnergyCourse`)."""

    def until(self, moment_s: float) -> Until:
        """Return the energy from the start until a session time."""


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer in time.

    `at_s` is the session time of its last byte. `images` (n,) are the images that it names, each
    once and ascending, also those without a row. All ids are those of the ground truth.
    """

    at_s: float
    detections: Detections
    images: Ints


@dataclass(frozen=True)
class Served:
    """A request of the session, and the time of its answer.

    `at_s` is the session time at which it was complete, and `took_s` the time from there to the end
    of the answer. `images` are those that it fetched, by the ids of the ground truth.
    """

    at_s: float
    took_s: float
    images: tuple[int, ...] = ()
    sent_bytes: int = 0

    @property
    def span(self) -> Span:
        """Return from when to when the client waited for the answer."""
        return self.at_s, self.at_s + self.took_s


@dataclass(frozen=True, eq=False)
class Played:
    """An ended session with a valid energy.

    `answers` and `requests` are in order of their times. `ended_s` is the session time of the end,
    and `update_s` the time between two readings of the meter. `sizes` are width and height of the
    images in pixels, `numbers` those by which the client fetched them.
    `has_archives` tells whether it could have fetched archives of images.
    """

    truth: GroundTruth
    answers: Sequence[Answered]
    requests: Sequence[Served]
    course: Course
    ended_s: float
    energy_wh: float
    uncertainty_wh: float | None
    update_s: float
    sizes: dict[int, tuple[int, int]]
    numbers: dict[int, int]
    has_archives: bool

    def energy_between(self, span: Span) -> float:
        """Return the watt-hours that the device took in a span of the session."""
        begin, end = (min(max(0.0, moment), self.ended_s) for moment in span)
        return self._until(end) - self._until(begin)

    def _until(self, moment_s: float) -> float:
        return self.energy_wh if moment_s >= self.ended_s else self.course.until(moment_s).energy_wh

    @property
    def first_image_s(self) -> float:
        """Return when the first image was asked for.

        If none was, it is when the first answer came, or else when the session ended.
        """
        asked = (one.at_s for one in self.requests if one.images)
        return min(asked, default=self.answers[0].at_s if self.answers else self.ended_s)

    @property
    def last_answer_s(self) -> float:
        """Return when the last answer came; without one, when the session ended."""
        return self.answers[-1].at_s if self.answers else self.ended_s

    @property
    def images_answered(self) -> int:
        """Return the number of different images with an answer."""
        return len(np.unique(np.concatenate([_NONE, *(one.images for one in self.answers)])))

    @property
    def detections(self) -> Detections:
        """Return the rows of all answers, in their order."""
        return Detections.concatenate([one.detections for one in self.answers])


_NONE: Ints = np.zeros(0, dtype=np.int64)
