# SPDX-License-Identifier: Apache-2.0
"""What the same client would have scored if it had worked otherwise, where the data carry it.

Each case changes one thing and keeps the rest as it was measured. It rests on an assumption, which
has a name. Where the session does not tell what a case needs, the case says why, and no figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from referee.extras.coach.rules.parts import (
    Phase,
    WhereItWent,
    clipped,
    held_spans,
    image_requests,
    joined,
    length_s,
    without,
)
from referee.extras.coach.rules.played import Answered, Played
from referee.scoring import IlsvrcResult, Rules, evaluate

Floats = NDArray[np.float64]

ARCHIVE_IMAGES = 100
"""So many images come in one archive (GET /images)."""

FEWER_SHARE = 0.5
"""The case of fewer images keeps this share of the images answered."""

# Halves of many images hardly differ, and each takes as long as a score of the session.
_DRAWS, _DRAWN_IMAGES = (2, 20), 20_000
_REQUESTS_LEAST = 30
# What saves less of the energy is not worth a change.
_LEAST_SHARE = 0.001
_OVERHEAD_LEAST_S = 1e-4
_CLASS_BOXES_LEAST = 10
_IMAGES_A_CLASS = 3
# Standard errors on one side that a cost is beyond 0.
_SURE = 2.0


class Case(Enum):
    """What is done otherwise."""

    LOGOUT = "logout_with_last_answer"
    PIPELINED = "pipelined"
    ARCHIVES = "archives"
    CLASS_LEFT_OUT = "class_left_out"
    FEWER_IMAGES = "fewer_images"


class WhyNot(Enum):
    """Why the session does not carry a case."""

    LOGGED_OUT = "logged_out"
    NO_WAITING = "no_waiting"
    NO_ARCHIVES = "no_archives"
    ARCHIVES_USED = "archives_used"
    FEW_REQUESTS = "few_requests"
    NO_OVERHEAD = "no_overhead"
    SEVERAL_AT_ONCE = "several_at_once"
    FEW_BOXES = "few_boxes"
    NO_COSTLY_CLASS = "no_costly_class"
    NO_BASE = "no_base"


@dataclass(frozen=True)
class WhatIf:
    """A case with the figures that it would have had.

    `energy_wh` and `mean_ap` are those of the changed session, and `gain` its score over the real
    one, minus 1. `seconds` are those saved. `class_id` is the class that is left out, and `why_not`
    says why there are no figures.
    """

    case: Case
    energy_wh: float | None = None
    mean_ap: float | None = None
    gain: float | None = None
    seconds: float = 0.0
    class_id: int | None = None
    why_not: WhyNot | None = None


def what_if(played: Played, went: WhereItWent, rules: Rules | str = "devkit") -> list[WhatIf]:
    """Return each case, the classes that could be left out by falling gain."""
    result = evaluate(played.truth, played.detections, rules)
    if result.mean_ap is None or result.mean_ap <= 0:
        return []
    changed = _Changed(played.energy_wh, result.mean_ap)
    return [
        _logout(played, went, changed),
        _pipelined(went, changed),
        _archives(played, went, changed),
        *_classes(played, went, result, changed),
        _fewer(played, went, rules, changed),
    ]


@dataclass(frozen=True)
class _Changed:
    """The real session's figures, and what becomes of them."""

    energy_wh: float
    mean_ap: float

    def to(
        self, case: Case, *, saved_wh: float = 0.0, mean_ap: float | None = None, **more: float
    ) -> WhatIf:
        """Return a case with less energy, or another mAP."""
        accuracy = self.mean_ap if mean_ap is None else mean_ap
        energy_wh = self.energy_wh - saved_wh
        gain = accuracy / energy_wh / (self.mean_ap / self.energy_wh) - 1
        seconds = more.get("seconds", 0.0)
        class_id = more.get("class_id")
        return WhatIf(
            case, energy_wh, accuracy, gain, seconds, None if class_id is None else int(class_id)
        )


