# SPDX-License-Identifier: Apache-2.0
"""Where a session's energy went: before the first image, waiting, working, and after the end.

A client waits while a request of its own is being answered and it holds no image to work on. It
holds an image from the end of the answer that brought it until the answer that names it has come.
So a client that asks for the next image while it works does not wait, although a request is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from referee.errors import InputError
from referee.extras.coach.rules.played import Answered, Played, Served, Span

DEAREST = 10
"""So many of the dearest images are listed."""

TENTHS = 10
"""The course has so many equal parts of the session."""

# The base is measured over so many updates at least.
_BASE_UPDATES_LEAST = 3.0


class Phase(Enum):
    """What the device did in a part of the session."""

    BEFORE = "before_first_image"
    WAITING = "waiting"
    WORKING = "working"
    AFTER = "after_last_answer"


class BaseSource(Enum):
    """How the base power is known."""

    GIVEN = "given"
    BEFORE_FIRST_IMAGE = "before_first_image"


@dataclass(frozen=True)
class Part:
    """A part of the session with its length and its energy."""

    phase: Phase
    seconds: float
    energy_wh: float


@dataclass(frozen=True)
class Base:
    """The power that the idle device takes, and its energy over the whole session."""

    power_w: float
    energy_wh: float
    source: BaseSource


@dataclass(frozen=True)
class Tenth:
    """A tenth of the session; `images` were answered in it for the first time."""

    from_s: float
    to_s: float
    energy_wh: float
    images: int


@dataclass(frozen=True)
class DearImage:
    """An image with the energy from the answer before it to its own, shared among its answer's.

    `number` is the one by which the client fetched it. `size` is width and height in pixels, None
    where it is not known. `boxes` are those reported.
    """

    image_id: int
    number: int
    energy_wh: float
    seconds: float
    size: tuple[int, int] | None
    boxes: int


@dataclass(frozen=True)
class WhereItWent:
    """The parts of a session's energy, which add up to it, and what an image and a box took.

    `overlap` is the share of the time of open requests in which the client had an image to work on;
    None without a request. `is_resolved` tells whether the meter was read often enough to tell one
    image from the next: else the energy of an image is that of its time. `dearest` begins with the
    dearest.
    """

    parts: tuple[Part, ...]
    base: Base | None
    images: int
    boxes: int
    tenths: tuple[Tenth, ...]
    dearest: tuple[DearImage, ...]
    is_resolved: bool
    overlap: float | None

    @property
    def energy_wh(self) -> float:
        """Return the energy of the session."""
        return sum(part.energy_wh for part in self.parts)

    @property
    def joules_per_image(self) -> float | None:
        """Return joules per image answered; None without one."""
        return 3600 * self.energy_wh / self.images if self.images else None

    @property
    def images_per_joule(self) -> float | None:
        """Return images answered per joule; None without energy."""
        return self.images / (3600 * self.energy_wh) if self.energy_wh > 0 else None

    @property
    def joules_per_box(self) -> float | None:
        """Return joules per reported box; None without one."""
        return 3600 * self.energy_wh / self.boxes if self.boxes else None

    def part(self, phase: Phase) -> Part:
        """Return the part of a phase."""
        return next(one for one in self.parts if one.phase is phase)


def where_it_went(played: Played, idle_w: float | None = None) -> WhereItWent:
    """Return the parts of a session's energy.

    `idle_w` is the power of the idle device in watts. Without it the base is the mean power before
    the first image, if that lasted for three updates of the meter and is less than the session's
    mean: a device that loads its model then is not idle. Raises `InputError` if `idle_w` is as much
    as the session's mean.
    """
    begin_s, end_s = played.first_image_s, max(played.first_image_s, played.last_answer_s)
    requested = joined(clipped([one.span for one in played.requests], (begin_s, end_s)))
    idle = without(requested, held_spans(played))
    waiting = Part(Phase.WAITING, length_s(idle), sum(map(played.energy_between, idle)))
    inside = (begin_s, end_s)
    working_wh = played.energy_between(inside) - waiting.energy_wh
    images, works = played.images_answered, _works(played)
    open_s = length_s(requested)
    return WhereItWent(
        parts=(
            _part(played, Phase.BEFORE, (0.0, begin_s)),
            waiting,
            Part(Phase.WORKING, end_s - begin_s - waiting.seconds, working_wh),
            _part(played, Phase.AFTER, (end_s, played.ended_s)),
        ),
        base=_base(played, idle_w),
        images=images,
        boxes=sum(len(one.detections) for one in played.answers),
        tenths=_tenths(played),
        dearest=tuple(sorted(works, key=lambda one: -one.energy_wh)[:DEAREST]),
        is_resolved=_is_resolved(works, played.update_s),
        overlap=None if open_s <= 0 else 1 - waiting.seconds / open_s,
    )


def _part(played: Played, phase: Phase, span: Span) -> Part:
    return Part(phase, span[1] - span[0], played.energy_between(span))


def _base(played: Played, idle_w: float | None) -> Base | None:
    source = BaseSource.GIVEN
    if idle_w is None:
        before_s = played.first_image_s
        if before_s < _BASE_UPDATES_LEAST * played.update_s or before_s >= played.ended_s:
            return None
        idle_w = 3600 * played.energy_between((0.0, before_s)) / before_s
        source = BaseSource.BEFORE_FIRST_IMAGE
    base = Base(idle_w, idle_w * played.ended_s / 3600, source)
    whole_wh = played.energy_between((0.0, played.ended_s))
    if base.energy_wh < whole_wh:
        return base
    if source is BaseSource.BEFORE_FIRST_IMAGE:
        return None
    raise InputError(
        f"An idle device cannot take {idle_w:g} W: the whole session took {3600 * whole_wh:.3g} J "
        f"in {played.ended_s:.1f} s."
    )


def held_spans(played: Played) -> list[Span]:
    """Return when the client had an image to work on, as spans apart from each other."""
    answered_s: dict[int, float] = {}
    for answer in played.answers:
        for image in answer.images.tolist():
            answered_s.setdefault(image, answer.at_s)
    held = []
    for request in played.requests:
        got_s = request.at_s + request.took_s
        until = [answered_s.get(image, played.ended_s) for image in request.images]
        held += [(got_s, max(until))] if until and max(until) > got_s else []
    return joined(held)


def _works(played: Played) -> list[DearImage]:
    """Return each answered image with the time and the energy of its answer's share."""
    before_s, works = played.first_image_s, []
    for answer in played.answers:
        span = (min(before_s, answer.at_s), answer.at_s)
        count = len(answer.images)
        if count:
            energy_wh, seconds = played.energy_between(span) / count, (span[1] - span[0]) / count
            boxes = _boxes(answer)
            works += [
                DearImage(
                    image_id=image,
                    number=played.numbers.get(image, image),
                    energy_wh=energy_wh,
                    seconds=seconds,
                    size=played.sizes.get(image),
                    boxes=boxes.get(image, 0),
                )
                for image in answer.images.tolist()
            ]
            before_s = answer.at_s
    return works


