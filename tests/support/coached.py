# SPDX-License-Identifier: Apache-2.0
"""Constructed sessions for the coach, whose answers are known by hand, and simulated clients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from power.energy.moments import Until
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.extras.coach.rules.played import Answered, Played, Served


class Watts:
    """A course of energy from watts by the second from which on they are taken."""

    def __init__(self, *steps: tuple[float, float], ended_s: float) -> None:
        self._at_s = np.array([*(at_s for at_s, _ in steps), ended_s])
        joules = np.diff(self._at_s) * np.array([watts for _, watts in steps])
        self._wh = np.concatenate([[0.0], np.cumsum(joules)]) / 3600

    def until(self, moment_s: float) -> Until:
        """Return the energy, which is exactly known."""
        return Until(float(np.interp(moment_s, self._at_s, self._wh)), 0.0, 0.0, 0.0, 0.0)


def truth_of(images: int, classes: int = 1) -> GroundTruth:
    """Return a box of 40 x 40 pixels on each image, of class 1, 2, … in turn."""
    ids = np.arange(1, images + 1)
    box = np.tile([10.0, 10.0, 49.0, 49.0], (images, 1))
    return GroundTruth.from_arrays(
        ids, (ids - 1) % classes + 1, box, images=ids, classes=np.arange(1, classes + 1)
    )


def answered(truth: GroundTruth, image: int, at_s: float, *, right: bool = True, sure: float = 0.9):
    """Return an answer for an image: its box, or one elsewhere."""
    row = image - 1
    box = truth.box[[row]] + (0 if right else 200)
    found = Detections(
        np.array([image]), truth.box_class_id[[row]], np.array([sure]), box.astype(float)
    )
    return Answered(at_s, found, np.array([image]))


def played_of(truth, answers, requests, watts: Watts, ended_s: float, **more) -> Played:
    """Return a session of these parts."""
    return Played(
        truth=truth,
        answers=answers,
        requests=requests,
        course=watts,
        ended_s=ended_s,
        energy_wh=watts.until(ended_s).energy_wh,
        uncertainty_wh=None,
        update_s=more.get("update_s", 1.0),
        sizes=more.get("sizes", {}),
        numbers=more.get("numbers", {}),
        has_archives=more.get("has_archives", True),
    )


@dataclass(frozen=True)
class Client:
    """A simulated client: when it answers each image, how well, and what it takes."""

    times_s: np.ndarray
    quality: np.ndarray
    watts: Watts
    ended_s: float

    def play(self, chance: np.random.Generator, classes: int = 5) -> Played:
        """Return a session of the client with images of the same kind, drawn anew."""
        images = len(self.times_s)
        counts = chance.integers(1, 4, images)
        image = np.repeat(np.arange(1, images + 1), counts)
        corner = chance.uniform(0, 400, (len(image), 2))
        box = np.concatenate([corner, corner + chance.uniform(30, 200, (len(image), 2))], 1)
        klass = chance.integers(1, classes + 1, len(image))
        truth = GroundTruth.from_arrays(
            image, klass, box, images=np.arange(1, images + 1), classes=np.arange(1, classes + 1)
        )
        right = chance.random(len(image)) < self.quality[image - 1]
        sure = np.where(right, chance.beta(5, 2, len(image)), chance.beta(2, 3, len(image)))
        boxes = np.where(right[:, None], box, box + 1000.0)
        answers = [
            Answered(
                at_s,
                Detections(image[rows], klass[rows], sure[rows], boxes[rows]),
                np.array([number]),
            )
            for number, at_s in enumerate(self.times_s.tolist(), 1)
            for rows in [np.flatnonzero(image == number)]
        ]
        first = Served(0.0, 0.01, (1,))
        return played_of(truth, answers, [first], self.watts, self.ended_s)


def end_is_best(images: int = 200) -> dict[str, Client]:
    """Return clients of 600 s without a better moment than the end: the last one only ties."""
    flat = np.full(images, 0.6)

    def client(begin_s: float, quality: np.ndarray) -> Client:
        times_s = np.linspace(begin_s, 599.5, images)
        return Client(times_s, quality, Watts((0, 5), ended_s=600.0), 600.0)

    return {
        "a late start": client(60.0, flat),
        "rising": client(3.0, np.linspace(0.3, 0.8, images)),
        "a tie": client(3.0, flat),
    }


def long_client(images: int) -> Client:
    """Return a client that works for an hour."""
    times_s, quality = np.linspace(5, 3599, images), np.full(images, 0.6)
    return Client(times_s, quality, Watts((0, 3), (5, 6), ended_s=3600.0), 3600.0)


def clients(images: int = 200) -> dict[str, Client]:
    """Return eight kinds of clients, each of 600 s."""
    end_s = 600.0
    at = np.arange(images) / images
    whole, flat = np.linspace(3, 599, images), np.full(images, 0.5)

    def client(times_s, quality, *steps):
        return Client(times_s, quality, Watts(*steps, ended_s=end_s), end_s)

    return {
        "idles from 300 s": client(np.linspace(20, 300, images), flat + 0.1, (0, 5), (300, 3)),
        "steady": client(np.linspace(20, 599, images), flat + 0.1, (0, 4), (10, 5)),
        "falling": client(whole, 0.9 - 0.8 * at, (0, 5)),
        "falling fast": client(whole, 0.9 * np.exp(-3 * at) + 0.03, (0, 5)),
        "rising": client(whole, 0.2 + 0.6 * at, (0, 5)),
        "a power step up": client(whole, flat, (0, 4), (300, 8)),
        "a power step down": client(whole, flat, (0, 8), (200, 3)),
        "a slow start": client(
            np.linspace(60, 400, images), 0.8 - 0.5 * at, (0, 6), (60, 5), (400, 2)
        ),
    }