def _logout(played: Played, went: WhereItWent, changed: _Changed) -> WhatIf:
    """Return the case of a logout right after the last answer: nothing but energy came later."""
    after = went.part(Phase.AFTER)
    if after.seconds < played.update_s or not 0 < after.energy_wh < changed.energy_wh:
        return WhatIf(Case.LOGOUT, why_not=WhyNot.LOGGED_OUT)
    return changed.to(Case.LOGOUT, saved_wh=after.energy_wh, seconds=after.seconds)


def _pipelined(went: WhereItWent, changed: _Changed) -> WhatIf:
    """Return the case without waiting: the same answers earlier, and the logout as much earlier.

    What the device took while it waited is saved. What it takes while it works stays.
    """
    waiting = went.part(Phase.WAITING)
    if not _LEAST_SHARE * changed.energy_wh < waiting.energy_wh < changed.energy_wh:
        return WhatIf(Case.PIPELINED, why_not=WhyNot.NO_WAITING)
    return changed.to(Case.PIPELINED, saved_wh=waiting.energy_wh, seconds=waiting.seconds)


def _archives(played: Played, went: WhereItWent, changed: _Changed) -> WhatIf:
    """Return the case in which one request brings 100 images.

    A request takes a time of its own beside that of its bytes: the line through the requests' times
    over their bytes, at no byte. That is saved for all requests but one in 100, as far as the
    client waited. A share of two standard errors is not counted.
    """
    fetching = image_requests(played)
    if not played.has_archives:
        return WhatIf(Case.ARCHIVES, why_not=WhyNot.NO_ARCHIVES)
    if any(len(one.images) > 1 for one in fetching):
        return WhatIf(Case.ARCHIVES, why_not=WhyNot.ARCHIVES_USED)
    if len(fetching) < _REQUESTS_LEAST:
        return WhatIf(Case.ARCHIVES, why_not=WhyNot.FEW_REQUESTS)
    took_s = np.array([one.took_s for one in fetching])
    line = _least_squares(
        np.column_stack([np.ones(len(took_s)), [one.sent_bytes for one in fetching]]), took_s
    )
    each_s = 0.0 if line is None else line.surely(0)
    waited = without(
        joined(clipped([one.span for one in fetching], (0.0, played.ended_s))), held_spans(played)
    )
    waited_s = length_s(waited)
    if each_s < _OVERHEAD_LEAST_S:
        return WhatIf(Case.ARCHIVES, why_not=WhyNot.NO_OVERHEAD)
    saved_s = min(each_s * (len(fetching) - math.ceil(len(fetching) / ARCHIVE_IMAGES)), waited_s)
    waiting = went.part(Phase.WAITING)
    saved_wh = saved_s * waiting.energy_wh / waiting.seconds if waiting.seconds > 0 else 0.0
    if saved_wh < _LEAST_SHARE * changed.energy_wh:
        return WhatIf(Case.ARCHIVES, why_not=WhyNot.NO_OVERHEAD)
    return changed.to(Case.ARCHIVES, saved_wh=saved_wh, seconds=saved_s)