def _boxes(answer: Answered) -> dict[int, int]:
    """Return the number of rows of each image that has one."""
    images, counts = np.unique(answer.detections.image_id, return_counts=True)
    return dict(zip(images.tolist(), counts.tolist(), strict=True))


def _is_resolved(works: Sequence[DearImage], update_s: float) -> bool:
    seconds = sorted(one.seconds for one in works)
    return bool(seconds) and seconds[len(seconds) // 2] >= update_s


def _tenths(played: Played) -> tuple[Tenth, ...]:
    edges = [played.ended_s * number / TENTHS for number in range(TENTHS + 1)]
    known: set[int] = set()
    first = [0] * TENTHS
    for answer in played.answers:
        number = min(TENTHS - 1, int(TENTHS * answer.at_s / played.ended_s))
        first[number] += len(set(answer.images.tolist()) - known)
        known.update(answer.images.tolist())
    return tuple(
        Tenth(begin, end, played.energy_between((begin, end)), count)
        for begin, end, count in zip(edges, edges[1:], first, strict=False)
    )


def clipped(spans: Iterable[Span], to: Span) -> list[Span]:
    """Return the parts of the spans within another one."""
    inside = [(max(begin, to[0]), min(end, to[1])) for begin, end in spans]
    return [span for span in inside if span[1] > span[0]]


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, those that touch as one."""
    apart: list[Span] = []
    for begin, end in sorted(spans):
        if apart and begin <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(apart[-1][1], end))
        else:
            apart.append((begin, end))
    return apart


def without(spans: Sequence[Span], holes: Sequence[Span]) -> list[Span]:
    """Return what is left of spans outside of others; both are in order and apart."""
    left: list[Span] = []
    at = 0
    for begin, end in spans:
        while at < len(holes) and holes[at][1] <= begin:
            at += 1
        number = at
        while number < len(holes) and holes[number][0] < end:
            if holes[number][0] > begin:
                left.append((begin, holes[number][0]))
            begin = max(begin, holes[number][1])
            number += 1
        if begin < end:
            left.append((begin, end))
    return left


def length_s(spans: Iterable[Span]) -> float:
    """Return the sum of the spans' lengths."""
    return sum(end - begin for begin, end in spans)


def image_requests(played: Played) -> list[Served]:
    """Return the requests that fetched images."""
    return [one for one in played.requests if one.images]
