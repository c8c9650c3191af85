# SPDX-License-Identifier: Apache-2.0
"""Images that belong together, such as the frames of one film, and what unequal clusters do.

Images of one cluster tell less than as many independent images. Clusters are independent of each
other, so a half of the images must hold each cluster whole or not at all.

A half of unequal clusters differs from the whole by more than its size: a cluster that outweighs
the others lies in one half only. So halves vary too little, and the clusters count as fewer than
they are. `Imbalance` says by how much, if any two images of a cluster correlate as much as any
other two. The correction and its degrees of freedom follow G. W. Imbens, M. Kolesar, "Robust
standard errors in small samples: some practical advice", Review of Economics and Statistics 98
(2016), with the draws in place of the residuals.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.core.arguments import told
from referee.core.counts import counted
from referee.errors import ArgumentError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Clusters = Mapping[int, Hashable] | Sequence[Hashable] | NDArray[Any]
"""The cluster of each image: by image id, or in ascending order of the image ids."""


@dataclass(frozen=True)
class Imbalance:
    """What unequal clusters take from the variance between parts, and from its certainty.

    The variance that halves and quarters show is to be multiplied by `halves` and `quarters`, which
    are 1 or more. It has at most `degrees` degrees of freedom.
    """

    halves: float = 1.0
    quarters: float = 1.0
    degrees: float = math.inf

    def worse(self, other: Imbalance) -> Imbalance:
        """Return what is worse of two, for the difference of two solutions."""
        return Imbalance(
            max(self.halves, other.halves),
            max(self.quarters, other.quarters),
            min(self.degrees, other.degrees),
        )


BALANCED = Imbalance()
"""Independent images, and clusters of equal size."""


def number_clusters(clusters: Clusters, image_ids: Ints) -> Ints:
    """Return the cluster of each image, (images,), counted from 0 in the order of the images.

    A mapping may name more images, and a Series of pandas is one from its index. Raises
    ArgumentError for an image without a cluster.
    """
    labels = _labels(clusters, image_ids)
    numbers: dict[Hashable, int] = {}
    cluster = np.empty(len(image_ids), dtype=np.int64)
    for place, label in enumerate(labels):
        if _is_gap(label):
            raise ArgumentError(f"image {image_ids[place]} has no cluster: name one for each image")
        try:
            cluster[place] = numbers.setdefault(label, len(numbers))
        except TypeError:
            raise ArgumentError(
                f"the cluster of image {image_ids[place]} is {label!r}: give a number or a name"
            ) from None
    return cluster


def correlation(sizes: Ints, sums: Floats, parts: Floats) -> float:
    """Return how much two images of one cluster correlate, 0..1; 1 if this cannot be told.

    `sizes` and `sums` (clusters,) have the images with a truth box, and the sum of their `parts`.
    """
    squares = float(np.sum(parts**2))
    pairs = float(np.sum(sizes * (sizes - 1.0)))
    if squares == 0 or pairs == 0:
        return 1.0
    alike = (float(np.sum(sums**2)) / squares - 1) * float(np.sum(sizes)) / pairs
    return min(max(alike, 0.0), 1.0)


def imbalance(
    sizes: Ints, alike: float, divisions: Iterable[NDArray[np.int8]], parts: int
) -> Imbalance:
    """Return what clusters of these sizes, (clusters,), do to draws into `parts` quarters.

    A size is a number of images with a truth box. Two images of a cluster have the correlation
    `alike`. Each of `divisions` (b, clusters) has the quarter of each cluster.
    """
    present = sizes[sizes > 0]
    if len(present) == 0 or present.min() == present.max():
        return BALANCED
    # The variance of each cluster's sum, and of the mean of all images, in units of one image's.
    variance = sizes * (1 + (sizes - 1) * alike)
    whole = variance.sum() / sizes.sum() ** 2
    of_halves, of_quarters = [], []
    for division in divisions:
        in_part = [(division == part).astype(np.float64) for part in range(parts)]
        count = np.stack([inside @ sizes for inside in in_part], axis=1)
        summed = np.stack([inside @ variance for inside in in_part], axis=1)
        of_quarters.append(_shown(summed, count))
        of_halves.append(_shown(_pairs(summed), _pairs(count)))
    effective = variance.sum() ** 2 / (variance**2).sum()
    return Imbalance(
        _factor(whole, np.concatenate(of_halves)),
        _factor(whole, np.concatenate(of_quarters)),
        max(float(effective) - 1, 1.0),
    )


def _labels(clusters: Clusters, image_ids: Ints) -> list[Hashable]:
    """Return the cluster of each image as the caller names it."""
    if isinstance(clusters, Mapping):
        return [clusters.get(image) for image in image_ids.tolist()]
    if hasattr(clusters, "index") and hasattr(clusters, "to_dict"):
        return _labels_of_series(clusters, image_ids)
    flat = isinstance(clusters, np.ndarray) and clusters.ndim == 0
    if flat or isinstance(clusters, (str, bytes, Set)) or not isinstance(clusters, Iterable):
        raise ArgumentError(f"clusters is {told(clusters)}: give a mapping or a sequence")
    labels = clusters.tolist() if isinstance(clusters, np.ndarray) else list(clusters)
    if len(labels) != len(image_ids):
        raise ArgumentError(
            f"clusters has {counted(len(labels), 'entry', 'entries')} for"
            f" {counted(len(image_ids), 'image')}: name a cluster for"
            " each image, in ascending order of the image ids"
        )
    return labels


def _labels_of_series(series: Any, image_ids: Ints) -> list[Hashable]:
    """Return the cluster of each image from a Series whose index has the image ids, in any order.

    A Series of another index is refused: its order says nothing that could be relied on.
    """
    if getattr(series, "ndim", 1) != 1:
        raise ArgumentError("clusters is a table: give its one column, indexed by the image ids")
    keys = series.index.tolist()
    by_image = dict(zip(keys, series.tolist(), strict=True))
    missing = [image for image in image_ids.tolist() if image not in by_image]
    if missing or len(by_image) != len(keys):
        fault = f"has no image {missing[0]}" if missing else "names an image twice"
        raise ArgumentError(
            f"the index of the clusters {fault}: index the Series by the image ids, or give"
            " .tolist() of one in ascending order of the image ids"
        )
    return [by_image[image] for image in image_ids.tolist()]


def _is_gap(label: object) -> bool:
    """Tell whether a table has a gap there: None, NaN, which differs from itself, or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):  # pandas' NA is neither equal nor unequal; an array is both.
        return type(label).__name__ == "NAType"


def _pairs(values: Floats) -> Floats:
    """Return the sums of halves, (b, 2), from those of quarters, (b, 4)."""
    halves: Floats = values.reshape(len(values), 2, -1).sum(axis=2)
    return halves


def _shown(variances: Floats, counts: Floats) -> Floats:
    """Return the variance of the whole that the parts of each draw show, NaN without images."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shown: Floats = (variances / counts**2).mean(axis=1) / counts.shape[1]
    return shown


def _factor(whole: float, shown: Floats) -> float:
    """Return by how much the whole's variance exceeds what the draws show; 1 if it does not."""
    finite = shown[np.isfinite(shown)]
    return max(1.0, float(whole / finite.mean())) if len(finite) else 1.0