def _classes(
    played: Played, went: WhereItWent, result: IlsvrcResult, changed: _Changed
) -> Iterator[WhatIf]:
    """Yield the classes that cost more than they bring, or one case that says why none is known.

    The time from one answer to the next is a time of its own and one for each box of a class. What
    the boxes of a class took, two standard errors less, is saved at the power of working; its AP is
    lost from the mean.
    """
    if any(len(one.images) != 1 for one in played.answers):
        yield WhatIf(Case.CLASS_LEFT_OUT, why_not=WhyNot.SEVERAL_AT_ONCE)
        return
    detections = played.detections
    class_ids, totals = np.unique(detections.class_id, return_counts=True)
    known = class_ids[(totals >= _CLASS_BOXES_LEAST) & np.isin(class_ids, played.truth.class_ids)]
    if not len(known) or len(played.answers) < _IMAGES_A_CLASS * (len(known) + 1):
        yield WhatIf(Case.CLASS_LEFT_OUT, why_not=WhyNot.FEW_BOXES)
        return
    counts = _counts(played.answers, known)
    arrived = [played.first_image_s, *(one.at_s for one in played.answers)]
    line = _least_squares(np.column_stack([np.ones(len(counts)), counts]), np.diff(arrived))
    if line is None:
        yield WhatIf(Case.CLASS_LEFT_OUT, why_not=WhyNot.FEW_BOXES)
        return
    working = went.part(Phase.WORKING)
    power_wh_s = working.energy_wh / working.seconds if working.seconds > 0 else 0.0
    cases = []
    for number, class_id in enumerate(known.tolist()):
        seconds = max(0.0, line.surely(number + 1)) * float(counts[:, number].sum())
        saved_wh = min(seconds * power_wh_s, working.energy_wh)
        ap = result.ap.get(class_id) or 0.0
        mean_ap = changed.mean_ap - ap / result.classes_with_ground_truth
        case = changed.to(
            Case.CLASS_LEFT_OUT,
            saved_wh=saved_wh,
            mean_ap=mean_ap,
            seconds=seconds,
            class_id=class_id,
        )
        cases += [case] if case.gain is not None and case.gain > 0 and saved_wh > 0 else []
    yield from sorted(cases, key=lambda one: -(one.gain or 0.0))
    if not cases:
        yield WhatIf(Case.CLASS_LEFT_OUT, why_not=WhyNot.NO_COSTLY_CLASS)


def _counts(answers: Sequence[Answered], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of each class in each answer, (answers, classes); `classes` ascend."""
    rows = np.repeat(np.arange(len(answers)), [len(one.detections) for one in answers])
    class_id = np.concatenate([one.detections.class_id for one in answers])
    at = np.minimum(np.searchsorted(classes, class_id), len(classes) - 1)
    cell = (rows * len(classes) + at)[classes[at] == class_id]
    counts = np.bincount(cell, minlength=len(answers) * len(classes))
    return counts.reshape(len(answers), len(classes))


def _fewer(played: Played, went: WhereItWent, rules: Rules | str, changed: _Changed) -> WhatIf:
    """Return the case in which the client leaves out every second image, in the same time.

    The device takes its base power all the same. What it takes above falls as the images do. The
    mAP is the mean of random halves of the images answered, the others being missed.
    """
    if went.base is None or went.base.energy_wh >= changed.energy_wh:
        return WhatIf(Case.FEWER_IMAGES, why_not=WhyNot.NO_BASE)
    detections = played.detections
    answered = np.unique(np.concatenate([one.images for one in played.answers]))
    chance = np.random.default_rng(0)
    found = []
    for _ in range(int(np.clip(_DRAWN_IMAGES // len(answered), *_DRAWS))):
        kept = chance.choice(answered, math.ceil(FEWER_SHARE * len(answered)), replace=False)
        half = detections.select(np.isin(detections.image_id, kept))
        found.append(evaluate(played.truth, half, rules).mean_ap or 0.0)
    above_wh = changed.energy_wh - went.base.energy_wh
    mean_ap = float(np.mean(found))
    return changed.to(Case.FEWER_IMAGES, saved_wh=(1 - FEWER_SHARE) * above_wh, mean_ap=mean_ap)


@dataclass(frozen=True)
class _Line:
    """The coefficients of least squares, with their standard errors."""

    values: Floats
    errors: Floats

    def surely(self, number: int) -> float:
        """Return a coefficient less two standard errors."""
        return float(self.values[number] - _SURE * self.errors[number])


def _least_squares(columns: Floats, values: Floats) -> _Line | None:
    """Return the plane through values over columns; None where the columns do not part them."""
    count, unknown = columns.shape
    scale = np.abs(columns).max(axis=0)
    if count <= unknown or not (scale > 0).all():
        return None
    scaled = columns / scale
    if np.linalg.matrix_rank(scaled) < unknown:
        return None
    inverse = np.linalg.inv(scaled.T @ scaled)
    found = inverse @ scaled.T @ values
    residues = values - scaled @ found
    variance = float(residues @ residues) / (count - unknown)
    return _Line(found / scale, np.sqrt(variance * np.diag(inverse)) / scale)
