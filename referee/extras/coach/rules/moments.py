# SPDX-License-Identifier: Apache-2.0
"""The score that a session had had if it had ended at a moment, for the moments of its answers.

It is the mAP of the answers until then by the energy until then. Both are known: answers have
times, and the integrator counts on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.extras.coach.rules.played import Answered, Played
from referee.scoring import Detections, LiveScore, Rules
from referee.scoring.split_half import Drawing

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOMENTS_MOST = 60
"""A score is computed at so many moments at most; each costs as much as a score of the session."""

IMAGES_LEAST = 20
"""From so many answered images on a moment is looked at: before, a few lucky boxes decide."""


@dataclass(frozen=True)
class Moment:
    """What the session had come to at a moment, if it had ended there.

    `images` counts the images answered. The energy may be off by `within_wh`, because the meter
    counts at its updates alone.
    """

    at_s: float
    images: int
    mean_ap: float
    energy_wh: float
    within_wh: float

    @property
    def score(self) -> float:
        """Return mAP per watt-hour."""
        return self.mean_ap / self.energy_wh


@dataclass(frozen=True, eq=False)
class ScoredMoments:
    """Moments of a session in order of time with a score above 0; the last one is the end.

    `influences` (moments, images) says how much each mAP rises with the weight of each image.
    `place` (images,) is the number of the moment until which an image had been answered; an image
    without an answer has a number of its own, behind them all. `named` (moments,) counts the images
    that answers had named, one that came again as another one.
    """

    moments: tuple[Moment, ...]
    influences: Floats
    place: Ints
    named: Ints


def scored_moments(
    played: Played,
    rules: Rules | str = "devkit",
    progress: Callable[[int, int], None] | None = None,
) -> ScoredMoments | None:
    """Return the moments of a session; None for one without a score above 0 at its end.

    `progress` gets the number of moments done and that of all.
    """
    live = LiveScore(played.truth, rules)
    times = _times(played)
    arrived_s = [one.at_s for one in played.answers]
    ids = played.truth.image_ids
    place = np.full(len(ids), len(times), dtype=np.int64)
    moments: list[Moment] = []
    influences: list[Floats] = []
    named: list[int] = []
    sent = so_far = 0
    for number, at_s in enumerate(times):
        upto = bisect_right(arrived_s, at_s)
        if came := played.answers[sent:upto]:
            # The score depends on the order of the rows alone, and one long answer is added fast.
            live.add(Detections.concatenate([one.detections for one in came]))
            known = np.isin(ids, np.concatenate([one.images for one in came]))
            place[known & (place == len(times))] = number
            so_far += sum(len(one.images) for one in came)
        sent = upto
        result = live.result()
        if result.mean_ap:
            images = int((place <= number).sum())
            moments.append(_moment(played, at_s, images, result.mean_ap))
            influences.append(Drawing(result).influence)
            named.append(so_far)
        if progress:
            progress(number + 1, len(times))
    if not moments or moments[-1].at_s < times[-1]:
        return None
    return ScoredMoments(tuple(moments), np.stack(influences), place, np.array(named))


def _times(played: Played) -> list[float]:
    """Return the moments: those of the answers, or of as many of them as are allowed, and the end.

    The last answer is always one of them: after it nothing but energy came. A moment with no energy
    divides nothing, and one that is an update before the end is the end for the meter.
    """
    latest_s = played.ended_s - played.update_s
    answered = zip(played.answers, _images_until(played.answers), strict=True)
    came = {one.at_s for one, images in answered if images >= IMAGES_LEAST}
    if played.answers:
        came.add(played.last_answer_s)
    inside = sorted(at_s for at_s in came if 0.0 < at_s < latest_s)
    if len(inside) >= MOMENTS_MOST:
        chosen = np.linspace(0, len(inside) - 1, MOMENTS_MOST - 1).round().astype(int)
        inside = [inside[one] for one in np.unique(chosen)]
    counted = [at_s for at_s in inside if played.energy_between((0.0, at_s)) > 0.0]
    return [*counted, played.ended_s]


def _images_until(answers: Sequence[Answered]) -> Iterator[int]:
    """Yield the number of different images answered until each answer."""
    known: set[int] = set()
    for answer in answers:
        known.update(answer.images.tolist())
        yield len(known)


def _moment(played: Played, at_s: float, images: int, mean_ap: float) -> Moment:
    if at_s >= played.ended_s:
        return Moment(at_s, images, mean_ap, played.energy_wh, 0.0)
    until = played.course.until(at_s)
    late_wh = until.off_s * max(abs(until.low_w), abs(until.high_w)) / 3600
    return Moment(at_s, images, mean_ap, until.energy_wh, until.within_wh + late_wh)
