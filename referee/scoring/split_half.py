# SPDX-License-Identifier: Apache-2.0
"""The mAP of random halves and quarters of a contest's images, computed from one matching.

Two halves of the images share no image, so their mAPs are two independent measurements with half
as many images. Their difference shows how much mAP depends on the choice of images. Matching
happens within an image, so it is not repeated: only the counts along each class's ranking change.
Images of one cluster stay together, see `referee.scoring.clusters`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from referee.core.sealed import seal
from referee.errors import ArgumentError
from referee.scoring.basis import Basis, basis_of
from referee.scoring.clusters import (
    BALANCED,
    Clusters,
    Imbalance,
    correlation,
    imbalance,
    number_clusters,
)
from referee.scoring.rare_images import RareImages, rare_images
from referee.scoring.result import IlsvrcResult

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_PARTS = 4
_MOST_OF_16_BITS = 2**16 - 1

# Draws computed together have about this many detections, so that their arrays stay in a cache.
_BLOCK_DETECTIONS = 2_000_000
_MOST_IN_BLOCK = 64


@dataclass(frozen=True, eq=False)
class SplitHalves:
    """The mAPs of r draws: `halves` (r, 2), `quarters` (r, 4), and each image's part of the mAP.

    A draw puts the images into four quarters at random. Halves are pairs of quarters. A set of
    images without a truth box has no mAP: NaN. `parts` (images,) says by how much the image lifts
    mAP above what an image with its truth boxes gives on average; its sum is 0. The same seed and
    number of images give the same draws, so two solutions can be compared draw by draw.

    Where images form clusters, a draw puts whole clusters into quarters, and `parts` (clusters,) is
    of clusters. `cluster` (images,) has the cluster of each image, or is None. `basis` is that of
    the result, or None where it is not known. `rare` says how few images decide the mAP; it is None
    for a difference, and where nobody has counted them.
    """

    halves: Floats
    quarters: Floats
    parts: Floats
    seed: int
    cluster: Ints | None = None
    imbalance: Imbalance = BALANCED
    basis: Basis | None = None
    rare: RareImages | None = None

    def times(self, factor: float) -> SplitHalves:
        """Return the same with each mAP multiplied, for example by 1 / energy."""
        return replace(
            self,
            halves=factor * self.halves,
            quarters=factor * self.quarters,
            parts=factor * self.parts,
        )

    def minus(self, other: SplitHalves) -> SplitHalves:
        """Return the differences to another solution on the same images, draw by draw.

        Raises ArgumentError unless both have the same images, ground truth, rules, clusters, seed
        and number of draws.
        """
        if not _same(self.cluster, other.cluster):
            raise ArgumentError("compare two solutions with the same clusters of images")
        if (self.seed, self.halves.shape, self.parts.shape) != (
            other.seed,
            other.halves.shape,
            other.parts.shape,
        ):
            raise ArgumentError(
                "compare two solutions with the same images, seed and number of draws"
            )
        if self.basis is not None and other.basis is not None:
            differs = self.basis.difference(other.basis)
            if differs is not None:
                raise ArgumentError(
                    "compare two solutions with the same images, ground truth and rules: the two"
                    f" do not have the same {differs}"
                )
        return replace(
            self,
            halves=self.halves - other.halves,
            quarters=self.quarters - other.quarters,
            parts=self.parts - other.parts,
            imbalance=self.imbalance.worse(other.imbalance),
            rare=None,
        )


def draw_halves(
    result: IlsvrcResult,
    draws: int,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    clusters: Clusters | None = None,
) -> SplitHalves:
    """Return the mAPs of the halves and quarters of `draws` random divisions of the images.

    A class without a truth box in a part is left out of that part's mean, or counts 0 if the rules
    say so. `progress` gets the number of draws done and the number of all draws.
    """
    return Drawing(result, clusters).halves(draws, seed, progress)


class Drawing:
    """The draws of one result's images, by any seed: what they share is computed once."""

    def __init__(self, result: IlsvrcResult, clusters: Clusters | None = None) -> None:
        self._table = _Table(result)
        self._cluster = None
        self._units = result.images
        self._result = result
        if clusters is not None:
            self._cluster = number_clusters(clusters, result.image_ids)
            self._units = int(self._cluster.max(initial=-1)) + 1

    def halves(
        self,
        draws: int,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        *,
        first: int = 0,
    ) -> SplitHalves:
        """Return what `draw_halves` does, without the `first` draws of the seed.

        So the draws of a seed can be made in several blocks, and are the same bit for bit.
        """
        chance = np.random.default_rng(seed)
        table = self._table
        quarter = np.arange(self._units, dtype=np.int8) % _PARTS
        for _ in range(first):
            chance.permutation(quarter)
        halves, quarters = np.empty((draws, 2)), np.empty((draws, _PARTS))
        divisions = []
        block = int(np.clip(_BLOCK_DETECTIONS // max(table.detections, 1), 1, _MOST_IN_BLOCK))
        for start in range(0, draws, block):
            end = min(start + block, draws)
            division = np.stack([chance.permutation(quarter) for _ in range(start, end)])
            if self._cluster is not None:
                divisions.append(division)
                division = division[:, self._cluster]
            halves[start:end], quarters[start:end] = table.mean_aps(division)
            if progress:
                progress(end, draws)
        rare = rare_images(self._summed(table.shares), self.influence)
        if self._cluster is None:
            return _sealed(
                SplitHalves(halves, quarters, table.parts, seed, basis=self._basis, rare=rare)
            )
        parts = self._summed(table.parts)
        sizes = np.bincount(self._cluster[table.with_truth], minlength=self._units)
        alike = correlation(sizes, parts, table.parts)
        uneven = imbalance(sizes, alike, divisions, _PARTS)
        return _sealed(
            SplitHalves(halves, quarters, parts, seed, self._cluster, uneven, self._basis, rare)
        )

    @cached_property
    def _basis(self) -> Basis:
        return basis_of(self._result.truth, self._result.rules)

    @property
    def influence(self) -> Floats:
        """Return how much mAP rises with the weight of each image, or cluster; the sum is 0."""
        return self._summed(self._table.influence)

    def _summed(self, values: Floats) -> Floats:
        """Return the sums of images' values by cluster; without clusters the values."""
        if self._cluster is None:
            return values
        return np.asarray(np.bincount(self._cluster, values, self._units), np.float64)


@dataclass(frozen=True, eq=False)
class _Counts:
    """What sets of images hold: `truths` (b, classes), `found` and `seen` (b, true positives)."""

    truths: Ints
    found: Ints
    seen: Ints

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(self.truths + other.truths, self.found + other.found, self.seen + other.seen)


class _Table:
    """The image of every detection, true positive and truth box, class after class."""

    def __init__(self, result: IlsvrcResult) -> None:
        classes = list(result.images_by_class())
        # Detections after the last true positive of a class do not change its AP.
        with_hits = [part for part in classes if len(part.hit)]
        seen = [part.detection[: part.hit[-1] + 1] for part in with_hits]
        hits = [len(part.hit) for part in classes]
        offsets = np.cumsum([0, *map(len, seen)])
        self._images = result.images
        self._detection = _join(seen)
        self._hit = _join([part.detection[part.hit] for part in with_hits])
        # Each run of detections ends with a true positive.
        starts = [np.concatenate([[0], part.hit[:-1] + 1]) for part in with_hits]
        self._run_start = _join([at + run for at, run in zip(offsets, starts, strict=False)])
        self._truth = _join([part.truth for part in classes])
        self._truth_class = np.repeat(np.arange(len(classes)), [len(p.truth) for p in classes])
        self._hit_class = np.repeat(np.arange(len(classes)), hits)
        self._with_hit = np.flatnonzero(hits)
        self._first_hit = np.searchsorted(self._hit_class, self._with_hit)
        self._truth_start = np.searchsorted(self._truth_class, np.arange(len(classes)))
        self._denominator = len(result.ap) if result.rules.missing_as_zero else None

    @property
    def detections(self) -> int:
        """Return the number of detections that matter."""
        return len(self._detection)

    @property
    def with_truth(self) -> Ints:
        """Return the images that have a truth box, ascending."""
        return np.unique(self._truth)

    def mean_aps(self, division: NDArray[np.int8]) -> tuple[Floats, Floats]:
        """Return the mAPs of halves (b, 2) and of quarters (b, 4).

        `division` (b, images) has the quarter of each image.
        """
        quarters = [
            _Counts(*counts)
            for counts in zip(
                _count(division, self._truth, self._truth_start),
                _count(division, self._hit, np.arange(len(self._hit))),
                _count(division, self._detection, self._run_start),
                strict=True,
            )
        ]
        halves = [quarters[0] + quarters[1], quarters[2] + quarters[3]]
        return (
            np.stack([self._mean_ap(part) for part in halves], axis=1),
            np.stack([self._mean_ap(part) for part in quarters], axis=1),
        )

    @cached_property
    def _everything(self) -> _Counts:
        """Return the counts of all images, in one row."""
        division = np.zeros((1, self._images), dtype=np.int8)
        return _Counts(
            _count(division, self._truth, self._truth_start)[0],
            _count(division, self._hit, np.arange(len(self._hit)))[0],
            _count(division, self._detection, self._run_start)[0],
        )

    @cached_property
    def shares(self) -> Floats:
        """Return the share of the mAP that each image's truth boxes carry, (images,)."""
        truths = self._everything.truths[0]
        shares = 1 / truths[self._truth_class] / (self._denominator or len(truths))
        return np.asarray(np.bincount(self._truth, shares, self._images), np.float64)

    @cached_property
    def influence(self) -> Floats:
        """Return how much mAP rises with the weight of each image, (images,); the sum is 0.

        Beside an image's part these are its detections that others stand on: each true positive
        has the precision found / seen of a point of the envelope, and a detection before that
        point changes it, by (seen - found) / seen² as a hit and by -found / seen² else.
        """
        if not len(self._hit):
            return self.parts
        ones, truths = self._everything, self._everything.truths[0]
        found, seen = self._so_far(ones.found)[0], self._so_far(ones.seen)[0]
        point = self._points(found / seen)
        each = 1 / truths[self._hit_class] / (self._denominator or len(truths)) / seen[point] ** 2
        as_hit, as_other = each * (seen - found)[point], -each * found[point]
        effect = np.repeat(self._behind(as_other, point), ones.seen[0])
        effect[np.cumsum(ones.seen[0]) - 1] = self._behind(as_hit, point)
        influence: Floats = self.parts + np.bincount(self._detection, effect, self._images)
        return influence

    def _points(self, precision: Floats) -> Ints:
        """Return the true positive at whose precision the envelope of each one stands."""
        lifted = (precision - 2.0 * self._hit_class)[::-1]
        risen = np.maximum.accumulate(lifted) == lifted
        places = np.maximum.accumulate(np.where(risen, np.arange(len(lifted)), 0))
        points: Ints = (len(lifted) - 1 - places)[::-1]
        return points

    def _behind(self, values: Floats, point: Ints) -> Floats:
        """Return the sum of the values whose point is a true positive, or one behind it."""
        at_point = np.bincount(point, values, len(point))
        sums = np.append(np.cumsum(at_point[::-1])[::-1], 0.0)
        ends = np.append(self._first_hit[1:], len(point))
        behind: Floats = sums[:-1] - np.repeat(sums[ends], ends - self._first_hit)
        return behind

    @cached_property
    def parts(self) -> Floats:
        """Return each image's part of the mAP, (images,)."""
        ones = self._everything
        truths = ones.truths[0]
        ap = self._areas(ones)[0] / truths
        envelope = self._envelope(ones)[0] / truths[self._hit_class]
        missing = (ap / truths)[self._truth_class]
        gained = np.bincount(self._hit, envelope, self._images)
        lost = np.bincount(self._truth, missing, self._images)
        parts: Floats = (gained - lost) / (self._denominator or len(truths))
        return parts

    def _mean_ap(self, counts: _Counts) -> Floats:
        present = counts.truths > 0
        areas = self._areas(counts)
        ap = np.divide(areas, counts.truths, out=np.zeros_like(areas), where=present)
        count = present.sum(axis=1)
        divisor = count if self._denominator is None else np.full(len(count), self._denominator)
        mean: Floats = np.divide(
            ap.sum(axis=1), divisor, out=np.full(len(count), np.nan), where=count > 0
        )
        return mean

    def _areas(self, counts: _Counts) -> Floats:
        """Return truth boxes times AP, (b, classes)."""
        areas = np.zeros(counts.truths.shape)
        if len(self._hit):
            rises = counts.found * self._envelope(counts)
            areas[:, self._with_hit] = np.add.reduceat(rises, self._first_hit, axis=1)
        return areas

    def _envelope(self, counts: _Counts) -> Floats:
        """Return the best precision from each true positive on, (b, true positives)."""
        hits = self._so_far(counts.found)
        precision = np.divide(hits, np.maximum(self._so_far(counts.seen), 1))
        # One pass serves all classes: each class lies a step of 2 above the class after it, so
        # the maximum from the right never crosses into it. This rounds the 13th digit.
        step = 2.0 * (len(self._truth_start) - self._hit_class)
        lifted = (precision + step)[:, ::-1]
        envelope: Floats = np.maximum.accumulate(lifted, axis=1)[:, ::-1] - step
        return envelope

    def _so_far(self, added: Ints) -> Ints:
        """Return the running sums within each class."""
        total = np.cumsum(added, axis=1)
        before = (total - added)[:, self._first_hit]
        lengths = np.diff(np.append(self._first_hit, added.shape[1]))
        within: Ints = total - np.repeat(before, lengths, axis=1)
        return within


def _count(division: NDArray[np.int8], image: Ints, start: Ints) -> list[Ints]:
    """Count, for each quarter, the entries of `image` in the runs that begin at `start`: (b, runs).

    Several counters lie side by side in each integer of 64 bits, one for a quarter: four of 16 bits
    where no run is longer than these can count, else two of 32 bits. So one sum adds them all.
    """
    if not len(image):
        return [np.zeros((len(division), 0), dtype=np.int64)] * _PARTS
    longest = int(np.diff(np.append(start, len(image))).max())
    counter = np.uint16 if longest <= _MOST_OF_16_BITS else np.uint32
    at_once = 8 // counter().itemsize
    counts: list[Ints] = []
    for first in range(0, _PARTS, at_once):
        # An integer for each quarter: 1 in the quarter's own counter, if it is among these.
        one_hot = np.eye(_PARTS, at_once, -first, dtype=counter).view(np.int64).ravel()
        sums = np.add.reduceat(np.take(one_hot[division], image, axis=1), start, axis=1)
        counters = sums.view(counter).reshape(*sums.shape, at_once)
        counts += [counters[..., place].astype(np.int64) for place in range(at_once)]
    return counts


def _sealed(halves: SplitHalves) -> SplitHalves:
    seal(halves)
    return halves


def _same(first: Ints | None, second: Ints | None) -> bool:
    """Tell whether two solutions have the same clusters, or neither has any."""
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def _join(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
