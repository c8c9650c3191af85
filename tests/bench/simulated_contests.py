# SPDX-License-Identifier: Apache-2.0
"""Simulated contests for the benches: worlds with images to draw from, and detectors in them.

Nothing here comes from the scorer. A world has classes of falling frequency, and draws images from
them. A detector has a quality, and classes that it sees well or badly. The same world and detector
give as many independent contests as one wants, so the mean mAP of a contest of n images is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth

WIDTH, HEIGHT = 500, 375


@dataclass(frozen=True)
class Scenes:
    """The images of one contest: their truth, and how hard each image is to see (images,)."""

    truth: GroundTruth
    hard: np.ndarray


class World:
    """Classes with frequencies from 1 down to 1 / classes^falling, some harder to see."""

    def __init__(self, classes, falling=0.8):
        chance = np.random.default_rng([1, classes])
        frequency = 1 / np.arange(1, classes + 1) ** falling
        self._cumulated = np.cumsum(frequency / frequency.sum())
        self.hard = chance.normal(0, 0.8, classes)

    def classes_of(self, chance, count):
        """Draw classes by their frequency, counted from 0."""
        drawn = np.searchsorted(self._cumulated, chance.random(count), side="right")
        return np.minimum(drawn, len(self.hard) - 1)

    def scenes(self, chance, images, cluster=None):
        """Draw images with 0 to 15 objects; half of an image's objects have one class.

        Images of one of the clusters, (images,) from 0, share this class and how hard they are.
        """
        count = chance.geometric(0.4, images) - (chance.random(images) < 0.1)
        image = np.repeat(np.arange(images), np.minimum(count, 15))
        main, other = self.classes_of(chance, images), self.classes_of(chance, len(image))
        if cluster is not None:
            main = main[cluster]
        klass = np.where(chance.random(len(image)) < 0.5, main[image], other)
        truth = GroundTruth(
            image_ids=np.arange(1, images + 1),
            class_ids=np.arange(1, len(self.hard) + 1),
            box_image_id=image + 1,
            box_class_id=klass + 1,
            box=np.round(_boxes(chance, len(image))),
            blacklist=np.empty((0, 2), dtype=np.int64),
            class_names={},
        )
        hard = chance.normal(0, 0.7, images)
        return Scenes(truth, hard if cluster is None else hard[cluster])


class Detector:
    """A detector: `quality` is the log-odds of finding an object of middling difficulty.

    `levels` rounds confidences to as many steps, so that many are equal. `seed` decides which
    classes it sees well.
    """

    def __init__(self, world, quality, levels=None, seed=0):
        chance = np.random.default_rng([seed, 7, len(world.hard)])
        self._world, self._quality, self._levels = world, quality, levels
        self._hard = world.hard + chance.normal(0, 0.5, len(world.hard))

    def answer(self, chance, scenes):
        """Return what the detector finds: shifted boxes, wrong classes, doubles and background."""
        image, klass, logit, box = (
            np.concatenate(columns)
            for columns in zip(
                self._objects(chance, scenes),
                self._background(chance, len(scenes.hard)),
                strict=True,
            )
        )
        confidence = 1 / (1 + np.exp(-logit))
        if self._levels:
            confidence = np.round(confidence * self._levels) / self._levels
        order = np.argsort(image, kind="stable")
        found = Detections(image + 1, klass + 1, confidence, np.round(box, 1))
        return found.select(order)

    def _objects(self, chance, scenes):
        truth = scenes.truth
        image, klass = truth.box_image_id - 1, truth.box_class_id - 1
        ease = self._quality - self._hard[klass] - scenes.hard[image]
        ease += chance.normal(0, 0.7, len(image))
        seen = np.flatnonzero(chance.random(len(image)) < _odds(ease + 1))
        seen = np.repeat(seen, 1 + (chance.random(len(seen)) < 0.25))
        spread = 0.06 + 0.10 * _odds(-ease[seen])
        extent = np.tile(truth.box[seen, 2:] - truth.box[seen, :2] + 1, 2)
        box = truth.box[seen] + chance.normal(0, 1, (len(seen), 4)) * spread[:, None] * extent
        right = chance.random(len(seen)) < _odds(ease[seen] + 1.5)
        named = np.where(right, klass[seen], self._world.classes_of(chance, len(seen)))
        logit = ease[seen] + chance.normal(0, 0.8, len(seen)) - 0.8 * ~right
        return image[seen], named, logit, box

    def _background(self, chance, images):
        """Return false detections, the fewer the better the detector is."""
        image = np.repeat(
            np.arange(images), chance.poisson(3 * np.exp(-0.3 * self._quality), images)
        )
        klass = self._world.classes_of(chance, len(image))
        return image, klass, chance.normal(-1.6, 1, len(image)), _boxes(chance, len(image))


def _odds(logit):
    return 1 / (1 + np.exp(-logit))


def _boxes(chance, count):
    """Return boxes of log-normal extent inside the picture."""
    limit = np.array([WIDTH - 20, HEIGHT - 15])
    extent = np.clip(np.exp(chance.normal(4.3, 0.7, (count, 2))), 8, limit)
    corner = chance.random((count, 2)) * (np.array([WIDTH, HEIGHT]) - extent)
    return np.concatenate([corner, corner + extent], axis=1)
